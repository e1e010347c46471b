/* assign.c - the leader assigns leases to workers: a lease stays with its owner as far as fairness allows,
 * and only assignment rows that change are written. */
#include "lease/fleet_inside.h"

#include "lease/lease_rules.h"
#include "lease/shard_set.h"

#define MOVES_MIN 20    /* of one worker's leases, that may move in one plan; or a tenth of an even share */
#define MORE_US 2000000 /* until the next, when it had so many */
#define AVOID_MS \
  (INT64_C(10) * 60 * 1000) /* a worker that could not read a shard does not get it back sooner */
#define UNOWNED_MAX 3       /* audits that a planned lease may stay nobody's, or with its former owner */

/* ---- the rows ------------------------------------------------------------------------------------ */

void slp_snapshot_ask(slp_fleet *f, int exact, void (*on_done)(slp_store_req *rq)) {
  f->snapshot_busy = 1;
  f->stats.reads++;
  memset(&f->snapshot.rq, 0, sizeof f->snapshot.rq);
  f->snapshot.rq.on_done = on_done;
  f->snapshot.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 2, 20);
  f->schema->scope(f->schema, &f->snapshot.hash, &f->snapshot.prefix);
  f->snapshot.consistent = (uint8_t)exact;
  f->store->ops->list(f->store, &f->snapshot);
}

int slp_snapshot_sort(slp_fleet *f, slp_snapshot *ret) {
  if (slp_snapshot_make(ret, f->schema, &f->snapshot.out)) return SLP_ENOMEM;
  for (size_t i = 0; i < ret->bad_n && f->sync_in_round; i++)
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &ret->bad[i].key, ret->bad[i].why);
  return 0;
}

/* ---- what is planned now ----------------------------------------------------------------------- */

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

/* It waits too long for the worker it is planned for. Where its owner has not given it up though that was
 * asked of him, he does not know of it (the table is from a backup): planned for him again he will. */
static int is_stuck(slp_fleet *f, slp_seen_shard *seen, const slp_assign *p, const slp_assign_lease *l) {
  int waits = !l->out && l->assigned != SLP_NOBODY && l->assigned != l->owner;
  int owned = waits && l->owner != SLP_NOBODY && p->workers[l->assigned].takes;
  if (f->sync_in_round) seen->stuck_n = owned ? seen->stuck_n + 1 : 0;
  return owned ? seen->stuck_n >= UNOWNED_MAX : waits && seen->unowned_n >= UNOWNED_MAX;
}

static void fill(slp_fleet *f, const slp_snapshot *s, slp_assign *p) {
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
    to->out = l->position.kind == SLP_POSITION_END || l->parked;
    int64_t age = slp_wall_ms(f->h) - l->wall_ms;
    if (l->avoid.n && age >= 0 && age < AVOID_MS)
      to->avoid = number_of(s, slp_snapshot_worker_of(s, l->avoid));
  }
  fill_assigned(s, p);
  for (size_t i = 0; i < s->leases_n; i++) {
    slp_seen_shard *seen = slp_map_get(&f->seen_shards, s->leases[i].shard);
    slp_assign_lease *l = &p->leases[i];
    if (!seen || !is_stuck(f, seen, p, l)) continue;
    l->avoid = l->assigned;
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, s->leases[i].shard, 0, "%s though it was planned long ago",
                   l->owner == SLP_NOBODY ? "is nobody's" : "is not handed over");
  }
}

/* ---- what is written of it --------------------------------------------------------------------- */

static const slp_assignment_row *assignment_of(const slp_snapshot *s, slp_str id) {
  for (size_t i = 0; i < s->assignments_n; i++)
    if (slp_str_eq(s->assignments[i].worker, id)) return &s->assignments[i];
  return NULL;
}

/* 1: the row says just that already. */
static int is_so(const slp_snapshot *s, const slp_assign *p, uint32_t w, const slp_assignment_row *row) {
  slp_shard_set_reader r;
  slp_str id;
  uint32_t n = 0;
  int more;
  if (!row) return p->workers[w].ret_n == 0;
  if (row->plus_n) return 0;
  slp_shard_set_begin(&r, row->set);
  while ((more = slp_shard_set_next(&r, &id)) == 1) {
    const slp_lease_row *l = slp_snapshot_lease_of(s, id);
    if (!l || p->leases[l - s->leases].ret != w) return 0;
    n++;
  }
  return !more && n == p->workers[w].ret_n;
}

/* All that are read: how often each may be saved depends on it. */
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
    i->plan = f->version_base + ++f->version_serial;
    i->leases = leases_of(p);
    i->set = slp_bulk_write_text(f, slp_buf_str(&set));
    i->shards_n = plus_n;
    for (size_t k = 0; k < plus_n; k++) slp_bulk_write_list(f)[k] = slp_bulk_write_text(f, row->plus[k]);
  }
  slp_buf_free(&set);
  slp_free(f->mem, ids);
  return i || r == SLP_ELIMIT ? 0 : SLP_ENOMEM; /* the others' are written all the same */
}

static void choose_base(slp_fleet *f, const slp_snapshot *s) {
  if (f->version_base) return;
  f->version_base = f->leadership_epoch * 1000000;
  for (size_t i = 0; i < s->assignments_n; i++)
    f->version_base = slp_max_u64(f->version_base, s->assignments[i].version);
}

static void look_at_moves(slp_fleet *f, const slp_assign *p) {
  for (size_t w = 0; w < p->workers_n; w++) {
    uint32_t n = 0;
    for (size_t i = 0; i < p->leases_n; i++) n += p->leases[i].owner == w && p->leases[i].ret != w;
    if (p->workers[w].takes && n >= p->moves_max) slp_assignment_soon(f, MORE_US);
  }
}

static int write_all(slp_fleet *f, const slp_snapshot *s, slp_assign *p) {
  fill(f, s, p);
  if (slp_assign_make(p, f->mem)) return SLP_ENOMEM;
  choose_base(f, s);
  look_at_moves(f, p);
  for (uint32_t w = 0; w < p->workers_n; w++) {
    const slp_assignment_row *row = assignment_of(s, s->workers[w].id);
    if (!p->workers[w].takes || is_so(s, p, w, row)) continue;
    if (write_row(f, s, p, w, row)) return SLP_ENOMEM;
  }
  return 0;
}

/* Each plan makes everybody look at all it holds, so large shares do not move by twenties. */
static uint32_t moves_max(const slp_snapshot *s) {
  return (uint32_t)slp_max_u64(MOVES_MIN, s->leases_n / (s->workers_n + 1) / 10);
}

int slp_assignment_write(slp_fleet *f, const slp_snapshot *s) {
  slp_assign p = {NULL, s->workers_n, NULL, s->leases_n, moves_max(s)};
  p.workers = slp_zalloc_n(f->mem, s->workers_n + 1, sizeof *p.workers);
  p.leases = slp_zalloc_n(f->mem, s->leases_n + 1, sizeof *p.leases);
  if (!p.workers || !p.leases || write_all(f, s, &p)) {
    slp_bulk_write_stop(f);
    slp_assignment_soon(f, 1000000);
  }
  slp_free(f->mem, p.workers);
  slp_free(f->mem, p.leases);
  return f->jobs.n > 0;
}
