/* Stealing, on every small fleet: what one worker takes, whatever the dice say. */
#include "base/mem.h"
#include "guest/guest_rules.h"
#include "lease/lease_rules.h"

#include "check.h"

static slp_mem *mem;
static uint32_t dice;

static uint32_t below(void *ctx, uint32_t n) {
  (void)ctx;
  dice = dice * 1103515245u + 12345u;
  return dice / 65536u % n;
}

typedef struct sums {
  uint32_t mine, taken, taken_free, taken_old, stolen, free_ready, old_ready, victim_mine, most, workers;
} sums;

static sums sum(const slp_steal *s) {
  sums r = {0};
  uint32_t counts[4] = {0};
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_steal_lease *l = &s->leases[i];
    if (!l->free) counts[l->owner]++;
    r.taken += l->ret;
    r.taken_free += l->ret && l->free;
    r.taken_old += l->ret && l->old;
    r.stolen += l->ret && !l->free;
    r.free_ready += l->free && l->ready;
    r.old_ready += l->old && l->ready;
    if (l->ret) CHECK(l->ready);
    if (l->ret && !l->free) CHECK(l->owner != s->me);
  }
  r.mine = counts[s->me];
  for (uint32_t w = 0; w < s->workers_n; w++) {
    r.workers += counts[w] > 0 || w == s->me;
    if (w != s->me && counts[w] > r.most) r.most = counts[w];
  }
  for (size_t i = 0; i < s->leases_n; i++)
    if (s->leases[i].ret && !s->leases[i].free) CHECK(counts[s->leases[i].owner] == r.most);
  return r;
}

static int all_ready(const slp_steal *s) {
  for (size_t i = 0; i < s->leases_n; i++)
    if (!s->leases[i].ready) return 0;
  return 1;
}

static uint64_t tried;

static void check_takes(slp_steal *s) {
  CHECK(slp_steal_make(s, mem) == 0);
  sums r = sum(s);
  uint32_t n = (uint32_t)s->leases_n;
  uint32_t target = r.workers >= n ? 1 : (n + r.workers - 1) / r.workers;
  uint32_t need = r.mine < target ? target - r.mine : 0;
  tried++;
  if (r.old_ready) {
    CHECK(r.taken == r.old_ready && r.taken_old == r.taken);
  } else if (need && r.free_ready) {
    CHECK(r.stolen == 0 && r.taken == (need < r.free_ready ? need : r.free_ready));
  } else if (need) {
    CHECK(r.taken == r.stolen && r.stolen <= 1);
    if (r.most > target && all_ready(s)) CHECK(r.stolen == 1); /* the fleet gets fairer */
  } else {
    CHECK(r.taken == 0);
  }
}

static void each(slp_steal *s, size_t i) {
  if (i == s->leases_n) {
    check_takes(s);
    return;
  }
  for (uint32_t owner = 0; owner < s->workers_n; owner++) {
    for (int form = 0; form < 4; form++) {
      s->leases[i] = (slp_steal_lease){owner, form == 1 || form == 2, form == 2, form != 3, 0};
      each(s, i + 1);
    }
  }
}

TEST(every_small_fleet) {
  mem = slp_mem_new(NULL, NULL);
  slp_steal_lease leases[5];
  for (uint32_t workers = 1; workers <= 3; workers++) {
    for (size_t n = 0; n <= (workers == 3 ? 4 : 5); n++) {
      slp_steal s = {0, workers, leases, n, 0, 1, below, NULL};
      each(&s, 0);
    }
  }
  CHECK(tried > 20000);
  slp_mem_drop(mem);
}

TEST(a_limit_on_what_one_may_hold_is_kept) {
  mem = slp_mem_new(NULL, NULL);
  slp_steal_lease l[10];
  for (int i = 0; i < 10; i++) l[i] = (slp_steal_lease){SLP_NOBODY, 1, 1, 1, 0};
  slp_steal s = {0, 1, l, 10, 4, 1, below, NULL};
  CHECK(slp_steal_make(&s, mem) == 0);
  uint32_t taken = 0;
  for (int i = 0; i < 10; i++) taken += l[i].ret;
  CHECK(taken == 4);
  slp_mem_drop(mem);
}

TEST(one_is_stolen_from_the_fullest) {
  mem = slp_mem_new(NULL, NULL);
  slp_steal_lease l[9];
  for (int i = 0; i < 9; i++) l[i] = (slp_steal_lease){i < 6 ? 1 : 2, 0, 0, 1, 0};
  slp_steal s = {0, 3, l, 9, 0, 1, below, NULL};
  CHECK(slp_steal_make(&s, mem) == 0);
  uint32_t taken = 0;
  for (int i = 0; i < 9; i++) {
    taken += l[i].ret;
    if (l[i].ret) CHECK(i < 6);
  }
  CHECK(taken == 1);
  slp_mem_drop(mem);
}
