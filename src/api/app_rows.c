/* app_rows.c - finds the applications in the rows of a lease table (app_rows.h). Rows of the native layout
 * are read by their schema, one application and stream after the other. In rows of other layouts, only the
 * attributes that the registry (guest/layouts.h) names are read. */
#include "api/app_rows.h"

#include "base/mem.h"
#include "core/position.h"
#include "guest/layouts.h"
#include "lease/schema.h"
#include "lease/snapshot.h"
#include "lease/store.h"
#include "store/schema_sloop.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 300
/* the clocks of two machines may differ by this much, or a heartbeat may be late by it */
#define SKEW_MS 30000

typedef struct tagged { /* a row, and the application and stream that it belongs to */
  slp_str app, stream;
  const slp_row *row;
} tagged;

typedef struct search {
  slp_mem *mem;
  const char *table;
  int64_t wall_ms;
  void (*tell)(void *arg, const slp_found_app *app);
  void *arg;
} search;

static int by_app(const void *a, const void *b) {
  const tagged *x = a, *y = b;
  int order = slp_str_cmp(x->app, y->app);
  return order ? order : slp_str_cmp(x->stream, y->stream);
}

static void copy_text(char to[NAME_MAX_BYTES], slp_str from) {
  snprintf(to, NAME_MAX_BYTES, "%.*s", (int)slp_min_u64(from.n, NAME_MAX_BYTES - 1), from.n ? from.p : "");
}

/* Returns the part of s before the last `mark`; all of s if there is none. */
static slp_str before_last(slp_str s, char mark) {
  for (size_t n = s.n; n > 0; n--)
    if (s.p[n - 1] == mark) return (slp_str){s.p, n - 1};
  return s;
}

/* ---- the native layout --------------------------------------------------------------------------------- */

/* Reads the application and the prefix from the keys of a native row. Returns 0 if the row is not native. The
 * prefix is STREAM@GENERATION; leases under further partition keys have APP+NUMBER and the letter s. */
static int tag_native(const slp_row *row, tagged *ret) {
  slp_str app = slp_row_text(row, SLP_STR("app")), name = slp_row_text(row, SLP_STR("row"));
  const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;
  if (!app.n || !slash) return 0;
  slp_str prefix = {name.p, (size_t)(slash - name.p)};
  size_t rest = name.n - prefix.n - 1;
  if (!memchr(prefix.p, '@', prefix.n)) return 0;
  if (rest > 2 && slash[1] == 's' && slash[2] == '/') app = before_last(app, '+');
  *ret = (tagged){app, prefix, row};
  return 1;
}

static int is_alive(const slp_worker_row *w, int64_t wall_ms) {
  return !w->gone.n && (w->wall_ms < 0 || wall_ms - w->wall_ms <= (int64_t)w->lease_ms + SKEW_MS);
}

/* Returns how far a living worker is behind now: the lag in its row plus the age of the row; -1: not known.
 * The result is 0 if the worker has no leases. If the lag in the row is 0, the worker counts as at the tip
 * until the row is older than a lease time. */
static int64_t behind_of(const slp_worker_row *w, int64_t wall_ms) {
  int64_t age_ms = slp_max_i64(wall_ms - w->wall_ms, 0);
  if (!w->held) return 0;
  if (w->behind_ms < 0 || w->wall_ms < 0) return -1;
  return w->behind_ms || age_ms > (int64_t)w->lease_ms ? slp_add_i64(w->behind_ms, age_ms) : 0;
}

static void sum_up(const slp_snapshot *s, int64_t wall_ms, slp_found_app *ret) {
  const slp_hold *hold = &s->leadership.hold;
  int unknown = 0, reads = 0;
  for (size_t i = 0; i < s->workers_n; i++) {
    const slp_worker_row *w = &s->workers[i];
    /* a silent worker counts too, as for --drain: perhaps its process is only stopped, and reads on later */
    reads |= !w->gone.n && (w->hold_version < hold->version || w->held);
    if (!is_alive(&s->workers[i], wall_ms)) continue;
    int64_t behind_ms = behind_of(&s->workers[i], wall_ms);
    unknown |= behind_ms < 0;
    ret->workers++;
    ret->behind_ms = slp_max_i64(ret->behind_ms, behind_ms);
  }
  for (size_t i = 0; i < s->leases_n; i++) {
    int open = s->leases[i].position.kind != SLP_POSITION_END;
    ret->leases += open;
    const slp_worker_row *owner = slp_snapshot_worker_of(s, s->leases[i].owner);
    /* if the owner's row shows no leases yet, the lag in that row does not cover this lease */
    unknown |= open && (!owner || !owner->held);
  }
  if (unknown) ret->behind_ms = -1;
  ret->drained = hold->on && !reads;
  ret->draining = hold->on && reads;
}

/* Calls f->tell for one application and stream, whose rows are all[0] to all[n-1]. */
static int tell_native(search *f, const tagged *all, size_t n) {
  char app[NAME_MAX_BYTES], stream[NAME_MAX_BYTES];
  slp_str name = before_last(all[0].stream, '@');
  slp_str generation = {name.p + name.n + 1, all[0].stream.n - name.n - 1};
  slp_found_app found = {
      .app = app, .schema = "sloop", .stream = stream, .table = f->table, .behind_ms = -1, .why = ""};
  slp_schema *schema = slp_schema_sloop(f->mem, all[0].app, name, generation);
  slp_store_rows rows;
  slp_snapshot s;
  int r = schema ? 0 : SLP_ENOMEM;
  slp_store_rows_init(&rows, f->mem);
  for (size_t i = 0; i < n && !r; i++) r = slp_store_rows_copy(&rows, all[i].row);
  if (!r) schema->spread = slp_spread_of_rows(schema, &rows);
  if (!r) r = slp_snapshot_make(&s, schema, &rows);
  if (!r) {
    copy_text(app, all[0].app);
    copy_text(stream, name);
    sum_up(&s, f->wall_ms, &found);
    found.owners = found.workers;
    f->tell(f->arg, &found);
  }
  slp_store_rows_free(&rows);
  if (schema) schema->free(schema);
  return r;
}

/* ---- other layouts ------------------------------------------------------------------------------------- */

static int row_has_attribute(const slp_row *row, const char *name) {
  return !name || slp_row_get(row, slp_str_of(name))->kind != SLP_VAL_NONE;
}

/* Returns the layout whose rows these are: the first layout with these keys whose mark some row has. */
static const slp_layout *layout_of(const char *hash, const char *range, const slp_store_rows *rows) {
  const slp_layout *l;
  for (size_t i = 0; (l = slp_layout_at_place(i)); i++) {
    if (strcmp(l->hash, hash) != 0 || strcmp(l->range, range) != 0) continue;
    for (size_t k = 0; k < rows->n; k++)
      if (row_has_attribute(&rows->rows[k], l->mark)) return l;
  }
  return NULL;
}

/* Returns the stream in a key of the KCL, ACCOUNT:STREAM:EPOCH:SHARD. Returns an empty text for another
 * key. */
static slp_str stream_of_key(slp_str key) {
  slp_str name = before_last(before_last(key, ':'), ':');
  const char *colon = name.n < key.n && name.n ? memchr(name.p, ':', name.n) : NULL;
  if (!colon) return (slp_str){"", 0};
  return (slp_str){colon + 1, name.n - (size_t)(colon + 1 - name.p)};
}

static int by_text(const void *a, const void *b) {
  return slp_str_cmp(*(const slp_str *)a, *(const slp_str *)b);
}

/* Counts the different owners of these leases. Returns -1 if there is no memory. */
static int64_t count_owners(search *f, const slp_layout *l, const tagged *all, size_t n) {
  slp_str *owners = slp_zalloc_n(f->mem, n + 1, sizeof *owners);
  size_t named = 0;
  int64_t different = 0;
  if (!owners) return -1;
  for (size_t i = 0; i < n; i++) {
    slp_str owner = slp_row_text(all[i].row, slp_str_of(l->owner));
    if (owner.n && !slp_str_is(owner, l->nobody)) owners[named++] = owner;
  }
  if (named) qsort(owners, named, sizeof *owners, by_text);
  for (size_t i = 0; i < named; i++) different += !i || !slp_str_eq(owners[i - 1], owners[i]);
  slp_free(f->mem, owners);
  return different;
}

static int tell_guest(search *f, const slp_layout *l, const tagged *all, size_t n) {
  char app[NAME_MAX_BYTES], stream[NAME_MAX_BYTES];
  slp_found_app found = {.app = app,
                         .schema = l->name,
                         .stream = stream,
                         .table = f->table,
                         .workers = -1,
                         .owners = count_owners(f, l, all, n),
                         .behind_ms = -1,
                         .why = ""};
  if (found.owners < 0) return SLP_ENOMEM;
  copy_text(app, all[0].app);
  copy_text(stream, all[0].stream);
  for (size_t i = 0; i < n; i++)
    found.leases += !l->position || !slp_str_is(slp_row_text(all[i].row, slp_str_of(l->position)), l->ended);
  f->tell(f->arg, &found);
  return 0;
}

/* Returns the name of the application: the name of its table without the suffix that the layout adds. */
static slp_str app_of_table(const slp_layout *l, const char *table) {
  slp_str app = slp_str_of(table);
  size_t n = l->ends[0] ? strlen(l->ends[0]) : 0;
  if (n && app.n > n && memcmp(app.p + app.n - n, l->ends[0], n) == 0) app.n -= n;
  return app;
}

/* Calls f->tell for a table without rows, because it may belong to an application that has not begun. */
static void tell_empty(search *f, const char *hash, const char *range) {
  char schemas[120];
  slp_layouts_of_keys(hash, range, schemas, sizeof schemas);
  slp_found_app found = {.app = f->table,
                         .schema = schemas,
                         .stream = "",
                         .table = f->table,
                         .workers = -1,
                         .behind_ms = -1,
                         .why = ""};
  f->tell(f->arg, &found);
}

/* ---- a table ------------------------------------------------------------------------------------------- */

/* Fills `all` with the rows that belong to an application. Returns how many there are. */
static size_t tag_rows(const slp_layout *l, const char *table, const slp_store_rows *rows, tagged *all) {
  size_t n = 0;
  for (size_t i = 0; i < rows->n; i++) {
    const slp_row *row = &rows->rows[i];
    if (!l->own_table) {
      n += (size_t)tag_native(row, &all[n]);
    } else if (row_has_attribute(row, l->mark)) {
      slp_str key = slp_row_text(row, slp_str_of(l->hash));
      all[n++] = (tagged){app_of_table(l, table), l->one_stream ? SLP_STR("") : stream_of_key(key), row};
    }
  }
  return n;
}

int slp_app_rows_tell(slp_mem *mem, const char *table, const char *hash, const char *range,
                      const slp_store_rows *rows, int64_t wall_ms,
                      void (*tell)(void *arg, const slp_found_app *app), void *arg) {
  search f = {mem, table, wall_ms, tell, arg};
  const slp_layout *l = layout_of(hash, range, rows);
  if (!l) {
    if (!*range && !rows->n) tell_empty(&f, hash, range);
    return 0;
  }
  tagged *all = slp_zalloc_n(mem, rows->n + 1, sizeof *all);
  if (!all) return SLP_ENOMEM;
  size_t n = tag_rows(l, table, rows, all);
  int r = 0;
  if (n) qsort(all, n, sizeof *all, by_app);
  for (size_t from = 0, to; from < n && !r; from = to) {
    for (to = from + 1; to < n && by_app(&all[from], &all[to]) == 0;) to++;
    r = l->own_table ? tell_guest(&f, l, &all[from], to - from) : tell_native(&f, &all[from], to - from);
  }
  slp_free(mem, all);
  return r;
}
