/* valve_crowd.c - see valve_crowd.h. */
#include "valve_crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/num.h"
#include "check.h"
#include "program/process.h"

#define AT_ONCE 200
#define LEASED_AT_ONCE 60 /* heartbeats must not wait for the others' turns */
#define TICK_MS 200
#define STORY_TICKS_MAX 600
#define ROUND 4000
#define LEASED_ROUND 400 /* stories a sandbox: each leaves a table in it */

const char *crowd_name(int leased) { return leased ? "leased" : "plain"; }

const char *crowd_spoilt_op(const story *st) {
  uint32_t k = st->plan.fault.exchange;
  return k < VALVE_SEEN_MAX ? st->v.seen[k].op : "";
}

static void on_tick(void *arg) {
  story *running = arg;
  for (size_t i = 0; i < AT_ONCE; i++)
    if (running[i].world) story_hurry(&running[i], STORY_TICKS_MAX);
}

/* 0: there are no more. */
static int run_round(crowd *c) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  story *running = calloc(AT_ONCE, sizeof *running);
  story_world world;
  story_plan plan;
  CHECK(loop && running);
  story_world_open(&world, loop);
  slp_ticker *ticker = slp_ticker_new(mem, loop, TICK_MS, on_tick, running);
  size_t at_once = c->leased ? LEASED_AT_ONCE : AT_ONCE, left = c->leased ? LEASED_ROUND : ROUND;
  int more = 1;
  for (size_t alive = 1; alive;) {
    alive = 0;
    for (size_t i = 0; i < at_once; i++) {
      story *st = &running[i];
      if (st->world && st->phase == STORY_IS_DONE) {
        c->done(c, st);
        st->world = NULL;
      }
      if (!st->world && more && left > 0) {
        more = c->next(c, &plan);
        left--;
        if (more) story_begin(st, &world, &c->book, &plan);
      }
      alive += st->world != NULL;
    }
    if (alive) uv_run(loop, UV_RUN_ONCE);
  }
  slp_ticker_close(ticker);
  story_world_close(&world);
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  free(running);
  return more;
}

void crowd_run(crowd *c) {
  while (run_round(c)) {
  }
}

story *crowd_one(const story_plan *plan, story_book *book) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  story *st = calloc(1, sizeof *st);
  story_world world;
  CHECK(loop && st);
  story_world_open(&world, loop);
  story_begin(st, &world, book, plan);
  uint64_t begun = uv_now(loop);
  while (st->phase != STORY_IS_DONE && uv_now(loop) - begun < TICK_MS * STORY_TICKS_MAX)
    uv_run(loop, UV_RUN_ONCE);
  printf("%s, %s: %s%s after %" PRIu64 " ms, %u exchanges on %u connections%s\n", crowd_name(plan->leased),
         valve_what_name(plan->fault.what), st->bad[0] ? st->bad : "fine", st->ended, uv_now(loop) - begun,
         st->v.exchanges, st->v.connections, st->v.fired ? ", spoilt" : "");
  if (st->phase != STORY_IS_DONE) CHECK_FAIL("not done: phase %d", st->phase);
  story_world_close(&world);
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  slp_mem_drop(mem);
  return st;
}

uint64_t crowd_seed(void) {
  const char *text = getenv("SLOOP_TEST_SEED");
  uint64_t seed;
  if (!text || slp_parse_u64(slp_str_of(text), &seed)) seed = (uint64_t)time(NULL);
  printf("seed %" PRIu64 "\n", seed);
  return seed;
}

void crowd_alone(void) {
  setenv("AWS_CONFIG_FILE", "/nonexistent", 1);
  setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
}
