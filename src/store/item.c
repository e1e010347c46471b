/* item.c - reads and writes DynamoDB's items in JSON. */
#include "store/item.h"

#include "base/buf.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "lease/store.h"

#include <stdlib.h>

static int fail_item(slp_json *j, const char *why) {
  j->why = why;
  return SLP_EBADDATA;
}

static int too_much(slp_json *j, const char *why) {
  j->why = why;
  return SLP_ELIMIT;
}

/* ---- reading ------------------------------------------------------------------------------------------- */
static slp_val_kind kind_of(slp_str name) {
  static const struct {
    const char *name;
    slp_val_kind kind;
  } kinds[] = {{"S", SLP_VAL_S},   {"N", SLP_VAL_N},       {"B", SLP_VAL_B},
               {"SS", SLP_VAL_SS}, {"BOOL", SLP_VAL_BOOL}, {"NULL", SLP_VAL_NULL}};
  for (size_t i = 0; i < SLP_COUNT(kinds); i++) {
    if (slp_str_is(name, kinds[i].name)) return kinds[i].kind;
  }
  return SLP_VAL_OTHER;
}

static int read_text_value(slp_json *j, slp_store_rows *rows, slp_str *ret) {
  int token = slp_json_next(j);
  if (token < 0) return token;
  if (token != SLP_JSON_STRING) return fail_item(j, "a value of an attribute is not text");
  *ret = slp_store_rows_text(rows, j->text);
  return ret->p ? 0 : SLP_ENOMEM;
}

static int read_bytes_value(slp_json *j, slp_store_rows *rows, slp_str *ret) {
  int r = read_text_value(j, rows, ret);
  if (r) return r;
  int64_t n = slp_base64_decode((char *)(uintptr_t)ret->p, ret->p, ret->n);
  if (n < 0) return fail_item(j, "a binary attribute is not base64");
  ret->n = (size_t)n;
  return 0;
}

static int by_bytes(const void *a, const void *b) {
  return slp_str_cmp(*(const slp_str *)a, *(const slp_str *)b);
}

static const char sets_too_long[] = "the sets of a row have too many members";

static int read_set_value(slp_json *j, slp_store_rows *rows, slp_val *v) {
  slp_str *items = NULL;
  size_t cap = 0;
  int token = slp_json_next(j);
  if (token >= 0 && token != SLP_JSON_ARRAY) return fail_item(j, "a set is not an array");
  while (token >= 0 && (token = slp_json_next(j)) == SLP_JSON_STRING) {
    if (v->n == SLP_ITEM_ATTRS_MAX) return too_much(j, sets_too_long);
    if (v->n == cap) {
      slp_str *more = slp_store_rows_get(rows, (cap = cap ? cap * 2 : 4) * sizeof *more);
      if (!more) return SLP_ENOMEM;
      if (v->n) memcpy(more, items, v->n * sizeof *more);
      items = more;
    }
    items[v->n] = slp_store_rows_text(rows, j->text);
    if (!items[v->n++].p) return SLP_ENOMEM;
  }
  if (token < 0) return token;
  if (token != SLP_JSON_ARRAY_END || !v->n) return fail_item(j, "a set of something else, or an empty one");
  /* sorts the members: DynamoDB returns them in any order, but a set in slp_val must be sorted */
  qsort(items, v->n, sizeof *items, by_bytes);
  v->items = items;
  return 0;
}

static int read_bool_value(slp_json *j, slp_val *v) {
  int token = slp_json_next(j);
  if (token < 0) return token;
  if (token != SLP_JSON_TRUE && token != SLP_JSON_FALSE) return fail_item(j, "neither true nor false");
  v->n = token == SLP_JSON_TRUE;
  return 0;
}

/* Stores a value of an unknown kind as its JSON text, so that it can be written back. from: the offset of its
 * '{'. */
static int keep_unknown_value(slp_json *j, slp_store_rows *rows, size_t from, slp_val *v) {
  j->keep = 1;
  int r = slp_json_skip(j);
  int end = r ? r : slp_json_next(j);
  j->keep = 0;
  if (end < 0) return end;
  if (end != SLP_JSON_OBJECT_END) return fail_item(j, "an attribute with two values");
  v->s = slp_store_rows_text(rows, (slp_str){j->p + from, j->at - from});
  return v->s.p ? 0 : SLP_ENOMEM;
}

static int read_known_value(slp_json *j, slp_store_rows *rows, slp_val *v) {
  switch (v->kind) {
    case SLP_VAL_S:
    case SLP_VAL_N: return read_text_value(j, rows, &v->s);
    case SLP_VAL_B: return read_bytes_value(j, rows, &v->s);
    case SLP_VAL_SS: return read_set_value(j, rows, v);
    case SLP_VAL_BOOL:
    case SLP_VAL_NULL: return read_bool_value(j, v);
    case SLP_VAL_NONE:
    case SLP_VAL_OTHER: break;
  }
  return SLP_EBADDATA;
}

static int read_attribute_value(slp_json *j, slp_store_rows *rows, slp_val *v) {
  int token = slp_json_next(j);
  if (token < 0) return token;
  if (token != SLP_JSON_OBJECT) return fail_item(j, "an attribute without a kind");
  size_t from = j->at - 1;
  /* the parser must leave the name of the kind as it is, because the whole text is copied if the kind is
   * unknown */
  j->keep = 1;
  token = slp_json_next(j);
  j->keep = 0;
  if (token < 0) return token;
  if (token != SLP_JSON_KEY) return fail_item(j, "an attribute without a kind");
  *v = (slp_val){.kind = kind_of(j->text)};
  if (v->kind == SLP_VAL_OTHER) return keep_unknown_value(j, rows, from, v);
  int r = read_known_value(j, rows, v);
  if (r) return r;
  token = slp_json_next(j);
  if (token < 0) return token;
  return token == SLP_JSON_OBJECT_END ? 0 : fail_item(j, "an attribute with two values");
}

int slp_item_read_rest(slp_json *j, slp_store_rows *rows) {
  slp_attr *attrs = NULL;
  size_t n = 0, cap = 0, members = 0;
  int token;
  while ((token = slp_json_next(j)) == SLP_JSON_KEY) {
    if (n == SLP_ITEM_ATTRS_MAX) return too_much(j, "a row has too many attributes");
    if (n == cap) {
      slp_attr *more = slp_store_rows_get(rows, (cap = cap ? cap * 2 : 16) * sizeof *more);
      if (!more) return SLP_ENOMEM;
      if (n) memcpy(more, attrs, n * sizeof *more);
      attrs = more;
    }
    attrs[n].name = slp_store_rows_text(rows, j->text);
    if (!attrs[n].name.p) return SLP_ENOMEM;
    int r = read_attribute_value(j, rows, &attrs[n].val);
    if (r) return r;
    if (attrs[n].val.kind == SLP_VAL_SS) members += attrs[n].val.n;
    if (members > SLP_ITEM_ATTRS_MAX) return too_much(j, sets_too_long);
    n++;
  }
  if (token < 0) return token;
  int r = slp_store_rows_add(rows, attrs, n);
  return r ? r : 1;
}

int slp_item_read(slp_json *j, slp_store_rows *rows) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_NULL || token < 0) return token < 0 ? token : 0;
  return token == SLP_JSON_OBJECT ? slp_item_read_rest(j, rows) : fail_item(j, "an item is not an object");
}

/* ---- writing ------------------------------------------------------------------------------------------- */
static void put_set(slp_jw *w, const slp_val *v) {
  slp_jw_array(w, "SS");
  for (size_t i = 0; i < v->n; i++) slp_jw_str(w, NULL, v->items[i]);
  slp_jw_array_end(w);
}

static void put_value(slp_jw *w, const slp_val *v) {
  if (v->kind == SLP_VAL_OTHER) {
    slp_jw_raw(w, NULL, v->s);
    return;
  }
  slp_jw_object(w, NULL);
  switch (v->kind) {
    case SLP_VAL_S: slp_jw_str(w, "S", v->s); break;
    case SLP_VAL_N: slp_jw_str(w, "N", v->s); break;
    case SLP_VAL_B: slp_jw_base64(w, "B", v->s); break;
    case SLP_VAL_SS: put_set(w, v); break;
    case SLP_VAL_BOOL: slp_jw_bool(w, "BOOL", v->n != 0); break;
    case SLP_VAL_NULL: slp_jw_bool(w, "NULL", 1); break;
    case SLP_VAL_OTHER:
    case SLP_VAL_NONE: slp_buf_fail(w->b, SLP_EBADDATA); break;
  }
  slp_jw_object_end(w);
}

void slp_val_put(slp_jw *w, slp_str name, const slp_val *v) {
  slp_jw_key(w, name);
  put_value(w, v);
}

int slp_attrs_put(slp_buf *b, const slp_attr *attrs, size_t n) {
  slp_jw w = slp_jw_begin(b);
  for (size_t i = 0; i < n; i++) slp_val_put(&w, attrs[i].name, &attrs[i].val);
  return slp_jw_object_end(&w);
}
