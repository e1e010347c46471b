/* assign.c - the leader's decision which worker should read which lease. A lease stays with the worker that
 * reads it, unless the shares would be unfair. Only assignment rows that change are written. */
#include "lease/assign.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/election.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/lease_rules.h"
#include "lease/refused.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"

/* In one round (leader.c) a worker gives up at most MOVES_MIN leases that it reads, or a tenth of an even
 * share if that is more. */
#define MOVES_MIN 20
/* the same in the first seconds of a new application: its first leader has taken up to so many leases
 * (leader.c), also for workers that join a moment later */
#define MOVES_START 64
/* after this time the next round begins, if a worker has more leases to give up than one round moves */
#define MORE_US 2000000
/* If a worker gave a lease up because the shard made no progress, the lease is not assigned to that worker
 * again for AVOID_MS. */
#define AVOID_MS (INT64_C(10) * 60 * 1000)
/* A lease is stuck if UNOWNED_MAX counting rounds in a row found it assigned to a worker that has not become
 * its owner: it has no owner, or still its former one. Counting rounds are a minute apart. */
#define UNOWNED_MAX 3

void slp_assign_begin(slp_fleet *f) { f->assign.base = f->assign.serial = 0; }

/* ---- what the rows assign now ---------------------------------------------------------------------- */

static uint32_t number_of(const slp_snapshot *s, const slp_worker_row *w) {
  return w ? (uint32_t)(w - s->workers) : SLP_NOBODY;
}

static void assign_one(const slp_snapshot *s, slp_assign *p, slp_str shard, uint32_t worker, int proposal) {
  const slp_lease_row *l = slp_snapshot_lease_of(s, shard);
  if (!l) return;
  slp_assign_lease *to = &p->leases[l - s->leases];
  int better = to->assigned == SLP_NOBODY || !p->workers[to->assigned].takes;
  if (better || (proposal && p->workers[worker].takes)) to->assigned = worker;
}

static void fill_assigned(const slp_snapshot *s, slp_assign *p) {
  for (int proposal = 0; proposal < 2; proposal++) {
    for (size_t i = 0; i < s->assignments_n; i++) {
      const slp_assignment_row *row = &s->assignments[i];
      uint32_t w = number_of(s, slp_snapshot_worker(s, row->worker));
      slp_shard_set_reader r;
      slp_str id;
      if (w == SLP_NOBODY) continue;
      slp_shard_set_begin(&r, row->set);
      while (!proposal && slp_shard_set_next(&r, &id) == 1) assign_one(s, p, id, w, 0);
      for (size_t k = 0; proposal && k < row->plus_n; k++) assign_one(s, p, row->plus[k], w, 1);
    }
  }
}

/* Returns 1 if the lease is stuck: for several counting rounds, the worker to which it is assigned has not
 * become its owner. A living owner may keep the lease although another worker asks for it. Then it does not
 * know that it is the owner (the table was restored from a backup). The caller assigns the lease to that
 * owner again, so the owner finds out. */
static int is_stuck(slp_seen_shard *seen, int counts, const slp_assign *p, const slp_assign_lease *l) {
  int waits = !l->out && l->assigned != SLP_NOBODY && l->assigned != l->owner;
  int owned = waits && l->owner != SLP_NOBODY && p->workers[l->assigned].takes;
  if (counts) seen->stuck_n = owned ? seen->stuck_n + 1 : 0;
  return owned ? seen->stuck_n >= UNOWNED_MAX : waits && seen->unowned_n >= UNOWNED_MAX;
}

static void fill_from_rows(slp_fleet *f, const slp_snapshot *s, int counts, slp_assign *p) {
  for (size_t i = 0; i < s->workers_n; i++) {
    p->workers[i].weight = s->workers[i].weight ? s->workers[i].weight : 1;
    p->workers[i].takes = (uint8_t)slp_worker_takes(&s->workers[i]);
    if (SLP_MUTANT(assigned_by_wall_clock) && slp_wall_ms(f->h) - s->workers[i].wall_ms > f->o.lease_ms)
      p->workers[i].takes = 0;
  }
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    slp_assign_lease *to = &p->leases[i];
    to->assigned = to->avoid = SLP_NOBODY;
    to->owner = number_of(s, slp_snapshot_worker_of(s, l->owner));
    int64_t now_ms = slp_wall_ms(f->h), age = now_ms - l->avoid_ms;
    to->out = l->position.kind == SLP_POSITION_END || l->parked ||
              (to->owner == SLP_NOBODY && slp_refused_waits(l, now_ms));
    if (l->avoid.n && age >= 0 && age < AVOID_MS)
      to->avoid = number_of(s, slp_snapshot_worker_of(s, l->avoid));
  }
  fill_assigned(s, p);
  for (size_t i = 0; i < s->leases_n; i++) {
    slp_seen_shard *seen = slp_seen_get(f, s->leases[i].shard);
    slp_assign_lease *l = &p->leases[i];
    if (!seen || !is_stuck(seen, counts, p, l)) continue;
    l->avoid = l->assigned;
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, s->leases[i].shard, 0, "%s though it was assigned long ago",
                   l->owner == SLP_NOBODY ? "has no owner" : "is not handed over");
  }
}

/* ---- which rows are written --------------------------------------------------------------------- */

static const slp_assignment_row *assignment_of(const slp_snapshot *s, slp_str id) {
  for (size_t i = 0; i < s->assignments_n; i++)
    if (slp_str_eq(s->assignments[i].worker, id)) return &s->assignments[i];
  return NULL;
}

/* Returns 1 if the assignment row of worker w need not be written: it already has exactly the leases that the
 * plan p gives to w, and the hold that the leader knows (hold.h). */
static int is_so(const slp_snapshot *s, const slp_assign *p, uint32_t w, const slp_assignment_row *row,
                 const slp_hold *hold) {
  slp_shard_set_reader r;
  slp_str id;
  uint32_t n = 0;
  int more;
  if (!row) return p->workers[w].ret_n == 0 && !hold->version;
  if (row->plus_n || row->hold.version != hold->version) return 0;
  slp_shard_set_begin(&r, row->set);
  while ((more = slp_shard_set_next(&r, &id)) == 1) {
    const slp_lease_row *l = slp_snapshot_lease_of(s, id);
    if (!l || p->leases[l - s->leases].ret != w) return 0;
    n++;
  }
  return !more && n == p->workers[w].ret_n;
}

/* Returns the number of leases whose shards are to be read. The more there are, the longer each worker waits
 * between its checkpoints. */
static uint64_t leases_of(const slp_assign *p) {
  uint64_t n = 0;
  for (size_t i = 0; i < p->leases_n; i++) n += !p->leases[i].out;
  return n;
}

static int write_row(slp_fleet *f, const slp_snapshot *s, const slp_assign *p, uint32_t w,
                     const slp_assignment_row *row) {
  size_t plus_n = row ? row->plus_n : 0, text = s->workers[w].id.n;
  slp_str *ids = slp_zalloc_n(f->mem, p->workers[w].ret_n + 1, sizeof *ids);
  slp_buf set;
  slp_operation *i = NULL;
  size_t n = 0;
  slp_buf_init(&set, f->mem, 350000);
  for (size_t k = 0; k < plus_n; k++) text += row->plus[k].n;
  for (size_t k = 0; k < s->leases_n && ids; k++)
    if (p->leases[k].ret == w) ids[n++] = s->leases[k].shard;
  int r = ids ? slp_shard_set_write(&set, ids, n) : SLP_ENOMEM;
  if (r == SLP_ELIMIT)
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, (slp_str){NULL, 0}, 0,
                   "%zu leases are too many for the row of one worker: more workers are needed", n);
  if (!r) i = slp_bulk_write_add(f, SLP_OPERATION_ASSIGN, text + set.n, plus_n);
  if (i) {
    i->id = slp_bulk_write_text(f, s->workers[w].id);
    i->version = f->assign.base + ++f->assign.serial;
    i->leases = leases_of(p);
    i->hold = slp_hold_known(f);
    i->set = slp_bulk_write_text(f, slp_buf_str(&set));
    i->shards_n = plus_n;
    for (size_t k = 0; k < plus_n; k++) slp_bulk_write_list(f)[k] = slp_bulk_write_text(f, row->plus[k]);
  }
  slp_buf_free(&set);
  slp_free(f->mem, ids);
  /* SLP_ELIMIT: the row of this worker would be too large, so it is left out; the rows of other workers are
   * written */
  return i || r == SLP_ELIMIT ? 0 : SLP_ENOMEM;
}

/* Chooses the base of the version numbers, so that a new leader's versions are greater than those of every
 * earlier leader. */
static void choose_base(slp_fleet *f, const slp_snapshot *s) {
  if (f->assign.base) return;
  f->assign.base = slp_election_epoch(f) * 1000000;
  for (size_t i = 0; i < s->assignments_n; i++)
    f->assign.base = slp_max_u64(f->assign.base, s->assignments[i].version);
}

/* The service has refused the positions of some leases; each of these leases may be tried again after some
 * time. Returns the time until the first of them may be tried; SLP_NEVER: there is none. */
static uint64_t retry_us(slp_fleet *f, const slp_snapshot *s) {
  int64_t now_ms = slp_wall_ms(f->h), least_ms = INT64_MAX;
  for (size_t i = 0; i < s->leases_n; i++)
    if (slp_refused_waits(&s->leases[i], now_ms))
      least_ms = slp_min_i64(least_ms, slp_refused_until_ms(&s->leases[i]) - now_ms);
  return least_ms == INT64_MAX ? SLP_NEVER : (uint64_t)least_ms * 1000;
}

/* Returns the time until leases should be assigned again. MORE_US: some worker still has as many leases to
 * give up as one round may move. SLP_NEVER: no more leases need to move. */
static uint64_t again_us(const slp_assign *p) {
  for (size_t w = 0; w < p->workers_n; w++) {
    uint32_t n = 0;
    for (size_t i = 0; i < p->leases_n; i++) n += p->leases[i].owner == w && p->leases[i].ret != w;
    if (p->workers[w].takes && n >= p->moves_max) return MORE_US;
  }
  return SLP_NEVER;
}

static int write_all(slp_fleet *f, const slp_snapshot *s, int counts, slp_assign *p, uint64_t *ret_again_us) {
  fill_from_rows(f, s, counts, p);
  if (slp_assign_make(p, f->mem)) return SLP_ENOMEM;
  choose_base(f, s);
  slp_hold hold = slp_hold_known(f);
  *ret_again_us = slp_min_u64(again_us(p), retry_us(f, s));
  for (uint32_t w = 0; w < p->workers_n; w++) {
    const slp_assignment_row *row = assignment_of(s, s->workers[w].id);
    if (!p->workers[w].takes || is_so(s, p, w, row, &hold)) continue;
    if (write_row(f, s, p, w, row)) return SLP_ENOMEM;
  }
  return 0;
}

/* Returns how many leases may move away from one worker in one round. After each new assignment every worker
 * looks at all its leases. So a large share moves in a few large steps, each a tenth of a share, and not in
 * many small ones. */
static uint32_t moves_max(const slp_snapshot *s, int starts) {
  uint64_t least = starts ? MOVES_START : MOVES_MIN;
  return (uint32_t)slp_max_u64(least, s->leases_n / (s->workers_n + 1) / 10);
}

int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, int starts, uint64_t *ret_again_us) {
  slp_assign p = {NULL, s->workers_n, NULL, s->leases_n, moves_max(s, starts)};
  p.workers = slp_zalloc_n(f->mem, s->workers_n + 1, sizeof *p.workers);
  p.leases = slp_zalloc_n(f->mem, s->leases_n + 1, sizeof *p.leases);
  *ret_again_us = SLP_NEVER;
  if (!p.workers || !p.leases || write_all(f, s, counts, &p, ret_again_us)) {
    slp_bulk_write_stop(f);
    *ret_again_us = slp_min_u64(*ret_again_us, 1000000);
  }
  slp_free(f->mem, p.workers);
  slp_free(f->mem, p.leases);
  return slp_bulk_write_n(f) > 0;
}
