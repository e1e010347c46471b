/* quotas.c - hosts on loops of several threads share the limits of calls that a service counts for an account. */
#include "wire.h"

#include <stdlib.h>

#define THREADS 4
#define TURNS 50

typedef struct asker {
  uv_thread_t thread;
  uint64_t at_us[TURNS], before_us;
} asker;

static void on_closed(slp_host *h, void *arg) { (void)h, (void)arg; }

static void ask(void *arg) {
  asker *a = arg;
  uv_loop_t loop;
  slp_host *h;
  slp_uv_options o = {0};
  CHECK_INT(uv_loop_init(&loop), 0);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_uv_host_new(&h, &loop, mem, &o), 0);
  a->before_us = slp_now_refresh_us(h);
  for (int i = 0; i < TURNS; i++) a->at_us[i] = slp_host_quota_take(h, SLP_STR("DescribeStream"), 10);
  slp_host_close(h, on_closed, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
  slp_mem_drop(mem);
}

static int by_time(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

TEST(loops_on_several_threads_share_a_limit) {
  static asker askers[THREADS];
  static uint64_t all[THREADS * TURNS];
  for (int i = 0; i < THREADS; i++) CHECK_INT(uv_thread_create(&askers[i].thread, ask, &askers[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK_INT(uv_thread_join(&askers[i].thread), 0);
    for (int k = 0; k < TURNS; k++) {
      CHECK(askers[i].at_us[k] >= askers[i].before_us);
      all[i * TURNS + k] = askers[i].at_us[k];
    }
  }
  qsort(all, SLP_COUNT(all), sizeof all[0], by_time);
  for (size_t i = 10; i < SLP_COUNT(all); i++) CHECK(all[i] - all[i - 10] >= SLP_QUOTA_WINDOW_US);
  /* And none was given away: 200 turns are 20 windows of ten, but for what passed while they were asked for. */
  CHECK(all[SLP_COUNT(all) - 1] - all[0] < 20 * (uint64_t)SLP_QUOTA_WINDOW_US);
}
