/* store/item.c: items of DynamoDB in JSON. */
#include "store/item.h"

#include "check.h"

static slp_mem *mem;
static slp_store_rows rows;

static int read_item(const char *text, const char **why) {
  static char body[1 << 20];
  slp_json j;
  CHECK((size_t)snprintf(body, sizeof body, "%s", text) < sizeof body);
  slp_json_begin(&j, body, strlen(body));
  slp_store_rows_free(&rows);
  int r = slp_item_read(&j, &rows);
  if (r == 1 && slp_json_next(&j) != SLP_JSON_END) r = SLP_EBADDATA;
  memset(body, 'x', sizeof body); /* nothing points into it */
  if (why) *why = j.why;
  return r;
}

static void written(const char *want) {
  slp_buf b;
  slp_buf_init(&b, mem, 4096);
  CHECK_INT(slp_attrs_put(&b, rows.rows[0].attrs, rows.rows[0].n), 0);
  CHECK_STR(slp_buf_z(&b), want);
  slp_buf_free(&b);
}

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_store_rows_init(&rows, mem);
}
static void end(void) {
  slp_store_rows_free(&rows);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(every_kind_is_read_and_written_as_it_was) {
  begin();
  CHECK_INT(
      read_item(
          "{\"s\":{\"S\":\"\\u00fc\"},\"e\":{\"S\":\"\"},\"n\":{\"N\":\"-1.5\"},\"b\":{\"B\":\"AP8=\"},"
          " \"ss\" : { \"SS\" : [ \"b\" , \"a\", \"ab\" ] },\"y\":{\"BOOL\":true},\"z\":{\"BOOL\":false},"
          "\"0\":{\"NULL\":true},\"l\":{\"L\":[{\"S\":\"\\u0041\"}]},\"ns\":{\"NS\":[\"1\"]}}",
          NULL),
      1);
  const slp_row *row = &rows.rows[0];
  CHECK_INT(row->n, 10);
  slp_str b = slp_row_get(row, SLP_STR("b"))->s;
  CHECK_MEM(b.p, b.n, "\0\xff", 2);
  const slp_val *set = slp_row_get(row, SLP_STR("ss"));
  CHECK(set->n == 3 && slp_str_is(set->items[0], "a") && slp_str_is(set->items[1], "ab"));
  CHECK_INT(slp_row_get(row, SLP_STR("l"))->kind, SLP_VAL_OTHER);
  written(
      "{\"s\":{\"S\":\"\xc3\xbc\"},\"e\":{\"S\":\"\"},\"n\":{\"N\":\"-1.5\"},\"b\":{\"B\":\"AP8=\"},"
      "\"ss\":{\"SS\":[\"a\",\"ab\",\"b\"]},\"y\":{\"BOOL\":true},\"z\":{\"BOOL\":false},\"0\":{\"NULL\":"
      "true},"
      "\"l\":{\"L\":[{\"S\":\"\\u0041\"}]},\"ns\":{\"NS\":[\"1\"]}}");
  CHECK_INT(read_item("{}", NULL), 1);
  written("{}");
  CHECK_INT(read_item("null", NULL), 0);
  CHECK_INT(rows.n, 0);
  end();
}

TEST(what_is_no_item_is_refused_with_a_reason) {
  static const char *const bad[] = {"[]",
                                    "\"x\"",
                                    "{\"a\":1}",
                                    "{\"a\":{}}",
                                    "{\"a\":{\"S\":1}}",
                                    "{\"a\":{\"S\":null}}",
                                    "{\"a\":{\"S\":\"x\",\"N\":\"1\"}}",
                                    "{\"a\":{\"L\":[],\"M\":{}}}",
                                    "{\"a\":{\"B\":\"A\"}}",
                                    "{\"a\":{\"SS\":[]}}",
                                    "{\"a\":{\"SS\":[1]}}",
                                    "{\"a\":{\"SS\":\"x\"}}",
                                    "{\"a\":{\"BOOL\":1}}",
                                    "{\"a\":{\"S\":\"x\"}",
                                    "{\"a\":{\"S\":\"\\ud800\"}}",
                                    "{\"a\":{\"L\":[}}"};
  begin();
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    const char *why = NULL;
    if (read_item(bad[i], &why) != SLP_EBADDATA) CHECK_FAIL("%s is read", bad[i]);
    CHECK(why);
    CHECK_INT(rows.n, 0);
  }
  end();
}

TEST(sets_are_sorted_and_their_members_counted) {
  static char all[1 << 20];
  const char *why = NULL;
  begin();
  for (unsigned sets = 1; sets <= 2; sets++) { /* the first holds all that a row may have */
    char *p = all + sprintf(all, "{\"a\":{\"S\":\"x\"}");
    for (unsigned i = 0; i < sets; i++) {
      p += sprintf(p, ",\"%u\":{\"SS\":[", i);
      for (unsigned k = i ? 1 : SLP_ITEM_ATTRS_MAX; k-- > 0;) p += sprintf(p, "\"%x\"%s", k, k ? "," : "]}");
    }
    strcpy(p, "}");
    CHECK_INT(read_item(all, &why), sets == 1 ? 1 : SLP_ELIMIT);
    if (sets == 2) continue;
    const slp_val *set = &rows.rows[0].attrs[1].val;
    CHECK_INT(set->n, SLP_ITEM_ATTRS_MAX);
    for (size_t i = 1; i < set->n; i++) CHECK_INT(slp_str_cmp(set->items[i - 1], set->items[i]), -1);
  }
  CHECK_STR(why, "the sets of a row have too many members");
  CHECK_INT(read_item("{\"s\":{\"SS\":[\"b\",\"\",\"ab\",\"a\",\"b\"]}}", NULL), 1);
  static const char *const want[] = {"", "a", "ab", "b", "b"};
  for (size_t i = 0; i < SLP_COUNT(want); i++) CHECK(slp_str_is(rows.rows[0].attrs[0].val.items[i], want[i]));
  end();
}

TEST(a_text_that_is_not_utf8_is_not_written) {
  slp_buf b;
  begin();
  slp_buf_init(&b, mem, 4096);
  slp_attr good = {SLP_STR("a"), {.kind = SLP_VAL_S, .s = SLP_STR("x")}};
  slp_attr latin = {SLP_STR("a"), {.kind = SLP_VAL_S, .s = SLP_STR("\xff")}};
  slp_attr none = {SLP_STR("a"), {.kind = SLP_VAL_NONE}};
  CHECK_INT(slp_attrs_put(&b, &latin, 1), SLP_EBADDATA);
  slp_buf_clear(&b);
  CHECK_INT(slp_attrs_put(&b, &none, 1), SLP_EBADDATA);
  slp_buf_clear(&b);
  CHECK_INT(slp_attrs_put(&b, &good, 1), 0);
  CHECK_STR(slp_buf_z(&b), "{\"a\":{\"S\":\"x\"}}");
  slp_buf_free(&b);
  end();
}
