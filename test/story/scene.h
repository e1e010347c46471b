/* scene.h - what every scene stands on: a world with one stream, one user, and the end that checks
 * everything. A scene is a story whose name is a sentence; it is told with three seeds. */
#ifndef SLP_TEST_STORY_H
#define SLP_TEST_STORY_H

#define CHECK_SECONDS 120
#include "check.h"
#include "swarm/user.h"

#define SCENE(name)                                   \
  static void scene_##name(stage *st, uint64_t seed); \
  TEST(name) {                                        \
    for (uint64_t seed = 1; seed <= 3; seed++) {      \
      stage st = {0};                                 \
      scene_##name(&st, seed);                        \
      if (st.w) stage_end(&st);                       \
    }                                                 \
  }                                                   \
  static void scene_##name(stage *st, SLP_UNUSED uint64_t seed)

typedef struct stage {
  slp_mem *mem;
  slp_world *w;
  slp_known_stream *stream;
  slp_user u;
  /* A producer that goes on by itself. */
  uint64_t put_every_us, put_until_us;
  uint32_t put_bytes;
} stage;

static inline void stage_begin_with(stage *st, uint64_t seed, uint32_t shards,
                                    const sloop_sandbox_opts_t *o) {
  st->mem = slp_mem_new(NULL, NULL);
  st->w = slp_world_new(st->mem, seed, o);
  st->stream = slp_world_stream(st->w, "orders", shards);
  slp_user_init(&st->u, st->w, st->stream);
}

static inline void print_trace(void *arg, const char *line) { fprintf(arg, "  %s\n", line); }

static inline void stage_begin(stage *st, uint64_t seed, uint32_t shards) {
  stage_begin_with(st, seed, shards, NULL);
  if (getenv("SCENE_TRACE")) slp_sim_on_trace(st->w->sim, print_trace, stderr);
}

static inline void check_promises(slp_user *u) {
  if (u->oracle->bad[0]) CHECK_FAIL("broken promise (seed %" PRIu64 "): %s", u->world->seed, u->oracle->bad);
}

#define CHECK_CAUGHT_UP(user, ms)                                                                       \
  do {                                                                                                  \
    if (!slp_user_catch_up((user), (ms))) {                                                             \
      char check_why[200] = "";                                                                         \
      check_promises(user);                                                                             \
      slp_oracle_all_read((user)->judged, check_why, sizeof check_why);                                 \
      CHECK_FAIL("not read within %llu ms: %s (seed %" PRIu64 ")", (unsigned long long)(ms), check_why, \
                 (user)->world->seed);                                                                  \
    }                                                                                                   \
  } while (0)

#define CHECK_BELOW(a, b)                                                                   \
  do {                                                                                      \
    unsigned long long check_a = (a), check_b = (b);                                        \
    if (check_a >= check_b) CHECK_FAIL("%s is %llu, not below %llu", #a, check_a, check_b); \
  } while (0)

static inline void put_next(void *arg) {
  stage *st = arg;
  uint64_t now = slp_sim_now_us(st->w->sim);
  if (now >= st->put_until_us) return;
  slp_world_put(st->w, st->stream, st->put_bytes);
  slp_sim_at(st->w->sim, now + slp_sim_random_between(st->w->sim, 1, 2 * st->put_every_us), put_next, st);
}

/* Puts on average every so often for so long. */
static inline void produce(stage *st, uint64_t every_ms, uint64_t for_ms, uint32_t bytes) {
  st->put_every_us = every_ms * 1000;
  st->put_until_us = slp_sim_now_us(st->w->sim) + for_ms * 1000;
  st->put_bytes = bytes;
  put_next(st);
}

static inline void stage_end_of(stage *st, slp_user *u) {
  slp_user_finish(u);
  check_promises(u);
  (void)st;
}

static inline void stage_end(stage *st) {
  slp_user_finish(&st->u);
  check_promises(&st->u);
  st->put_until_us = 0;
  slp_user_leave(&st->u);
  slp_sim_run(st->w->sim, slp_sim_now_us(st->w->sim) + UINT64_C(600000000), NULL, NULL);
  check_promises(&st->u);
  CHECK_INT(slp_sim_hosts_alive(st->w->sim), 0);
  CHECK_INT(st->u.mem->live_blocks, 0);
  slp_user_free(&st->u);
  slp_world_free(st->w);
  CHECK_INT(st->mem->live_blocks, 0);
  slp_mem_drop(st->mem);
  st->w = NULL;
}

#endif
