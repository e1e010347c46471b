/* cut.c - a story's connections end, are reset or go silent, at every byte of every request and answer: all
 * is read once and in order, nothing ends for good, no lease is lost to oneself, the table says the truth,
 * and no byte of memory stays.
 *
 *   wire_cut                                       a part of all places; which, SLOOP_TEST_SEED says or the
 * time wire_cut all [STORY [HOW [STRIDE]]]            every place (SLOOP_TEST_FULL=1 does so too) wire_cut
 * STORY HOW EXCHANGE up|down BYTE       one place */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "check.h"
#include "host/process.h"
#include "story.h"

#define AT_ONCE 200
#define LEASED_AT_ONCE 60 /* heartbeats must not wait for the others' turns */
#define STORY_MS_MAX 120000
#define ROUND 4000
#define LEASED_ROUND 400 /* stories a sandbox: each leaves a table in it */

static const char *const story_names[] = {"plain", "leased"};
static const valve_what hows[] = {VALVE_FIN, VALVE_RST, VALVE_SILENT};
#define IN_TURNS VALVE_PASS /* the three of them */

typedef struct plan {
  int leased;
  valve_what how;
  const valve_exchange *exchanges;
  size_t n;
  size_t turn;
  uint64_t stride, next; /* places from the story's first byte on */
} plan;

typedef struct tally {
  uint64_t tried, fired, broken;
  uint64_t slowest_ms;
  valve_fault slowest;
  char slowest_op[40];
} tally;

/* The next place to spoil; 0: there is none. Between 0 bytes and all of them, both included. */
static int next_place(plan *p, valve_fault *ret) {
  uint64_t place = p->next;
  p->next += p->stride;
  for (size_t k = 0; k < p->n; k++) {
    for (uint8_t down = 0; down < 2; down++) {
      uint64_t places = (uint64_t)(down ? p->exchanges[k].down : p->exchanges[k].up) + 1;
      if (place < places) {
        valve_what how = p->how == IN_TURNS ? hows[p->turn++ % SLP_COUNT(hows)] : p->how;
        *ret = (valve_fault){.what = how, .exchange = (uint32_t)k, .down = down, .at = (size_t)place};
        return 1;
      }
      place -= places;
    }
  }
  return 0;
}

static uint64_t places_of(const plan *p) {
  uint64_t n = 0;
  for (size_t k = 0; k < p->n; k++) n += (uint64_t)p->exchanges[k].up + p->exchanges[k].down + 2;
  return n;
}

static const char *spoilt_op(const story *st) {
  return st->fault.exchange < VALVE_SEEN_MAX ? st->v.seen[st->fault.exchange].op : "";
}

static void close_account(const story *st, tally *t) {
  uint64_t ms = uv_now(st->world->loop) - st->begun_ms;
  t->tried++;
  t->fired += st->v.fired;
  if (ms > t->slowest_ms) {
    t->slowest_ms = ms;
    t->slowest = st->fault;
    snprintf(t->slowest_op, sizeof t->slowest_op, "%s", spoilt_op(st));
  }
  if (!st->bad[0]) return;
  t->broken++;
  printf("BROKEN %s\n  again: wire_cut %s %s %u %s %zu   (%s)\n", st->bad, story_names[st->leased],
         valve_what_name(st->fault.what), st->fault.exchange, st->fault.down ? "down" : "up", st->fault.at,
         spoilt_op(st));
  fflush(stdout);
}

static void on_tick(void *arg) {
  story *running = arg;
  for (size_t i = 0; i < AT_ONCE; i++)
    if (running[i].world) story_hurry(&running[i], STORY_MS_MAX);
}

/* Up to `most` stories in a loop and a sandbox of their own, many of them beside each other. */
static void run_round(plan *p, uint64_t most, story_book *book, tally *t) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  story *running = calloc(AT_ONCE, sizeof *running);
  story_world world;
  valve_fault fault;
  CHECK(loop && running);
  story_world_open(&world, loop);
  slp_ticker *ticker = slp_ticker_new(mem, loop, 200, on_tick, running);
  int more = 1;
  size_t at_once = p->leased ? LEASED_AT_ONCE : AT_ONCE;
  for (size_t alive = 1; alive;) {
    alive = 0;
    for (size_t i = 0; i < at_once; i++) {
      story *st = &running[i];
      if (st->world && st->phase == STORY_IS_DONE) {
        close_account(st, t);
        st->world = NULL;
      }
      if (!st->world && more) {
        more = most > 0 && next_place(p, &fault);
        most -= most > 0;
        if (more) story_begin(st, &world, book, p->leased, fault.what == VALVE_SILENT, &fault);
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
}

/* One story, alone. */
static story *run_one(int leased, const valve_fault *fault, story_book *book) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  story *st = calloc(1, sizeof *st);
  story_world world;
  CHECK(loop && st);
  story_world_open(&world, loop);
  story_begin(st, &world, book, leased, fault->what == VALVE_SILENT, fault);
  uint64_t begun = uv_now(loop);
  while (st->phase != STORY_IS_DONE && uv_now(loop) - begun < STORY_MS_MAX) uv_run(loop, UV_RUN_ONCE);
  printf("%s, %s: %s after %" PRIu64 " ms, %u exchanges on %u connections%s\n", story_names[leased],
         valve_what_name(fault->what), st->bad[0] ? st->bad : "fine", uv_now(loop) - begun, st->v.exchanges,
         st->v.connections, st->v.fired ? ", spoilt" : "");
  if (st->phase != STORY_IS_DONE) CHECK_FAIL("not done: phase %d", st->phase);
  story_world_close(&world);
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  slp_mem_drop(mem);
  return st;
}

static int run_story(int leased, valve_what how, uint64_t stride, uint64_t first, int listed) {
  static story_book book;
  tally t;
  memset(&t, 0, sizeof t);
  memset(&book, 0, sizeof book);
  story *clean = run_one(leased, &(valve_fault){.what = VALVE_PASS}, &book);
  if (clean->bad[0]) return 1;
  size_t n = clean->v.exchanges < VALVE_SEEN_MAX ? clean->v.exchanges : VALVE_SEEN_MAX;
  for (size_t i = 0; listed && i < n; i++)
    printf("  %3zu %-40s %5u up %5u down\n", i, clean->v.seen[i].op, clean->v.seen[i].up,
           clean->v.seen[i].down);
  plan p = {
      .leased = leased, .how = how, .exchanges = clean->v.seen, .n = n, .stride = stride, .next = first};
  uint64_t places = places_of(&p);
  while (p.next < places) run_round(&p, leased ? LEASED_ROUND : ROUND, &book, &t);
  printf("%s, %s: %" PRIu64 " of %" PRIu64 " places tried (every %" PRIu64 " from %" PRIu64 " on), %" PRIu64
         " reached, %" PRIu64 " broken; %" PRIu64 " calls were sent again\n",
         story_names[leased], how == IN_TURNS ? "in turns" : valve_what_name(how), t.tried, places, stride,
         first, t.fired, t.broken, book.retries);
  printf("  the slowest took %" PRIu64 " ms: %s %s %u %s %zu (%s)\n", t.slowest_ms, story_names[leased],
         valve_what_name(t.slowest.what), t.slowest.exchange, t.slowest.down ? "down" : "up", t.slowest.at,
         t.slowest_op);
  story_book_print(&book);
  fflush(stdout);
  free(clean);
  /* Stories differ in their polls at the end, so a few places are not there in every one. */
  if (t.fired * 10 < t.tried * 7) {
    printf("BROKEN: most places were not reached\n");
    return 1;
  }
  return t.broken != 0;
}

static int name_at(const char *name, int leased_or_how) {
  size_t n = leased_or_how ? SLP_COUNT(hows) : SLP_COUNT(story_names);
  for (size_t i = 0; i < n; i++)
    if (strcmp(name, leased_or_how ? valve_what_name(hows[i]) : story_names[i]) == 0) return (int)i;
  return -1;
}

static int run_place(char **argv) {
  static story_book book;
  int leased = name_at(argv[1], 0), how = name_at(argv[2], 1);
  if (leased < 0 || how < 0) return 2;
  valve_fault f = {.what = hows[how],
                   .exchange = (uint32_t)strtoul(argv[3], NULL, 10),
                   .down = strcmp(argv[4], "down") == 0,
                   .at = strtoul(argv[5], NULL, 10)};
  story *st = run_one(leased, &f, &book);
  story_book_print(&book);
  int broken = st->bad[0] != 0;
  free(st);
  return broken;
}

static uint64_t seed_of(void) {
  const char *text = getenv("SLOOP_TEST_SEED");
  uint64_t seed;
  return text && slp_parse_u64(slp_str_of(text), &seed) == 0 ? seed : (uint64_t)time(NULL);
}

int main(int argc, char **argv) {
  setenv("AWS_CONFIG_FILE", "/nonexistent", 1);
  setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
  if (argc == 6) return run_place(argv);
  const char *full = getenv("SLOOP_TEST_FULL");
  int all = argc > 1 || (full && *full == '1'), bad = 0;
  int story_only = argc > 2 ? name_at(argv[2], 0) : -1, how_only = argc > 3 ? name_at(argv[3], 1) : -1;
  if (argc > 1 && strcmp(argv[1], "all") != 0) return 2;
  uint64_t seed = seed_of();
  printf("seed %" PRIu64 "\n", seed);
  if (!all) return run_story(0, IN_TURNS, 47, seed % 47, 0) | run_story(1, IN_TURNS, 1999, seed % 1999, 0);
  uint64_t stride = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
  for (int leased = 0; leased < 2; leased++) {
    for (int h = 0; h < (int)SLP_COUNT(hows); h++) {
      if ((story_only >= 0 && leased != story_only) || (how_only >= 0 && h != how_only)) continue;
      bad |= run_story(leased, hows[h], stride, seed % stride, 1);
    }
  }
  return bad;
}
