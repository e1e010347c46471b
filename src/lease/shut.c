/* shut.c - remembers from one round (leader.c) to the next which leases no worker reads (shut.h). */
#include "lease/shut.h"

#include "base/mem.h"
#include "base/states.h"
#include "core/leases.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/refused.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/shut_part.h"
#include "lease/snapshot.h"

#include <sloop.h>

/* at most this many leases are remembered one by one; the others are only counted */
#define NAMED_MAX 100u
/* When the back-off of a refused position is over, a worker tries the position again. Until it gets the
 * answer, the row still shows the old refusal. So the lease counts as refused until TRIED_MS after the
 * back-off. */
#define TRIED_MS INT64_C(15000)

/* a lease whose shard no worker reads */
struct slp_shut_row {
  char shard[SLP_SHARD_ID_MAX + 1];
  uint8_t refused;
  uint64_t since_us;
};

static int is_refused(const slp_lease_row *row, int64_t wall_ms) {
  return slp_refused_waits(row, wall_ms) || slp_refused_waits(row, wall_ms - TRIED_MS);
}

static uint64_t us_of_wall(slp_fleet *f, int64_t at_ms) {
  uint64_t now = slp_fleet_now(f), ago_us = (uint64_t)slp_max_i64(slp_wall_ms(f->h) - at_ms, 0) * 1000;
  return now > ago_us ? now - ago_us : 1;
}

/* Returns since when no worker reads the lease. If the row does not say, returns when this worker first saw
 * it. */
static uint64_t shut_since_us(slp_fleet *f, const slp_lease_row *row) {
  if (!row->parked) return us_of_wall(f, row->refused_ms);
  if (row->wall_ms >= 0) return us_of_wall(f, row->wall_ms);
  for (size_t i = 0; i < f->shut.named_n; i++)
    if (slp_str_is(row->shard, f->shut.named[i].shard)) return f->shut.named[i].since_us;
  return slp_fleet_now(f);
}

static void name_row(slp_fleet *f, slp_shut_row *named, size_t *n, const slp_lease_row *row) {
  if (!named || *n == NAMED_MAX || row->shard.n > SLP_SHARD_ID_MAX) return;
  slp_shut_row *to = &named[(*n)++];
  memcpy(to->shard, row->shard.p, row->shard.n);
  to->refused = !row->parked;
  to->since_us = shut_since_us(f, row);
}

void slp_shut_saw(slp_fleet *f, const slp_snapshot *s) {
  slp_shut now = {.seen_us = slp_fleet_now(f)};
  int64_t wall_ms = slp_wall_ms(f->h);
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *row = &s->leases[i];
    int refused = !row->parked && is_refused(row, wall_ms);
    if (row->position.kind == SLP_POSITION_END || (!row->parked && !refused)) continue;
    /* without memory, the leases are counted but not reported one by one */
    if (!now.named) now.named = slp_zalloc_n(f->mem, NAMED_MAX, sizeof *now.named);
    name_row(f, now.named, &now.named_n, row);
    now.parked_n += row->parked;
    now.refused_n += (uint64_t)refused;
  }
  slp_shut_forget(f);
  f->shut = now;
}

void slp_shut_forget(slp_fleet *f) {
  slp_free(f->mem, f->shut.named);
  f->shut = (slp_shut){0};
}

static int64_t ms_since(slp_fleet *f, uint64_t at_us) {
  uint64_t now = slp_fleet_now(f);
  return now > at_us ? (int64_t)((now - at_us) / 1000) : 0;
}

static int is_taken(slp_fleet *f, const slp_shut_row *row) {
  const slp_lease *l = slp_lease_get(f, slp_str_of(row->shard));
  return l && slp_lease_in(l, SLP_LEASE_HELD);
}

static void tell_named(slp_fleet *f, slp_shut_sum *sum, slp_shut_tell tell, void *arg) {
  for (size_t i = 0; i < f->shut.named_n; i++) {
    const slp_shut_row *row = &f->shut.named[i];
    if (is_taken(f, row)) { /* this worker has taken the lease since the last round, so it is not counted */
      sum->parked_n -= !row->refused;
      sum->refused_n -= row->refused;
      continue;
    }
    slp_shut_lease one = {row->shard, row->refused ? SLOOP_SHARD_IS_REFUSED : SLOOP_SHARD_IS_PARKED,
                          ms_since(f, row->since_us), ""};
    sum->longest_ms = slp_max_i64(sum->longest_ms, one.ms);
    if (tell) tell(&one, arg);
  }
}

static int copy_id(slp_str id, char out[SLP_SHARD_ID_MAX + 1]) {
  if (id.n > SLP_SHARD_ID_MAX) return 0;
  if (id.n) memcpy(out, id.p, id.n);
  out[id.n] = 0;
  return 1;
}

/* Reports the lease l if this worker keeps it parked, or if it waits for a parent shard. Does nothing for
 * other leases. */
static void tell_own(slp_lease *l, slp_shut_sum *sum, slp_shut_tell tell, void *arg) {
  char shard[SLP_SHARD_ID_MAX + 1], parent[SLP_SHARD_ID_MAX + 1] = "";
  int parked = slp_lease_in(l, SLP_BIT(SLP_LEASE_PARKED));
  int first = l->gate.parents[0] == SLP_PARENT_UNFINISHED && l->row.parents[0].n;
  if (!parked && !slp_lease_in(l, SLP_BIT(SLP_LEASE_WAITING))) return;
  if (!copy_id(l->shard, shard) || (!parked && !copy_id(l->row.parents[first ? 0 : 1], parent))) return;
  if (!parked && !parent[0]) return; /* the lease waits for no parent, so its shard will be read soon */
  slp_shut_lease one = {shard, parked ? SLOOP_SHARD_IS_PARKED : SLOOP_SHARD_WAITS_FOR_PARENT,
                        parked ? ms_since(l->f, l->parked_us) : -1, parent};
  sum->parked_n += (uint64_t)parked;
  sum->longest_ms = slp_max_i64(sum->longest_ms, one.ms);
  if (tell) tell(&one, arg);
}

void slp_fleet_shut(slp_fleet *f, slp_shut_sum *ret, slp_shut_tell tell, void *arg) {
  size_t at = 0;
  *ret = (slp_shut_sum){.parked_n = f->shut.parked_n, .refused_n = f->shut.refused_n, .longest_ms = -1};
  ret->rows_age_ms = f->shut.seen_us ? ms_since(f, f->shut.seen_us) : -1;
  tell_named(f, ret, tell, arg);
  for (slp_lease *l; (l = slp_lease_each(f, &at));) tell_own(l, ret, tell, arg);
}
