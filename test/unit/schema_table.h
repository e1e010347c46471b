/* A table of one row, for tests of schemas: rows built by hand and read, operations done to the row under their
 * conditions, and the row as text. */
#ifndef SLP_TEST_UNIT_SCHEMA_TABLE_H
#define SLP_TEST_UNIT_SCHEMA_TABLE_H

#include "store/rows.h"
#include "guest/guest_schemas.h"

#include "check.h"

static slp_mem *mem;
static slp_schema *schema;
static slp_table_spec spec;
static slp_store_rows table; /* one row, or none */
static slp_parsed_row parsed;

#define S(z) SLP_STR(z)

/* schema and mem are set. */
static inline void table_begin(void) {
  schema->table(schema, "leases", &spec);
  slp_store_rows_init(&table, mem);
}

static inline void table_end(void) {
  slp_store_rows_free(&table);
  schema->free(schema);
  CHECK(mem->live_blocks == 0);
  slp_mem_drop(mem);
}

/* ---- rows built by hand ------------------------------------------------------------------------- */

#define TEXT(name_, s_)                                     \
  {                                                         \
    SLP_STR(name_), { .kind = SLP_VAL_S, .s = SLP_STR(s_) } \
  }
#define NUM(name_, s_)                                      \
  {                                                         \
    SLP_STR(name_), { .kind = SLP_VAL_N, .s = SLP_STR(s_) } \
  }
#define NIL(name_)                           \
  {                                          \
    SLP_STR(name_), { .kind = SLP_VAL_NULL } \
  }
#define READ(...)                            \
  do {                                       \
    const slp_attr attrs[] = {__VA_ARGS__};  \
    slp_row row = {attrs, SLP_COUNT(attrs)}; \
    schema->read(schema, &row, &parsed);     \
  } while (0)

/* The same row is in the table. */
#define PUT(...)                                   \
  do {                                             \
    const slp_attr attrs[] = {__VA_ARGS__};        \
    slp_row row = {attrs, SLP_COUNT(attrs)};       \
    slp_store_rows_free(&table);                   \
    CHECK(slp_store_rows_copy(&table, &row) == 0); \
    schema->read(schema, &table.rows[0], &parsed); \
  } while (0)

/* ---- operations --------------------------------------------------------------------------------- */

/* 1: it was written; 0: refused. The row is read into `parsed`. */
static inline int apply(const slp_operation *i) {
  slp_store_write w;
  slp_row_request d;
  const char *why = "";
  memset(&w, 0, sizeof w);
  slp_row_request_init(&d, mem, &w);
  CHECK(schema->write(schema, &d, i) == 0);
  CHECK(!w.key.range.n);
  const slp_row *row = table.n ? &table.rows[0] : NULL;
  slp_table_spec of = spec;
  if (w.rq.table) CHECK(schema->side_table(schema, w.rq.table, &of));
  int done = slp_rows_hold(row, w.when, w.when_n);
  if (done) {
    slp_store_rows next;
    slp_store_rows_init(&next, mem);
    if (w.kind != SLP_WRITE_DELETE) CHECK(slp_rows_change(&next, row, &of, &w, &why) == 0);
    slp_store_rows_free(&table);
    table = next;
  }
  slp_row_request_free(&d);
  memset(&parsed, 0, sizeof parsed);
  if (table.n) schema->read(schema, &table.rows[0], &parsed);
  return done;
}

#define DO(...) CHECK(apply(&(slp_operation){__VA_ARGS__}) == 1)
#define REFUSED(...) CHECK(apply(&(slp_operation){__VA_ARGS__}) == 0)

/* The schema has no such operation, or can't say that position. */
static inline void can_not(const slp_operation *i) {
  slp_store_write w = {.rq = {0}};
  slp_row_request d;
  slp_row_request_init(&d, mem, &w);
  CHECK(schema->write(schema, &d, i) == SLP_EINVAL);
  slp_row_request_free(&d);
}

static inline slp_position after(const char *seq, uint32_t sub) {
  slp_position s = {.kind = SLP_POSITION_AFTER};
  slp_mark_set(&s.mark, slp_str_of(seq), sub, -1);
  return s;
}

static inline int by_name(const void *a, const void *b) {
  const slp_attr *x = a, *y = b;
  size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
  int c = memcmp(x->name.p, y->name.p, n);
  return c ? c : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

/* The whole row: "name=S:text name=N:1 name=SS:a,b", by name. */
static inline const char *row_text(void) {
  static char out[2000];
  static const char *const kinds[] = {"?", "S", "N", "B", "SS", "BOOL", "NULL", "?"};
  slp_attr all[32];
  size_t n = 0;
  out[0] = 0;
  CHECK(table.n == 1 && table.rows[0].n <= SLP_COUNT(all));
  memcpy(all, table.rows[0].attrs, table.rows[0].n * sizeof *all);
  qsort(all, table.rows[0].n, sizeof *all, by_name);
  for (size_t i = 0; i < table.rows[0].n; i++) {
    const slp_val *v = &all[i].val;
    n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s=%s:%.*s", i ? " " : "", (int)all[i].name.n,
                          all[i].name.p, kinds[v->kind], v->kind == SLP_VAL_SS ? 0 : (int)v->s.n,
                          v->s.p ? v->s.p : "");
    for (size_t k = 0; v->kind == SLP_VAL_SS && k < v->n; k++)
      n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", k ? "," : "", (int)v->items[k].n,
                            v->items[k].p);
  }
  return out;
}

/* An attribute is set by no operation of ours. */
static inline void set_by_another(const char *name, slp_val val) {
  slp_store_rows next;
  slp_change c = {slp_str_of(name), SLP_SET, val};
  slp_store_write w = {.kind = SLP_WRITE_UPDATE, .changes = &c, .changes_n = 1, .key = parsed.key};
  const char *why = "";
  slp_store_rows_init(&next, mem);
  CHECK(slp_rows_change(&next, &table.rows[0], &spec, &w, &why) == 0);
  slp_store_rows_free(&table);
  table = next;
  schema->read(schema, &table.rows[0], &parsed);
}

#endif
