/* assign_rule.c - the leader's assignment: fair within one, and with as few moves as that takes.
 *
 * Each worker has a quota: the floor of its share, or the ceiling for as many as are left over, first for
 * those who hold more already. Whoever holds more than its quota gives up the surplus; what nobody holds goes
 * to who is furthest below. */
#include "lease/lease_rules.h"

#include <stdlib.h>

typedef struct quota {
  uint32_t worker;
  uint64_t held, least, rest; /* rest: of the division, so that larger fractions come first */
  uint64_t quota;
} quota;

/* Ceilings go first to those who hold more than their floor, then to the larger fractions. */
static int ceiling_first(const void *a, const void *b) {
  const quota *x = a, *y = b;
  int over_x = x->held > x->least, over_y = y->held > y->least;
  if (over_x != over_y) return over_y - over_x;
  if (x->rest != y->rest) return x->rest < y->rest ? 1 : -1;
  return x->worker < y->worker ? -1 : 1;
}

static uint32_t takers(const slp_assign *p) {
  uint32_t n = 0;
  for (size_t w = 0; w < p->workers_n; w++) n += p->workers[w].takes;
  return n;
}

/* Where the lease is now, as far as it may stay there. */
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

/* The worker that is furthest below its quota and may have it; `full`: also one at or over it. NULL: none. */
static quota *furthest_below(quota *q, size_t n, uint32_t not_to, int full) {
  quota *best = NULL;
  for (size_t i = 0; i < n; i++) {
    if ((q[i].worker == not_to && n > 1) || (!full && q[i].held >= q[i].quota)) continue;
    int64_t gap = (int64_t)q[i].quota - (int64_t)q[i].held;
    if (!best || gap > (int64_t)best->quota - (int64_t)best->held) best = &q[i];
  }
  return best;
}

/* When everybody below its quota is to be avoided: who has no more than its floor takes one that was left
 * over, in their stead. */
static quota *at_its_floor(quota *q, size_t n, uint32_t not_to) {
  for (size_t i = 0; i < n; i++)
    if (q[i].worker != not_to && q[i].rest && q[i].held <= q[i].least) return &q[i];
  return NULL;
}

/* Leases that nobody has. Those that must avoid a worker are given first, while there is a choice. */
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

/* The surplus of one above its quota goes to those below theirs: first what it does not read yet. 1: quotas
 * are not what they were any more. */
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
  set_quotas(p, q, n, leases); /* who took one in others' stead may have another for them */
  for (size_t i = 0; i < n; i++) (void)give_up(p, q, n, &q[i]);
}

int slp_assign_make(slp_assign *p, slp_mem *mem) {
  uint32_t takers_n = takers(p);
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
