/* changes_size.c - sizes of items by DynamoDB's rules; the first three are those of the sample event
 * in the service's documentation. */
#include "sandbox/ddb.h"
#include "sandbox_changes.h"

static uint64_t size_of(const char *json) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_box_tree t;
  slp_box_tree_init(&t, mem);
  CHECK_INT(slp_box_tree_read(&t, SLP_WIRE_JSON, slp_str_of(json)), 0);
  uint64_t n = slp_change_size(&t, 0);
  slp_box_tree_free(&t);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return n;
}

TEST(sample_event) {
  uint64_t keys = size_of("{\"Id\":{\"N\":\"101\"}}");
  uint64_t first = size_of("{\"Message\":{\"S\":\"New item!\"},\"Id\":{\"N\":\"101\"}}");
  uint64_t second = size_of("{\"Message\":{\"S\":\"This item has changed\"},\"Id\":{\"N\":\"101\"}}");
  CHECK_INT(keys + first, 26);
  CHECK_INT(keys + first + second, 59);
  CHECK_INT(keys + second, 38);
}

TEST(every_type) {
  CHECK_INT(size_of("{}"), 0);
  CHECK_INT(size_of("{\"a\":{\"S\":\"\"}}"), 1);
  CHECK_INT(size_of("{\"a\":{\"S\":\"\\u00fc\\n\"}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"BOOL\":true}}"), 2);
  CHECK_INT(size_of("{\"a\":{\"NULL\":true}}"), 2);
  CHECK_INT(size_of("{\"a\":{\"B\":\"aGVsbG8=\"}}"), 1 + 5);
  CHECK_INT(size_of("{\"a\":{\"B\":\"\"}}"), 1);
  CHECK_INT(size_of("{\"a\":{\"SS\":[\"x\",\"yz\"]}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"BS\":[\"aGVsbG8=\",\"aA==\"]}}"), 1 + 6);
  CHECK_INT(size_of("{\"a\":{\"NS\":[\"1\",\"-12\"]}}"), 1 + 2 + 3);
  CHECK_INT(size_of("{\"a\":{\"L\":[]}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"M\":{}}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"L\":[{\"S\":\"xy\"},{\"NULL\":true}]}}"), 1 + 3 + (1 + 2) + (1 + 1));
  CHECK_INT(size_of("{\"a\":{\"M\":{\"key\":{\"S\":\"xy\"}}}}"), 1 + 3 + (1 + 3 + 2));
}

TEST(numbers) { /* two significant digits to a byte, and one, and one for the sign */
  CHECK_INT(size_of("{\"a\":{\"N\":\"0\"}}"), 1 + 1);
  CHECK_INT(size_of("{\"a\":{\"N\":\"7\"}}"), 1 + 2);
  CHECK_INT(size_of("{\"a\":{\"N\":\"-7\"}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"N\":\"123\"}}"), 1 + 3);
  CHECK_INT(size_of("{\"a\":{\"N\":\"1000000\"}}"), 1 + 2);
  CHECK_INT(size_of("{\"a\":{\"N\":\"0.0012\"}}"), 1 + 2);
  CHECK_INT(size_of("{\"a\":{\"N\":\"100.001\"}}"), 1 + 4);
}

/* Tables count items with code of their own. */
TEST(as_tables_count) {
  static const char *const parts[] = {
      "\"s\":{\"S\":\"text \\u00fc\"}",
      "\"n\":{\"N\":\"-12345.6700\"}",
      "\"zero\":{\"N\":\"0\"}",
      "\"big\":{\"N\":\"12300000000000000000000\"}",
      "\"small\":{\"N\":\"0.00000123\"}",
      "\"b\":{\"B\":\"aGVsbG8gd29ybGQ=\"}",
      "\"t\":{\"BOOL\":false}",
      "\"null\":{\"NULL\":true}",
      "\"ss\":{\"SS\":[\"a\",\"bc\",\"\"]}",
      "\"ns\":{\"NS\":[\"1\",\"22\",\"-333\"]}",
      "\"bs\":{\"BS\":[\"aA==\",\"aGk=\"]}",
      ("\"l\":{\"L\":[{\"L\":[]},{\"S\":\"x\"},"
       "{\"M\":{\"k\":{\"N\":\"7\"},\"kk\":{\"L\":[{\"NULL\":true}]}}}]}"),
      "\"m\":{\"M\":{\"\u00fc\":{\"B\":\"\"},\"empty\":{\"M\":{}}}}",
  };
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  for (uint32_t set = 1; set < 1u << SLP_COUNT(parts); set++) {
    char json[1200] = "{";
    for (size_t i = 0; i < SLP_COUNT(parts); i++) {
      if (!(set >> i & 1)) continue;
      if (json[1]) strcat(json, ",");
      strcat(json, parts[i]);
    }
    strcat(json, "}");
    slp_box_call c = {.box = t.box, .in = &t.box->tree, .service = SLP_BOX_DYNAMODB};
    CHECK_INT(slp_box_tree_read(c.in, SLP_WIRE_JSON, slp_str_of(json)), 0);
    uint64_t ours = slp_change_size(c.in, 0);
    const slp_av *item = slp_ddb_item_read(&c, 0);
    if (!item) CHECK_FAIL("%s in %s", c.error_message, json);
    if (ours != slp_item_size(item))
      CHECK_FAIL("%u and %u: %s", (unsigned)ours, (unsigned)slp_item_size(item), json);
    slp_ddb_call_over(t.box);
  }
  bench_close(&t);
}
