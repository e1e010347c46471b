/* watch_rows.c - filters and sorts the rows of --watch. */
#include "cli/watch_rows.h"

#include "base/mem.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"
#include "cli/watch_ui.h"

#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>

static char lower_copy(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int slp_watch_matches(const char *text, const char *filter) {
  for (;; text++) {
    size_t n = 0;
    while (filter[n] && text[n] && lower_copy(text[n]) == lower_copy(filter[n])) n++;
    if (!filter[n]) return 1;
    if (!*text) return 0;
  }
}

/* Returns 1 if the row's shard, state or owner contains the filter. Compares the owner's id and not the whole
 * instance, because its last part is random. */
static int is_wanted(const slp_watch_row *row, const char *filter) {
  char id[SLP_WORKER_ID];
  slp_worker_id(row->lease->owner, id);
  return slp_watch_matches(slp_shard_short(row->lease->shard), filter) ||
         slp_watch_matches(slp_lease_mood_word(row->mood), filter) || slp_watch_matches(id, filter);
}

int slp_watch_rows_make(slp_watch_rows *r, slp_mem *mem, const sloop_leases_t *leases, int64_t wall_ms,
                        const slp_watch_ui *ui_or_null) {
  *r = (slp_watch_rows){.mem = mem, .row = slp_zalloc_n(mem, leases->leases_n + 1, sizeof *r->row)};
  if (!r->row) return SLP_ENOMEM;
  for (size_t i = 0; i < leases->leases_n; i++) {
    const sloop_lease_t *l = leases->leases[i];
    const sloop_worker_t *owner = *l->owner ? slp_lease_worker(leases, l->owner) : NULL;
    slp_watch_row *row = &r->row[r->n];
    *row = (slp_watch_row){l, owner, slp_lease_mood_in(l, leases), slp_lease_lag_by(l, owner, wall_ms)};
    r->n += !ui_or_null || is_wanted(row, ui_or_null->filter);
  }
  return 0;
}

void slp_watch_rows_free(slp_watch_rows *r) {
  slp_free(r->mem, r->row);
  *r = (slp_watch_rows){.n = 0};
}

/* ---- order --------------------------------------------------------------------------------------------- */

static int by_shard(const void *va, const void *vb) {
  const slp_watch_row *a = va, *b = vb;
  return strcmp(a->lease->shard, b->lease->shard);
}

/* Compares by urgency: leases in trouble first, then the greatest lag, and last the shards that were read to
 * their end. */
static int by_urgency(const void *va, const void *vb) {
  const slp_watch_row *a = va, *b = vb;
  if (a->mood != b->mood) return a->mood < b->mood ? -1 : 1;
  if (a->lag.ms != b->lag.ms) return a->lag.ms > b->lag.ms ? -1 : 1;
  return by_shard(a, b);
}

/* Compares by lag, the greatest first. After all known lags come the unknown ones, and last the ended
 * shards. */
static int by_lag(const void *va, const void *vb) {
  const slp_watch_row *a = va, *b = vb;
  int ea = a->mood == SLP_LEASE_IS_ENDED, eb = b->mood == SLP_LEASE_IS_ENDED;
  if (ea != eb) return ea - eb;
  if (a->lag.ms != b->lag.ms) return a->lag.ms > b->lag.ms ? -1 : 1;
  return by_shard(a, b);
}

/* Compares by owner. Shards without an owner come first. */
static int by_worker(const void *va, const void *vb) {
  const slp_watch_row *a = va, *b = vb;
  int c = strcmp(a->lease->owner, b->lease->owner);
  return c ? c : by_shard(a, b);
}

static int by_rate(const void *va, const void *vb) {
  const slp_watch_row *a = va, *b = vb;
  int64_t ra = a->owner ? a->owner->rate_bytes : -1, rb = b->owner ? b->owner->rate_bytes : -1;
  if (ra != rb) return ra > rb ? -1 : 1;
  return by_worker(a, b);
}

void slp_watch_rows_sort(slp_watch_rows *r, slp_watch_sort sort) {
  static int (*const orders[SLP_SORTS])(const void *, const void *) = {[SLP_SORT_URGENT] = by_urgency,
                                                                       [SLP_SORT_LAG] = by_lag,
                                                                       [SLP_SORT_SHARD] = by_shard,
                                                                       [SLP_SORT_WORKER] = by_worker,
                                                                       [SLP_SORT_RATE] = by_rate};
  qsort(r->row, r->n, sizeof *r->row, orders[sort]);
}

/* ---- the choice ---------------------------------------------------------------------------------------- */

void slp_watch_rows_choose(const slp_watch_rows *r, slp_watch_ui *ui, size_t lines) {
  size_t at = 0;
  if (!r->n) {
    ui->shard[0] = 0;
    ui->step = 0;
    ui->top = 0;
    return;
  }
  if (ui->picks)
    while (at < r->n && strcmp(r->row[at].lease->shard, ui->shard) != 0) at++;
  if (at == r->n) at = 0; /* the chosen shard is gone, or the filter hides it */
  int64_t to = slp_max_i64((int64_t)at + ui->step, 0);
  at = (size_t)slp_min_u64((uint64_t)to, r->n - 1);
  ui->step = 0;
  snprintf(ui->shard, sizeof ui->shard, "%s", r->row[at].lease->shard);
  if (at < ui->top) ui->top = at;
  if (lines && at >= ui->top + lines) ui->top = at - lines + 1;
  if (ui->top + lines > r->n) ui->top = r->n > lines ? r->n - lines : 0;
}
