/* junk_story.c - a story's requests are answered with junk in the service's place, each with each: what is no
 * answer is asked again and all is read; what is a refusal may end the story, with a sentence; nothing is
 * ever handed out wrongly, and no byte of memory stays.
 *
 *   junk_story            a part of them; which, SLOOP_TEST_SEED says or the time
 *   junk_story all        all of them
 *   junk_story STORY ROW EXCHANGE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "valve_crowd.h"
#include "wire/junk.h"

typedef struct pairs {
  crowd crowd;
  size_t exchanges;
  uint64_t stride, next; /* row * exchanges + exchange */
  uint64_t tried, fired, broken, ended;
  story_book endings;
} pairs;

/* 200 for a write that never came is a lie that nobody can see through. */
static int is_lie(const junk *j) { return j->error == 0 && j->status == 200; }

static story_plan plan_of(int leased, size_t row, size_t exchange) {
  const junk *j = &junks[row];
  return (story_plan){.leased = (uint8_t)leased,
                      .short_waits = 1,
                      .may_end = j->error == 0 && j->status >= 300 && j->status < 429,
                      .fault = {.what = VALVE_SAY,
                                .exchange = (uint32_t)exchange,
                                .say = j->say,
                                .then = j->then,
                                .then_ms = 1,
                                .keep = !j->close,
                                .early = j->early}};
}

static int next_pair(crowd *of, story_plan *ret) {
  pairs *p = SLP_OWNER(of, pairs, crowd);
  for (; p->next < SLP_COUNT(junks) * p->exchanges; p->next += p->stride) {
    size_t row = p->next / p->exchanges;
    if (of->leased && is_lie(&junks[row])) continue;
    *ret = plan_of(of->leased, row, p->next % p->exchanges);
    p->next += p->stride;
    return 1;
  }
  return 0;
}

static size_t row_of(const story *st) {
  size_t row = 0;
  while (junks[row].say.p != st->plan.fault.say.p) row++;
  return row;
}

static void on_done(crowd *of, const story *st) {
  pairs *p = SLP_OWNER(of, pairs, crowd);
  const char *name = junks[row_of(st)].name;
  p->tried++;
  p->fired += st->v.fired;
  p->ended += st->ended[0] != 0;
  if (st->ended[0]) story_write_down(&p->endings, name, crowd_spoilt_op(st));
  if (!st->bad[0]) return;
  p->broken++;
  printf("BROKEN %s\n  again: junk_story %s %zu %u (%s to %s)\n", st->bad, crowd_name(of->leased), row_of(st),
         st->plan.fault.exchange, name, crowd_spoilt_op(st));
  fflush(stdout);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

static int run(int leased, uint64_t stride, uint64_t first) {
  static pairs p;
  memset(&p, 0, sizeof p);
  story *clean = crowd_one(&(story_plan){.leased = (uint8_t)leased}, &p.crowd.book);
  if (clean->bad[0]) return 1;
  p.crowd.leased = leased;
  p.crowd.next = next_pair;
  p.crowd.done = on_done;
  p.exchanges = slp_min_u64(clean->v.exchanges, VALVE_SEEN_MAX);
  /* A stride that shares a divisor with the exchanges would try only some of them. */
  while (p.exchanges && common_divisor(stride, p.exchanges) > 1) stride++;
  p.stride = stride;
  p.next = first;
  free(clean);
  crowd_run(&p.crowd);
  printf("%s: %" PRIu64 " of %zu answers of junk tried, %" PRIu64 " given, %" PRIu64
         " ended the story, %" PRIu64 " broken\n",
         crowd_name(leased), p.tried, SLP_COUNT(junks) * p.exchanges, p.fired, p.ended, p.broken);
  story_book_print(&p.crowd.book);
  if (p.ended) printf("  ended by:\n");
  story_book_print(&p.endings);
  fflush(stdout);
  return p.broken != 0 || p.fired * 10 < p.tried * 7;
}

int main(int argc, char **argv) {
  crowd_alone();
  if (argc == 4) {
    static story_book book;
    size_t row = strtoul(argv[2], NULL, 10);
    if (row >= SLP_COUNT(junks)) return 2;
    story_plan plan = plan_of(strcmp(argv[1], "leased") == 0, row, strtoul(argv[3], NULL, 10));
    story *st = crowd_one(&plan, &book);
    story_book_print(&book);
    int broken = st->bad[0] != 0;
    free(st);
    return broken;
  }
  uint64_t seed = crowd_seed();
  if (argc > 1) return run(0, 1, 0) | run(1, 1, 0);
  return run(0, 7, seed % 7) | run(1, 61, seed % 61);
}
