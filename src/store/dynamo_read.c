/* dynamo_read.c - reads DynamoDB's answers; strings in the text are unescaped in place. */
#include "store/dynamo_read.h"

#include "aws/json_members.h"
#include "base/buf.h"
#include "codec/json.h"
#include "lease/store.h"
#include "store/item.h"

/* ---- rows ---------------------------------------------------------------------------------------------- */
void slp_dynamo_reader_begin(slp_dynamo_reader *r, slp_str body, slp_store_rows *rows, slp_buf *rest) {
  *r = (slp_dynamo_reader){.rows = rows, .rest = rest};
  slp_json_begin(&r->j, (char *)(uintptr_t)body.p, body.n);
}

/* Copies the next JSON value unchanged to r->rest, because the next call must send it back. */
static int keep_raw(slp_dynamo_reader *r) {
  size_t from = r->j.at;
  r->j.keep = 1;
  int q = slp_json_skip(&r->j);
  r->j.keep = 0;
  if (q) return q;
  const char *p = r->j.p + from, *end = r->j.p + r->j.at;
  while (p < end && *p != '{') p++; /* skips the colon; if the value is null, there is no '{' */
  const char *inside = p + 1;
  while (inside < end && (*inside == ' ' || *inside == '\n' || *inside == '\r' || *inside == '\t')) inside++;
  if (p >= end || inside >= end || *inside == '}') return 0;
  slp_buf_clear(r->rest);
  return slp_buf_add(r->rest, p, (size_t)(end - p));
}

/* Reads ConsumedCapacity: one object, or an array with an object for each table. */
static int read_cost(slp_dynamo_reader *r) {
  slp_json *j = &r->j;
  uint32_t outer = j->depth;
  int token = slp_json_next(j), on_top = token == SLP_JSON_ARRAY ? 2 : 1;
  while (token >= 0 && j->depth > outer) {
    int64_t units = 0;
    token = slp_json_next(j);
    if (token != SLP_JSON_KEY || j->depth != outer + (uint32_t)on_top ||
        !slp_str_is(j->text, "CapacityUnits"))
      continue;
    token = slp_json_next(j);
    if (token == SLP_JSON_NUMBER && !slp_decimal_scaled(j->text, 3, &units) && units > 0)
      r->units += (uint64_t)units;
  }
  return token < 0 ? token : 0;
}

/* Enters "Responses": {"table": [, where a BatchGetItem has its rows. */
static int enter_responses(slp_dynamo_reader *r) {
  int q = slp_read_enter(&r->j, SLP_JSON_OBJECT);
  if (q <= 0) return q;
  q = slp_read_key(&r->j);
  if (q <= 0) return q;
  r->nested = 1;
  q = slp_read_enter(&r->j, SLP_JSON_ARRAY);
  if (q < 0) return q;
  r->in_rows = 1;
  return q ? 0 : slp_read_bad(&r->j, "rows are null");
}

static int one_row(slp_dynamo_reader *r) {
  if (!r->rows) return slp_json_skip(&r->j);
  int q = slp_item_read(&r->j, r->rows);
  return q < 0 ? q : 0;
}

static int read_answer_member(slp_dynamo_reader *r) {
  slp_str name = r->j.text;
  if (slp_str_is(name, "Item") || slp_str_is(name, "Attributes")) return one_row(r);
  if (slp_str_is(name, "ConsumedCapacity")) return read_cost(r);
  if (slp_str_is(name, "LastEvaluatedKey") || slp_str_is(name, "UnprocessedKeys")) return keep_raw(r);
  if (slp_str_is(name, "Responses") && r->rows) return enter_responses(r);
  if (slp_str_is(name, "Items") && r->rows) {
    int q = slp_read_enter(&r->j, SLP_JSON_ARRAY);
    r->in_rows = q > 0;
    return q < 0 ? q : 0;
  }
  return slp_json_skip(&r->j);
}

static int some_rows(slp_dynamo_reader *r, size_t bytes_max) {
  size_t from = r->j.at;
  do {
    int token = slp_json_next(&r->j);
    if (token < 0) return token;
    if (token == SLP_JSON_ARRAY_END) {
      r->in_rows = 0;
      if (!r->nested) return 0;
      r->nested = 0;
      token = slp_json_next(&r->j);
      if (token < 0) return token;
      return token == SLP_JSON_OBJECT_END ? 0 : slp_read_bad(&r->j, "rows of another table");
    }
    if (token != SLP_JSON_OBJECT) return slp_read_bad(&r->j, "a row is not an object");
    int q = slp_item_read_rest(&r->j, r->rows);
    if (q < 0) return q;
  } while (r->j.at - from < bytes_max);
  return SLP_MORE;
}

int slp_dynamo_read(slp_dynamo_reader *r, size_t bytes_max) {
  if (!r->begun) {
    int q = slp_read_enter(&r->j, SLP_JSON_OBJECT);
    if (q <= 0) return q < 0 ? q : slp_read_bad(&r->j, "nothing in it");
    r->begun = 1;
  }
  for (;;) {
    int q = r->in_rows ? some_rows(r, bytes_max) : 0;
    if (q) return q;
    q = slp_read_key(&r->j);
    if (q <= 0) return q < 0 ? q : slp_read_finish(&r->j);
    q = read_answer_member(r);
    if (q) return q;
  }
}

/* ---- tables -------------------------------------------------------------------------------------------- */
typedef struct definition { /* one element of KeySchema or of AttributeDefinitions */
  slp_str name, is;
} definition;

static int read_definition(slp_json *j, const char *is, definition *ret) {
  int r;
  *ret = (definition){{NULL, 0}, {NULL, 0}};
  while ((r = slp_read_key(j)) > 0) {
    int q = slp_str_is(j->text, "AttributeName") ? slp_json_string(j, &ret->name)
            : slp_str_is(j->text, is)            ? slp_json_string(j, &ret->is)
                                                 : slp_json_skip(j);
    if (q) return q;
  }
  return r;
}

static int copy_name(slp_json *j, char to[256], slp_str from) {
  if (from.n > 255 || slp_str_has(from, 0)) return slp_read_bad(j, "the name of a key is too long");
  if (from.n) memcpy(to, from.p, from.n);
  to[from.n] = 0;
  return 0;
}

#define DEFINITIONS_MAX 64 /* a table has two keys of its own, and at most 20 indexes with two keys each */

static int read_definitions(slp_json *j, const char *is, definition all[DEFINITIONS_MAX], size_t *n) {
  int token = slp_read_enter(j, SLP_JSON_ARRAY);
  if (token <= 0) return token;
  while ((token = slp_json_next(j)) == SLP_JSON_OBJECT) {
    if (*n == DEFINITIONS_MAX) return SLP_ELIMIT;
    int r = read_definition(j, is, &all[*n]);
    if (r) return r;
    ++*n;
  }
  return token < 0                     ? token
         : token == SLP_JSON_ARRAY_END ? 0
                                       : slp_read_bad(j, "a definition is not an object");
}

typedef struct described {
  definition keys[DEFINITIONS_MAX], types[DEFINITIONS_MAX];
  size_t keys_n, types_n;
} described;

static int read_inside(slp_json *j, slp_dynamo_table *t, described *d) {
  int r = slp_read_enter(j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(j)) > 0) {
    int q = slp_str_is(j->text, "TableStatus") ? slp_read_z(j, t->status, sizeof t->status)
            : slp_str_is(j->text, "KeySchema") ? read_definitions(j, "KeyType", d->keys, &d->keys_n)
            : slp_str_is(j->text, "AttributeDefinitions")
                ? read_definitions(j, "AttributeType", d->types, &d->types_n)
                : slp_json_skip(j);
    if (q) return q;
  }
  return r;
}

static int fill_described_table(slp_json *j, slp_dynamo_table *t, const described *d) {
  for (size_t i = 0; i < d->keys_n; i++) {
    int r = copy_name(j, slp_str_is(d->keys[i].is, "HASH") ? t->hash : t->range, d->keys[i].name);
    if (r) return r;
    for (size_t k = 0; k < d->types_n; k++) {
      if (slp_str_eq(d->types[k].name, d->keys[i].name) && !slp_str_is(d->types[k].is, "S")) t->not_text = 1;
    }
  }
  return t->status[0] && t->hash[0] ? 0 : slp_read_bad(j, "a table without status or key");
}

int slp_dynamo_read_table(slp_str body, slp_dynamo_table *ret, const char **why) {
  slp_json j;
  described d = {.keys_n = 0};
  *ret = (slp_dynamo_table){.not_text = 0};
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = slp_read_enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(&j)) > 0) {
    int q = slp_str_is(j.text, "Table") ? read_inside(&j, ret, &d) : slp_json_skip(&j);
    if (q) r = q;
  }
  if (!r) r = slp_read_finish(&j);
  if (!r) r = fill_described_table(&j, ret, &d);
  *why = j.why;
  return r;
}
