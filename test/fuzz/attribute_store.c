/* attribute_store.c - reads and writes an item as the stores do. */
#include "attribute_store.h"

#include "fuzz.h"
#include "store/item.h"

static void put_plain(slp_buf *plain, const slp_row *row) {
  for (size_t i = 0; i < row->n; i++) {
    const slp_val *v = &row->attrs[i].val;
    if (v->kind == SLP_VAL_S || v->kind == SLP_VAL_B) REQUIRE(slp_buf_add_str(plain, v->s) == 0);
  }
}

int attribute_store_read(slp_mem *mem, slp_str text, slp_buf *written, slp_buf *plain, size_t *ret_n) {
  slp_json j;
  slp_store_rows rows;
  char *copy = fuzz_copy((const uint8_t *)text.p, text.n);
  slp_store_rows_init(&rows, mem);
  slp_json_begin(&j, copy, text.n);
  int r = slp_item_read(&j, &rows);
  if (r == 1 && slp_json_next(&j) != SLP_JSON_END) r = SLP_EBADDATA;
  free(copy); /* nothing may point into it */
  if (r == 1) {
    REQUIRE(slp_attrs_put(written, rows.rows[0].attrs, rows.rows[0].n) == 0);
    put_plain(plain, &rows.rows[0]);
    *ret_n = rows.rows[0].n;
  }
  slp_store_rows_free(&rows);
  return r;
}
