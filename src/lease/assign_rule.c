/* assign_rule.c - the rule by which the leader assigns leases: fair to within one lease, with as few moves as
 * possible.
 *
 * Each worker has a quota: its share, rounded down. The leases that are left over raise some quotas by one,
 * first those of workers that hold more leases than their share rounded down. A worker that holds more than
 * its quota gives up the surplus. A lease that no worker holds goes to the worker that is furthest below its
 * quota. */
#include "base/mem.h"
#include "base/mutant.h"
#include "lease/lease_rules.h"

#include <stdlib.h>

typedef struct quota {
  uint32_t worker;
  /* held: how many leases the plan gives to the worker so far. least: the worker's share, rounded down. rest:
   * the remainder of that division; quotas with larger remainders are rounded up first. */
  uint64_t held, least, rest;
  uint64_t quota;
} quota;

/* Orders the quotas for qsort. If leases are left over, the quotas at the front are raised by one each: first
 * those of workers that hold more than `least`, then those with the larger remainder. */
static int ceiling_first(const void *a, const void *b) {
  const quota *x = a, *y = b;
  int over_x = x->held > x->least, over_y = y->held > y->least;
  if (over_x != over_y) return over_y - over_x;
  if (x->rest != y->rest) return x->rest < y->rest ? 1 : -1;
  return x->worker < y->worker ? -1 : 1;
}

static uint32_t count_takers(const slp_assign *p) {
  uint32_t n = 0;
  for (size_t w = 0; w < p->workers_n; w++) n += p->workers[w].takes;
  return n;
}

/* Returns the worker that may keep the lease: its owner or, if the owner takes no leases, the worker to which
 * the lease is assigned. Returns SLP_NOBODY if neither may keep it. */
static uint32_t home_of(const slp_assign *p, const slp_assign_lease *l, uint32_t takers_n) {
  uint32_t at = l->owner;
  if (at == SLP_NOBODY || !p->workers[at].takes) at = l->assigned;
  if (at == SLP_NOBODY || !p->workers[at].takes) return SLP_NOBODY;
  return at == l->avoid && takers_n > 1 ? SLP_NOBODY : at;
}

static void set_quotas(const slp_assign *p, quota *q, size_t n, uint64_t leases) {
  uint64_t weights = 0, given = 0;
  for (size_t i = 0; i < n; i++) weights += p->workers[q[i].worker].weight;
  for (size_t i = 0; i < n; i++) {
    uint64_t part = leases * p->workers[q[i].worker].weight;
    q[i].least = part / weights;
    q[i].rest = part % weights;
    given += q[i].least;
  }
  qsort(q, n, sizeof *q, ceiling_first);
  for (size_t i = 0; i < n; i++) {
    int more = q[i].rest && given < leases;
    q[i].quota = q[i].least + (uint64_t)more;
    given += (uint64_t)more;
  }
}

/* Returns the quota of the worker that is furthest below its quota; the worker not_to is left out. full, 1:
 * also considers workers at or above their quota. NULL: no worker is left. */
static quota *furthest_below(quota *q, size_t n, uint32_t not_to, int full) {
  quota *best = NULL;
  for (size_t i = 0; i < n; i++) {
    if ((q[i].worker == not_to && n > 1) || (!full && q[i].held >= q[i].quota)) continue;
    int64_t gap = (int64_t)q[i].quota - (int64_t)q[i].held;
    if (!best || gap > (int64_t)best->quota - (int64_t)best->held) best = &q[i];
  }
  return best;
}

/* Called when not_to, which must not get the lease, is the only worker below its quota. Returns another
 * worker that may take one lease more: its share has a remainder, and it holds no more than the share rounded
 * down. NULL: there is none. */
static quota *at_its_floor(quota *q, size_t n, uint32_t not_to) {
  for (size_t i = 0; i < n; i++)
    if (q[i].worker != not_to && q[i].rest && q[i].held <= q[i].least) return &q[i];
  return NULL;
}

/* Gives each lease that has no worker yet to a worker. Leases that must avoid some worker are placed first,
 * while several workers are still below their quotas. */
static void place_homeless(slp_assign *p, quota *q, size_t n) {
  for (int choosy = 1; choosy >= 0; choosy--) {
    for (size_t i = 0; i < p->leases_n; i++) {
      slp_assign_lease *l = &p->leases[i];
      if (l->out || l->ret != SLP_NOBODY || (l->avoid != SLP_NOBODY) != choosy) continue;
      quota *to = furthest_below(q, n, l->avoid, 1);
      l->ret = to->worker;
      to->held++;
    }
  }
}

/* Gives the surplus of worker `from` to other workers, first the leases that `from` does not read yet. A
 * lease goes to the worker that is furthest below its quota. If the lease must avoid the only such worker, it
 * goes to a worker at its quota (at_its_floor). Returns 1 if that happened; then the quotas must be computed
 * again. */
static int give_up(slp_assign *p, quota *q, size_t n, quota *from) {
  int instead = 0;
  for (int reading = 0; reading < 2; reading++) {
    uint32_t moves = 0;
    for (size_t i = p->leases_n; i-- > 0 && from->held > from->quota;) {
      slp_assign_lease *l = &p->leases[i];
      if (l->out || l->ret != from->worker || (l->owner == from->worker) != reading) continue;
      quota *to = furthest_below(q, n, l->avoid, 0);
      int below = to != NULL;
      if (!to) to = at_its_floor(q, n, l->avoid);
      if (!to) continue;
      if (reading && moves++ >= p->moves_max) return instead;
      instead |= !below;
      l->ret = to->worker;
      from->held--;
      to->held++;
    }
  }
  return instead;
}

static void even_out(slp_assign *p, quota *q, size_t n, uint64_t leases) {
  int instead = 0;
  for (size_t i = 0; i < n; i++) instead |= give_up(p, q, n, &q[i]);
  if (!instead) return;
  /* A worker may have taken a lease beyond its quota, because the lease must avoid the only worker below its
   * quota. Computing the quotas again raises the quota of the worker that took the lease, and not that of the
   * other. */
  set_quotas(p, q, n, leases);
  for (size_t i = 0; i < n; i++) (void)give_up(p, q, n, &q[i]);
}

int slp_assign_make(slp_assign *p, slp_mem *mem) {
  uint32_t takers_n = count_takers(p);
  quota *q = slp_zalloc_n(mem, takers_n ? takers_n : 1, sizeof *q);
  uint32_t *quota_of = slp_zalloc_n(mem, p->workers_n ? p->workers_n : 1, sizeof *quota_of);
  if (!q || !quota_of) {
    slp_free(mem, q);
    slp_free(mem, quota_of);
    return SLP_ENOMEM;
  }
  uint32_t n = 0;
  uint64_t leases = 0;
  for (uint32_t w = 0; w < p->workers_n; w++) {
    quota_of[w] = n;
    if (p->workers[w].takes) q[n++].worker = w;
  }
  for (size_t i = 0; i < p->leases_n; i++) {
    slp_assign_lease *l = &p->leases[i];
    l->ret = l->out || !takers_n ? SLP_NOBODY : home_of(p, l, takers_n);
    leases += !l->out;
    if (l->ret != SLP_NOBODY) q[quota_of[l->ret]].held++;
  }
  if (takers_n) {
    set_quotas(p, q, n, leases);
    place_homeless(p, q, n);
    if (!SLP_MUTANT(assignment_keeps_surplus)) even_out(p, q, n, leases);
  }
  for (uint32_t w = 0; w < p->workers_n; w++) p->workers[w].ret_n = 0;
  for (uint32_t i = 0; i < n; i++) p->workers[q[i].worker].ret_n = (uint32_t)q[i].held;
  slp_free(mem, q);
  slp_free(mem, quota_of);
  return 0;
}
