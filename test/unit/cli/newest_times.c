/* newest_times.c - the N newest times against a sort of all of them, with many ties. */
#include "cli/newest_times.h"

#include "check.h"
#include "rnd.h"

static int by_time(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

TEST(they_are_those_that_a_sort_finds) {
  static int64_t all[3000];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_newest_times t;
  for (int round = 0; round < 300; round++) {
    size_t n = rnd(round % 10 ? 100 : SLP_COUNT(all)), wanted = 1 + rnd(60);
    uint64_t spread = 1 + rnd(200);
    slp_newest_times_init(&t, mem, wanted);
    for (int again = 0; again < 2; again++) {
      slp_newest_times_clear(&t);
      for (size_t i = 0; i < n; i++) {
        all[i] = (int64_t)rnd(spread);
        CHECK_INT(slp_newest_times_add(&t, all[i]), 0);
      }
      qsort(all, n, sizeof *all, by_time);
      CHECK_INT(t.seen, n);
      CHECK_INT(t.n, n < wanted ? n : wanted);
      if (!t.n) continue;
      int64_t first = all[n - t.n];
      uint64_t ties = 0;
      for (size_t i = 0; i < n - t.n; i++) ties += all[i] == first;
      CHECK_INT(t.times[0], first);
      CHECK_INT(t.ties, ties);
      qsort(t.times, t.n, sizeof *t.times, by_time);
      CHECK_MEM(t.times, t.n * sizeof *all, all + n - t.n, t.n * sizeof *all);
    }
    slp_newest_times_free(&t);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
