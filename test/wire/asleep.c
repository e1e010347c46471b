/* The machine is suspended while a program runs: CLOCK_MONOTONIC stands still meanwhile, the world does not.
 * A worker that wakes must know at once how long it was away. */
#include <sys/syscall.h>

#include "wire.h"

static int64_t asleep_s;

/* Ours, in place of the system's, for this program and the libraries it loads. */
int clock_gettime(clockid_t id, struct timespec *ts) {
  int r = (int)syscall(SYS_clock_gettime, id, ts);
  if (id == CLOCK_BOOTTIME || id == CLOCK_REALTIME) ts->tv_sec += asleep_s;
  return r;
}

typedef struct bell {
  slp_timer timer;
  int rang;
} bell;

static void ring(slp_timer *t) { SLP_OWNER(t, bell, timer)->rang++; }

TEST(time_asleep_is_time_gone_by) {
  wire w;
  wire_open(&w);
  uint64_t before = slp_now_us(w.h);
  asleep_s = 3600;
  uint64_t gone = slp_now_us(w.h) - before;
  CHECK(gone >= UINT64_C(3600000000) && gone < UINT64_C(3610000000));
  wire_close(&w);
}

TEST(timers_run_in_time_after_a_sleep) {
  wire w;
  bell late = {.timer = {.run = ring, .at_us = UINT64_MAX}},
       next = {.timer = {.run = ring, .at_us = UINT64_MAX}};
  wire_open(&w);
  CHECK_INT(slp_timer_set(w.h, &late.timer, slp_now_us(w.h) + 50000), 0);
  asleep_s = 3600; /* it is overdue by an hour when the machine wakes */
  uint64_t from = wire_us();
  WIRE_UNTIL(&w, &late.rang);
  CHECK_INT(slp_timer_set(w.h, &next.timer, slp_now_us(w.h) + 50000), 0);
  WIRE_UNTIL(&w, &next.rang);
  CHECK(wire_us() - from >= 50000 && wire_us() - from < 5000000);
  CHECK_INT(next.rang, 1);
  wire_close(&w);
}
