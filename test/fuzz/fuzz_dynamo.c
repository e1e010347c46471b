/* fuzz_dynamo.c - answers of DynamoDB from any bytes: what is taken is JSON to jansson too, rows lie outside
 * the text and are written so that they read as the same rows, reading in small slices gives what reading at
 * once gives. */
#include "store/dynamo_read.h"
#include "store/item.h"

#include "fuzz.h"

#if SLP_HAVE_JANSSON
#include "beyond_jansson.h"
#endif

typedef struct answer {
  slp_store_rows rows;
  slp_buf rest;
  uint64_t units;
  int r;
} answer;

static void read_answer(answer *a, slp_mem *mem, const uint8_t *data, size_t size, size_t slice) {
  slp_dynamo_reader r;
  char *text = fuzz_copy(data, size);
  slp_store_rows_init(&a->rows, mem);
  slp_buf_init(&a->rest, mem, 1 << 20);
  slp_dynamo_reader_begin(&r, (slp_str){text, size}, &a->rows, &a->rest);
  do a->r = slp_dynamo_read(&r, slice);
  while (a->r == SLP_MORE);
  REQUIRE(a->r == 0 || a->r == SLP_EBADDATA || a->r == SLP_ELIMIT);
  a->units = r.units;
  free(text); /* nothing may point into it */
}

static void answer_free(answer *a) {
  slp_store_rows_free(&a->rows);
  slp_buf_free(&a->rest);
}

static void written(slp_buf *b, const slp_row *row) {
  slp_buf_clear(b);
  REQUIRE(slp_attrs_put(b, row->attrs, row->n) == 0);
}

/* Written, read and written again, it is the same text. */
static void round_trip(slp_mem *mem, const slp_row *row) {
  slp_buf first, second;
  slp_json j;
  slp_store_rows again;
  slp_buf_init(&first, mem, 1 << 24);
  slp_buf_init(&second, mem, 1 << 24);
  slp_store_rows_init(&again, mem);
  written(&first, row);
  char *text = fuzz_copy((const uint8_t *)first.p, first.n);
  slp_json_begin(&j, text, first.n);
  REQUIRE(slp_item_read(&j, &again) == 1 && slp_json_next(&j) == SLP_JSON_END);
  written(&second, &again.rows[0]);
  REQUIRE(slp_str_eq(slp_buf_str(&first), slp_buf_str(&second)));
  free(text);
  slp_store_rows_free(&again);
  slp_buf_free(&first);
  slp_buf_free(&second);
}

static void same(const answer *a, const answer *b) {
  REQUIRE(a->r == b->r && a->units == b->units && slp_str_eq(slp_buf_str(&a->rest), slp_buf_str(&b->rest)));
  if (a->r == 0) REQUIRE(a->rows.n == b->rows.n);
}

static void is_json(const uint8_t *data, size_t size) {
#if SLP_HAVE_JANSSON
  json_error_t e;
  json_t *value = json_loadb((const char *)data, size, JSON_ALLOW_NUL, &e);
  REQUIRE(value || beyond_jansson(&e));
  json_decref(value);
#else
  (void)data, (void)size;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  answer whole, sliced;
  slp_dynamo_table t;
  const char *why = NULL;
  read_answer(&whole, mem, data, size, SIZE_MAX);
  read_answer(&sliced, mem, data, size, 1);
  same(&whole, &sliced);
  if (whole.r == 0) is_json(data, size);
  for (size_t i = 0; whole.r == 0 && i < whole.rows.n; i++) round_trip(mem, &whole.rows.rows[i]);
  answer_free(&whole);
  answer_free(&sliced);
  char *text = fuzz_copy(data, size);
  int r = slp_dynamo_read_table((slp_str){text, size}, &t, &why);
  REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  if (r == 0)
    REQUIRE(t.status[0] && t.hash[0] && memchr(t.hash, 0, sizeof t.hash) &&
            memchr(t.range, 0, sizeof t.range));
  free(text);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
