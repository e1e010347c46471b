/* ddb_tables.c - creates, changes and deletes tables. */
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

#include <stdio.h>

#define CHANGING_MAX 500 /* how many tables may be in creation, change or deletion at the same time */

/* ---- creating and freeing ---------------------------------------------------------------------------- */
slp_ddb *slp_ddb_new(slp_mem *mem) {
  slp_ddb *d = SLP_NEW(mem, slp_ddb);
  if (!d) return NULL;
  slp_list_init(&d->tables);
  slp_list_init(&d->tokens);
  d->memory.mem = mem;
  return d;
}

static void free_table(slp_box *box, slp_table *t) {
  slp_list_remove(&t->link);
  slp_rows_free(box, t);
  slp_keys_free(box, t);
  for (uint32_t i = 0; i < SLP_DDB_INDEXES; i++) slp_index_free(box, &t->index[i]);
  slp_table_tags_free(box, t);
  slp_free(box->mem, t->ttl_name);
  slp_free(box->mem, t->name);
  slp_free(box->mem, t);
}

void slp_ddb_free(slp_box *box) {
  if (!box->ddb) return;
  for (slp_list *it; (it = slp_list_first(&box->ddb->tables)) != NULL;) {
    free_table(box, SLP_OWNER(it, slp_table, link));
  }
  slp_tokens_free(box);
  slp_arena_clear(&box->ddb->memory);
  slp_free(box->mem, box->ddb);
}

static void finish_table_change(slp_box *box, slp_table *t) {
  if (t->status == SLP_BOX_DELETING) {
    slp_changes_table_gone(box, t, t->change_ms);
    free_table(box, t);
    return;
  }
  t->status = SLP_BOX_ACTIVE;
  for (uint32_t i = 0; i < t->indexes_n; i++) t->index[i].creating = 0;
}

void slp_ddb_settle(slp_box *box, int64_t now_ms) {
  slp_list *next;
  for (slp_list *it = box->ddb->tables.next; it != &box->ddb->tables; it = next) {
    slp_table *t = SLP_OWNER(it, slp_table, link);
    next = it->next;
    slp_rows_expire(box, t, now_ms);
    if (t->status != SLP_BOX_ACTIVE && t->change_ms <= now_ms) finish_table_change(box, t);
  }
}

void slp_ddb_call_over(slp_box *box) { slp_arena_clear(&box->ddb->memory); }

/* ---- changes that take time -------------------------------------------------------------------- */

static uint32_t count_changing_tables(slp_box *box) {
  uint32_t n = 0;
  SLP_LIST_EACH(&box->ddb->tables, it) n += SLP_OWNER(it, slp_table, link)->status != SLP_BOX_ACTIVE;
  return n;
}

static int too_many(slp_box_call *c) {
  if (count_changing_tables(c->box) < CHANGING_MAX) return 0;
  return slp_box_fail(
      c, "LimitExceededException",
      "Too many operations for a given subscriber: %d tables are being created, updated or deleted",
      CHANGING_MAX);
}

static void change_begin(slp_box_call *c, slp_table *t, slp_box_status meanwhile) {
  t->status = meanwhile;
  t->change_ms = c->now_ms + c->box->o.change_ms;
}

int slp_box_stale(slp_box *box, int64_t now_ms, const char *table, uint32_t ms) {
  slp_ddb_settle(box, now_ms);
  slp_table *t = slp_table_find(box, slp_str_of(table));
  if (t) slp_table_stale(t, ms);
  return t ? 0 : SLP_ENOENT;
}

/* ---- creating a table --------------------------------------------------------------------------- */
static void link_by_name(slp_box *box, slp_table *t) {
  slp_list *at = box->ddb->tables.next;
  while (at != &box->ddb->tables && strcmp(SLP_OWNER(at, slp_table, link)->name, t->name) < 0) at = at->next;
  slp_list_insert_before(at, &t->link);
}

/* Reads StreamSpecification. Returns 0, 1 if the request has none, or -1 if the call has failed. */
static int read_stream(slp_box_call *c, int *ret_on, slp_str *ret_view) {
  static const char *const views[] = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"};
  uint32_t spec;
  int bad = 0;
  if (slp_in_map(c, 0, "StreamSpecification", &spec)) return -1;
  if (!spec) return 1;
  *ret_on = slp_in_flag(c, spec, "StreamEnabled");
  *ret_view = slp_in_text(c, spec, "StreamViewType", &bad);
  if (bad) return -1;
  if (!*ret_on && ret_view->p) {
    return slp_refuse(c,
                      "One or more parameter values were invalid: Table is not being stream enabled, but "
                      "StreamViewType is specified");
  }
  if (!*ret_on) return 0;
  for (size_t i = 0; i < SLP_COUNT(views); i++) {
    if (slp_str_is(*ret_view, views[i])) return 0;
  }
  return slp_refuse(
      c,
      "1 validation error detected: Value '%.*s' at 'streamSpecification.streamViewType' failed to "
      "satisfy constraint: Member must satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, "
      "NEW_AND_OLD_IMAGES, KEYS_ONLY]",
      (int)slp_min_u64(ret_view->n, 60), ret_view->n ? ret_view->p : "");
}

static int write_table_description(slp_box_call *c, slp_table *t) {
  slp_out_map(&c->out);
  slp_out_key(&c->out, "TableDescription");
  slp_table_put(c, t);
  slp_out_end(&c->out);
  return 0;
}

static void new_id(slp_box *box, char out[40]) {
  uint64_t a = slp_box_random(box), b = slp_box_random(box);
  snprintf(out, 40, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
           (unsigned)(a & 0xffff), (unsigned)(b >> 48), (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

int slp_table_op_create(slp_box_call *c) {
  slp_str name = slp_box_text(c, "TableName"), view = {NULL, 0};
  int on = 0;
  if (slp_table_find(c->box, name)) {
    return slp_box_fail(c, "ResourceInUseException", "Table already exists: %.*s", (int)name.n, name.p);
  }
  if (too_many(c)) return -1;
  slp_table *t = SLP_NEW(c->box->mem, slp_table);
  if (!t) return slp_box_no_memory(c);
  slp_map_init(&t->keys, c->box->mem);
  t->name = slp_strdup(c->box->mem, name);
  t->created_ms = c->now_ms;
  t->ttl_swept_ms = INT64_MIN / 2;
  t->protected = (uint8_t)slp_in_flag(c, 0, "DeletionProtectionEnabled");
  new_id(c->box, t->id);
  change_begin(c, t, SLP_BOX_CREATING);
  int r = -1;
  if (t->name)
    r = slp_schema_read(c, t);
  else
    slp_box_no_memory(c);
  if (!r) r = slp_table_tags_read(c, t);
  if (!r) r = read_stream(c, &on, &view);
  if (r >= 0 && on && slp_changes_enable(c->box, t, c->now_ms, view)) r = slp_box_no_memory(c);
  if (r < 0 || !t->name) {
    free_table(c->box, t);
    return -1;
  }
  link_by_name(c->box, t);
  return write_table_description(c, t);
}

/* ---- changing and deleting ---------------------------------------------------------------------- */
static slp_table *at_rest(slp_box_call *c) {
  static const char *const doing[] = {
      [SLP_BOX_CREATING] = "created", [SLP_BOX_UPDATING] = "updated", [SLP_BOX_DELETING] = "deleted"};
  slp_str name = slp_table_bare_name(slp_box_text(c, "TableName"));
  slp_table *t = slp_table_find(c->box, name);
  if (!t) {
    slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found: Table: %.*s not found",
                 (int)slp_min_u64(name.n, 300), name.n ? name.p : "");
    return NULL;
  }
  if (t->status == SLP_BOX_ACTIVE) return t;
  slp_box_fail(c, "ResourceInUseException",
               "Attempt to change a resource which is still in use: Table is being %s: %s", doing[t->status],
               t->name);
  return NULL;
}

/* Enables or disables the table's stream. Returns 0, 1 if the request does not ask for that, or -1 if the
 * call has failed. */
static int change_stream(slp_box_call *c, slp_table *t) {
  slp_str view;
  int on = 0, r = read_stream(c, &on, &view);
  if (r) return r;
  if (on && t->stream_on) return slp_refuse(c, "Table already has an enabled stream: TableName: %s", t->name);
  if (!on && !t->stream_on) return slp_refuse(c, "Table has no stream to disable: TableName: %s", t->name);
  if (on) return slp_changes_enable(c->box, t, c->now_ms, view) ? slp_box_no_memory(c) : 0;
  slp_changes_disable(c->box, t, c->now_ms);
  return 0;
}

int slp_table_op_update(slp_box_call *c) {
  slp_table *t = at_rest(c);
  if (!t || too_many(c)) return -1;
  const slp_value *protect = slp_in_get(c, 0, "DeletionProtectionEnabled");
  int billing = slp_schema_billing(c, t);
  int globals = billing < 0 ? -1 : slp_schema_globals(c, t);
  int stream = globals < 0 ? -1 : change_stream(c, t);
  if (stream < 0) return -1;
  if (protect) t->protected = protect->i != 0;
  if (billing && globals && stream && !protect) {
    return slp_refuse(c,
                      "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
                      "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
  }
  change_begin(c, t, SLP_BOX_UPDATING);
  return write_table_description(c, t);
}

int slp_table_op_delete(slp_box_call *c) {
  slp_table *t = at_rest(c);
  if (!t || too_many(c)) return -1;
  if (t->protected) {
    return slp_refuse(
        c,
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
        "protection first.");
  }
  change_begin(c, t, SLP_BOX_DELETING);
  return write_table_description(c, t);
}
