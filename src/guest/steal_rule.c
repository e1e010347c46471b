/* steal_rule.c - decides which leases a worker takes, where no leader assigns them. The rules are those of
 * Amazon's KCL 2. The first rule that applies is used:
 *   1. If leases have been free for long, the worker takes all of them, even beyond its fair share.
 *   2. If leases are free, the worker takes as many as it lacks for its fair share.
 *   3. If the worker lacks leases for its fair share, and none is free, it takes up to steal_max leases of
 *      the worker that holds the most. */
#include "base/mem.h"
#include "guest/guest_rules.h"
#include "lease/lease_rules.h"

static uint64_t held_by(const uint32_t *counts, const slp_steal *s) {
  return (uint64_t)counts[s->me] + s->me_more;
}

/* Takes `wanted` leases, chosen at random from those for which is(lease, who) returns 1. */
static void take_some(slp_steal *s, uint64_t wanted, int (*is)(const slp_steal_lease *l, uint32_t who),
                      uint32_t who) {
  uint64_t there = 0;
  for (size_t i = 0; i < s->leases_n; i++) there += (uint64_t)is(&s->leases[i], who);
  for (size_t i = 0; i < s->leases_n && wanted; i++) {
    if (!is(&s->leases[i], who)) continue;
    /* takes this lease with the same probability as each suitable lease that comes after it */
    if (s->below(s->ctx, (uint32_t)there--) >= wanted) continue;
    s->leases[i].ret = 1;
    wanted--;
  }
}

static int is_old(const slp_steal_lease *l, uint32_t who) {
  (void)who;
  return l->old && l->ready;
}
static int is_free(const slp_steal_lease *l, uint32_t who) {
  (void)who;
  return l->free && l->ready;
}
static int is_his(const slp_steal_lease *l, uint32_t who) { return !l->free && l->ready && l->owner == who; }

static uint64_t count_leases_that(const slp_steal *s, int (*is)(const slp_steal_lease *l, uint32_t who)) {
  uint64_t n = 0;
  for (size_t i = 0; i < s->leases_n; i++) n += (uint64_t)is(&s->leases[i], 0);
  return n;
}

static void steal_from_largest(slp_steal *s, const uint32_t *counts, uint64_t need, uint64_t target) {
  uint32_t most = SLP_NOBODY;
  for (uint32_t w = 0; w < s->workers_n; w++) {
    if (w != s->me && (most == SLP_NOBODY || counts[w] > counts[most])) most = w;
  }
  if (most == SLP_NOBODY || counts[most] == 0) return;
  uint64_t over = counts[most] > target ? counts[most] - target : 0;
  uint64_t n = slp_min_u64(need, over);
  if (n == 0 && need > 1) n = 1;
  take_some(s, slp_min_u64(n, s->steal_max), is_his, most);
}

int slp_steal_make(slp_steal *s, slp_mem *mem) {
  uint32_t *counts = slp_zalloc_n(mem, s->workers_n, sizeof *counts);
  if (!counts) return SLP_ENOMEM;
  /* 1, because this worker counts even if it holds no lease */
  uint64_t workers = 1, leases = 0;
  for (size_t i = 0; i < s->leases_n; i++) {
    slp_steal_lease *l = &s->leases[i];
    l->ret = 0;
    leases++;
    if (!l->free && l->owner != SLP_NOBODY && counts[l->owner]++ == 0 && l->owner != s->me) workers++;
  }
  uint64_t max = s->held_max ? s->held_max : UINT64_MAX, mine = held_by(counts, s);
  uint64_t target = slp_min_u64(workers >= leases ? 1 : (leases + workers - 1) / workers, max);
  if (count_leases_that(s, is_old)) {
    take_some(s, mine < max ? max - mine : 0, is_old, 0);
  } else if (mine < target && count_leases_that(s, is_free)) {
    take_some(s, target - mine, is_free, 0);
  } else if (mine < target) {
    steal_from_largest(s, counts, target - mine, target);
  }
  slp_free(mem, counts);
  return 0;
}
