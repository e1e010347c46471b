/* cut.c - a story's connections end, are reset or go silent, at every byte of every request and answer: all
 * is read once and in order, nothing ends for good, no worker loses a lease to itself, the table is right,
 * and no byte of memory stays.
 *
 *   cut                                       a part of all places; chosen by SLOOP_TEST_SEED or the time
 *   cut all [STORY [HOW [STRIDE]]]            every place
 *   cut STORY HOW EXCHANGE up|down BYTE       one place */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "valve_crowd.h"

static const valve_what hows[] = {VALVE_FIN, VALVE_RST, VALVE_SILENT};
#define IN_TURNS VALVE_PASS /* the three of them */

typedef struct cuts {
  crowd crowd;
  valve_what how;
  const valve_exchange *exchanges;
  size_t n, turn;
  uint64_t stride, next; /* places from the story's first byte on */
  uint64_t tried, fired, broken, slowest_ms;
  story_plan slowest;
  char slowest_op[40];
} cuts;

/* Between 0 bytes and all of them, both included. */
static int next_place(crowd *of, story_plan *ret) {
  cuts *c = SLP_OWNER(of, cuts, crowd);
  uint64_t place = c->next;
  c->next += c->stride;
  for (size_t i = 0; i < c->n * 2; i++) {
    const valve_exchange *x = &c->exchanges[i / 2];
    uint64_t places = (uint64_t)(i % 2 ? x->down : x->up) + 1;
    if (place >= places) {
      place -= places;
      continue;
    }
    valve_what how = c->how == IN_TURNS ? hows[c->turn++ % SLP_COUNT(hows)] : c->how;
    *ret = (story_plan){
        .leased = (uint8_t)of->leased,
        .short_waits = how == VALVE_SILENT,
        .fault = {.what = how, .exchange = (uint32_t)(i / 2), .down = (uint8_t)(i % 2), .at = (size_t)place}};
    return 1;
  }
  return 0;
}

static uint64_t places_of(const cuts *c) {
  uint64_t n = 0;
  for (size_t k = 0; k < c->n; k++) n += (uint64_t)c->exchanges[k].up + c->exchanges[k].down + 2;
  return n;
}

static void print_place(const story_plan *p, const char *op) {
  printf("cut %s %s %u %s %zu (%s)\n", crowd_name(p->leased), valve_what_name(p->fault.what),
         p->fault.exchange, p->fault.down ? "down" : "up", p->fault.at, op);
}

static void on_done(crowd *of, const story *st) {
  cuts *c = SLP_OWNER(of, cuts, crowd);
  uint64_t ms = uv_now(st->world->loop) - st->begun_ms;
  c->tried++;
  c->fired += st->v.fired;
  if (ms > c->slowest_ms) {
    c->slowest_ms = ms;
    c->slowest = st->plan;
    snprintf(c->slowest_op, sizeof c->slowest_op, "%s", crowd_spoilt_op(st));
  }
  if (!st->bad[0]) return;
  c->broken++;
  printf("BROKEN %s\n  again: ", st->bad);
  print_place(&st->plan, crowd_spoilt_op(st));
  fflush(stdout);
}

static int run(int leased, valve_what how, uint64_t stride, uint64_t first, int listed) {
  static cuts c;
  memset(&c, 0, sizeof c);
  story *clean = crowd_one(&(story_plan){.leased = (uint8_t)leased}, &c.crowd.book);
  if (clean->bad[0]) return 1;
  c.crowd.leased = leased;
  c.crowd.next = next_place;
  c.crowd.done = on_done;
  c.how = how;
  c.exchanges = clean->v.seen;
  c.n = slp_min_u64(clean->v.exchanges, VALVE_SEEN_MAX);
  c.stride = stride;
  c.next = first;
  for (size_t i = 0; listed && i < c.n; i++)
    printf("  %3zu %-24s %5u up %5u down\n", i, c.exchanges[i].op, c.exchanges[i].up, c.exchanges[i].down);
  fflush(stdout);
  crowd_run(&c.crowd);
  printf("%s, %s: %" PRIu64 " of %" PRIu64 " places tried (every %" PRIu64 " from %" PRIu64 " on), %" PRIu64
         " reached, %" PRIu64 " broken; %" PRIu64 " calls were sent again\n",
         crowd_name(leased), how == IN_TURNS ? "in turns" : valve_what_name(how), c.tried, places_of(&c),
         stride, first, c.fired, c.broken, c.crowd.book.retries);
  printf("  the slowest took %" PRIu64 " ms: ", c.slowest_ms);
  print_place(&c.slowest, c.slowest_op);
  story_book_print(&c.crowd.book);
  fflush(stdout);
  free(clean);
  /* Stories differ in their polls at the end, so a few places are not there in every one. */
  if (c.fired * 10 < c.tried * 7) {
    printf("BROKEN: too many places were not reached\n");
    return 1;
  }
  return c.broken != 0;
}

static int leased_of(const char *name) {
  return strcmp(name, "plain") == 0 ? 0 : strcmp(name, "leased") == 0 ? 1 : -1;
}
static int how_of(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(hows); i++)
    if (strcmp(name, valve_what_name(hows[i])) == 0) return (int)i;
  return -1;
}

static int run_place(char **argv) {
  static story_book book;
  int leased = leased_of(argv[1]), how = how_of(argv[2]);
  if (leased < 0 || how < 0) return 2;
  story_plan p = {.leased = (uint8_t)leased,
                  .short_waits = hows[how] == VALVE_SILENT,
                  .fault = {.what = hows[how],
                            .exchange = (uint32_t)strtoul(argv[3], NULL, 10),
                            .down = strcmp(argv[4], "down") == 0,
                            .at = strtoul(argv[5], NULL, 10)}};
  story *st = crowd_one(&p, &book);
  story_book_print(&book);
  int broken = st->bad[0] != 0;
  free(st);
  return broken;
}

int main(int argc, char **argv) {
  crowd_alone();
  if (argc == 6) return run_place(argv);
  if (argc > 1 && strcmp(argv[1], "all") != 0) return 2;
  uint64_t seed = crowd_seed();
  if (argc == 1) return run(0, IN_TURNS, 47, seed % 47, 0) | run(1, IN_TURNS, 1999, seed % 1999, 0);
  int leased_only = argc > 2 ? leased_of(argv[2]) : -1, how_only = argc > 3 ? how_of(argv[3]) : -1, bad = 0;
  uint64_t stride = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
  for (int leased = 0; leased < 2; leased++) {
    for (int h = 0; h < (int)SLP_COUNT(hows); h++) {
      if ((leased_only >= 0 && leased != leased_only) || (how_only >= 0 && h != how_only)) continue;
      bad |= run(leased, hows[h], stride, seed % stride, 1);
    }
  }
  return bad;
}
