/* newest_times.c - a heap of the N latest times. */
#include "cli/newest_times.h"

#include "base/mem.h"

void slp_newest_times_init(slp_newest_times *t, slp_mem *mem, size_t wanted) {
  *t = (slp_newest_times){.mem = mem, .wanted = wanted};
}

void slp_newest_times_free(slp_newest_times *t) {
  if (t->mem) slp_free(t->mem, t->times);
  t->times = NULL;
}

void slp_newest_times_clear(slp_newest_times *t) {
  t->n = 0;
  t->seen = t->ties = 0;
}

/* Adds a time at the end of the heap, and moves it up to its place. */
static int push_time_on_heap(slp_newest_times *t, int64_t at_ms) {
  if (t->n == t->cap) {
    int64_t *more = slp_doubled(t->mem, t->times, &t->cap, 64, sizeof *more);
    if (!more) return SLP_ENOMEM;
    t->times = more;
  }
  size_t i = t->n++;
  for (; i > 0 && t->times[(i - 1) / 2] > at_ms; i = (i - 1) / 2) t->times[i] = t->times[(i - 1) / 2];
  t->times[i] = at_ms;
  return 0;
}

/* Replaces the earliest time, and moves the new one down to its place. */
static void replace_first(slp_newest_times *t, int64_t at_ms) {
  size_t i = 0;
  for (size_t child = 1; child < t->n; child = 2 * i + 1) {
    if (child + 1 < t->n && t->times[child + 1] < t->times[child]) child++;
    if (t->times[child] >= at_ms) break;
    t->times[i] = t->times[child];
    i = child;
  }
  t->times[i] = at_ms;
}

int slp_newest_times_add(slp_newest_times *t, int64_t at_ms) {
  t->seen++;
  if (t->n < t->wanted) return push_time_on_heap(t, at_ms);
  int64_t first_ms = t->times[0];
  if (at_ms < first_ms) return 0;
  if (at_ms == first_ms) {
    t->ties++;
    return 0;
  }
  replace_first(t, at_ms);
  /* The time that was replaced may be equal to the new earliest time. Then one more record of that time is
   * not in the heap. */
  t->ties = t->times[0] == first_ms ? t->ties + 1 : 0;
  return 0;
}
