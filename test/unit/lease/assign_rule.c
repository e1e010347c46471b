/* The planner, on every small fleet there is: up to three workers and five leases in every state. */
#include "base/mem.h"
#include "lease/lease_rules.h"

#include "check.h"

#define WORKERS_MAX 3
#define LEASES_MAX 5

static slp_mem *mem;

static uint32_t taking(const slp_assign *p) {
  uint32_t n = 0;
  for (size_t w = 0; w < p->workers_n; w++) n += p->workers[w].takes;
  return n;
}

static uint32_t assigned_n(const slp_assign *p) {
  uint32_t n = 0;
  for (size_t i = 0; i < p->leases_n; i++) n += !p->leases[i].out;
  return n;
}

static int any_avoids(const slp_assign *p) {
  for (size_t i = 0; i < p->leases_n; i++)
    if (!p->leases[i].out && p->leases[i].avoid != SLP_NOBODY) return 1;
  return 0;
}

/* Everybody has the floor or the ceiling of an equal share, unless somebody is to be avoided. */
static void check_fair(const slp_assign *p) {
  uint32_t n = taking(p), leases = assigned_n(p), counts[WORKERS_MAX] = {0};
  for (size_t i = 0; i < p->leases_n; i++) {
    const slp_assign_lease *l = &p->leases[i];
    if (l->out || n == 0) {
      CHECK(l->ret == SLP_NOBODY);
      continue;
    }
    CHECK(l->ret < p->workers_n && p->workers[l->ret].takes);
    if (n > 1) CHECK(l->ret != l->avoid);
    counts[l->ret]++;
  }
  for (size_t w = 0; w < p->workers_n; w++) {
    CHECK(p->workers[w].ret_n == counts[w]);
    if (!p->workers[w].takes || any_avoids(p)) continue;
    CHECK(counts[w] == leases / n || counts[w] == (leases + n - 1) / n);
  }
}

/* Somebody is to be avoided: whoever has more than the ceiling has nothing that one at the floor may have. */
static void check_nobody_better(const slp_assign *p) {
  uint32_t n = taking(p), leases = assigned_n(p);
  for (size_t i = 0; i < p->leases_n && n && leases % n; i++) {
    const slp_assign_lease *l = &p->leases[i];
    if (l->out || p->workers[l->ret].ret_n <= leases / n + 1) continue;
    for (uint32_t w = 0; w < p->workers_n; w++)
      CHECK(w == l->avoid || !p->workers[w].takes || p->workers[w].ret_n > leases / n);
  }
}

/* No plan that is as fair moves fewer leases: each worker keeps what it had up to its share, with the
 * ceilings where they save a move. */
static void check_few_moves(const slp_assign *p) {
  uint32_t n = taking(p), leases = assigned_n(p), had[WORKERS_MAX] = {0}, stayed = 0, could = 0;
  if (n == 0 || any_avoids(p)) return;
  for (size_t i = 0; i < p->leases_n; i++) {
    const slp_assign_lease *l = &p->leases[i];
    uint32_t home = l->owner != SLP_NOBODY && p->workers[l->owner].takes ? l->owner : l->assigned;
    if (l->out || home == SLP_NOBODY || !p->workers[home].takes) continue;
    had[home]++;
    stayed += l->ret == home;
  }
  uint32_t least = leases / n, ceilings = leases % n;
  for (size_t w = 0; w < p->workers_n; w++) {
    if (!p->workers[w].takes) continue;
    could += had[w] < least ? had[w] : least;
    if (had[w] > least && ceilings) {
      could++;
      ceilings--;
    }
  }
  CHECK(stayed == could);
}

/* Carried out, it gives itself. */
static void check_rest(slp_assign *p) {
  slp_assign_lease before[LEASES_MAX];
  memcpy(before, p->leases, p->leases_n * sizeof *before);
  for (size_t i = 0; i < p->leases_n; i++) p->leases[i].owner = p->leases[i].assigned = p->leases[i].ret;
  CHECK(slp_assign_make(p, mem) == 0);
  for (size_t i = 0; i < p->leases_n; i++) CHECK(p->leases[i].ret == before[i].ret);
  memcpy(p->leases, before, p->leases_n * sizeof *before);
}

static uint64_t tried;

static void try_plan(slp_assign *p) {
  CHECK(slp_assign_make(p, mem) == 0);
  check_fair(p);
  check_few_moves(p);
  check_rest(p);
  check_nobody_better(p);
  tried++;
}

/* owner: nobody or a worker; planned: nobody, or a worker; ended; avoiding the first worker. */
static void each_lease(slp_assign *p, size_t i) {
  if (i == p->leases_n) {
    try_plan(p);
    return;
  }
  slp_assign_lease *l = &p->leases[i];
  for (uint32_t owner = 0; owner <= p->workers_n; owner++) {
    for (int form = 0; form < 4; form++) {
      *l = (slp_assign_lease){
          .owner = owner ? owner - 1 : SLP_NOBODY, .assigned = SLP_NOBODY, .avoid = SLP_NOBODY};
      if (form == 1) l->assigned = (uint32_t)p->workers_n - 1;
      if (form == 2) l->out = 1;
      if (form == 3) l->avoid = 0;
      slp_assign_lease mine = *l;
      each_lease(p, i + 1);
      *l = mine;
    }
  }
}

TEST(every_small_fleet_is_planned_fairly_with_the_fewest_moves) {
  mem = slp_mem_new(NULL, NULL);
  slp_assign_worker workers[WORKERS_MAX];
  slp_assign_lease leases[LEASES_MAX];
  for (size_t workers_n = 1; workers_n <= WORKERS_MAX; workers_n++) {
    for (unsigned takes = 0; takes < 1u << workers_n; takes++) {
      for (size_t leases_n = 0; leases_n <= (workers_n == 3 ? 4 : LEASES_MAX); leases_n++) {
        for (size_t w = 0; w < workers_n; w++) workers[w] = (slp_assign_worker){1, takes >> w & 1, 0};
        slp_assign p = {workers, workers_n, leases, leases_n, 20};
        each_lease(&p, 0);
      }
    }
  }
  CHECK(tried > 500000);
  slp_mem_drop(mem);
}

static void fleet(slp_assign_worker *w, size_t n, slp_assign_lease *l, size_t leases_n) {
  for (size_t i = 0; i < n; i++) w[i] = (slp_assign_worker){1, 1, 0};
  for (size_t i = 0; i < leases_n; i++) l[i] = (slp_assign_lease){SLP_NOBODY, SLP_NOBODY, SLP_NOBODY, 0, 0};
}

/* The one worker below its share must not have the lease that is left: another takes one more instead. */
TEST(a_surplus_that_one_worker_must_not_have_goes_to_another) {
  slp_assign_worker w[6];
  slp_assign_lease l[9];
  static const uint32_t owners[9] = {0, 0, 0, 1, 2, 2, 3, 4, 5};
  mem = slp_mem_new(NULL, NULL);
  fleet(w, 6, l, 9);
  for (size_t i = 0; i < 9; i++) l[i].owner = owners[i];
  for (size_t i = 0; i < 3; i++) l[i].avoid = 1;
  slp_assign p = {w, 6, l, 9, 20};
  CHECK(slp_assign_make(&p, mem) == 0);
  for (size_t i = 0; i < 6; i++) CHECK(w[i].ret_n == 1 || w[i].ret_n == 2);
  check_nobody_better(&p);
  slp_mem_drop(mem);
}

TEST(a_joining_worker_gets_its_share_and_nothing_else_moves) {
  mem = slp_mem_new(NULL, NULL);
  slp_assign_worker w[4];
  slp_assign_lease l[90];
  fleet(w, 4, l, 90);
  for (size_t i = 0; i < 90; i++) l[i].owner = l[i].assigned = (uint32_t)(i % 3);
  slp_assign p = {w, 4, l, 90, 1000};
  CHECK(slp_assign_make(&p, mem) == 0);
  uint32_t moved = 0;
  for (size_t i = 0; i < 90; i++) {
    moved += l[i].ret != l[i].owner;
    CHECK(l[i].ret == l[i].owner || l[i].ret == 3);
  }
  CHECK(moved == w[3].ret_n && (moved == 22 || moved == 23));
  slp_mem_drop(mem);
}

TEST(no_worker_gives_up_more_than_so_many_at_once) {
  mem = slp_mem_new(NULL, NULL);
  slp_assign_worker w[2];
  slp_assign_lease l[100];
  fleet(w, 2, l, 100);
  for (size_t i = 0; i < 100; i++) l[i].owner = l[i].assigned = 0;
  slp_assign p = {w, 2, l, 100, 20};
  CHECK(slp_assign_make(&p, mem) == 0);
  CHECK(w[0].ret_n == 80 && w[1].ret_n == 20);
  slp_mem_drop(mem);
}

TEST(a_dead_worker_s_leases_go_out_at_once) {
  mem = slp_mem_new(NULL, NULL);
  slp_assign_worker w[3];
  slp_assign_lease l[99];
  fleet(w, 3, l, 99);
  for (size_t i = 0; i < 99; i++) l[i].owner = l[i].assigned = (uint32_t)(i % 3);
  w[1].takes = 0;
  slp_assign p = {w, 3, l, 99, 1};
  CHECK(slp_assign_make(&p, mem) == 0);
  for (size_t i = 0; i < 99; i++) CHECK(i % 3 == 1 ? l[i].ret != 1 : l[i].ret == l[i].owner);
  CHECK(w[1].ret_n == 0 && w[0].ret_n + w[2].ret_n == 99);
  slp_mem_drop(mem);
}

TEST(shares_follow_the_weights) {
  mem = slp_mem_new(NULL, NULL);
  slp_assign_worker w[3];
  slp_assign_lease l[100];
  fleet(w, 3, l, 100);
  w[2].weight = 3;
  slp_assign p = {w, 3, l, 100, 20};
  CHECK(slp_assign_make(&p, mem) == 0);
  CHECK(w[0].ret_n == 20 && w[1].ret_n == 20 && w[2].ret_n == 60);
  slp_mem_drop(mem);
}
