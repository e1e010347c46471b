/* sandbox_changes_size.c - sizes of items by DynamoDB's rules; the first three are those of the sample event
 * in the service's documentation. */
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

CHECK_MAIN()
