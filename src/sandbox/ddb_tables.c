/* ddb_tables.c - tables: making, describing, changing, ending. */
#include "sandbox/ddb.h"

slp_ddb *slp_ddb_new(slp_mem *mem) {
  slp_ddb *d = SLP_NEW(mem, slp_ddb);
  if (!d) return NULL;
  slp_list_init(&d->tables);
  slp_list_init(&d->tokens);
  d->memory.mem = mem;
  return d;
}

void slp_ddb_free(slp_box *box) {
  if (!box->ddb) return;
  slp_arena_clear(&box->ddb->memory);
  slp_free(box->mem, box->ddb);
}

void slp_ddb_settle(slp_box *box, int64_t now_ms) { (void)box, (void)now_ms; }
void slp_ddb_call_over(slp_box *box) { slp_arena_clear(&box->ddb->memory); }

slp_table *slp_table_find(slp_box *box, slp_str name) {
  SLP_LIST_EACH(&box->ddb->tables, it) {
    slp_table *t = SLP_OWNER(it, slp_table, link);
    if (slp_str_is(name, t->name)) return t;
  }
  return NULL;
}
