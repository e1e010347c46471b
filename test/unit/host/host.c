/* The turn queue, the timer heap and the histogram on a host made of two numbers. */
#include "check.h"
#include "scarce.h"
#include "host/host.h"

typedef struct fake {
  slp_host h;
  uint64_t mono, cpu, wake_at, rnd;
  int wakes, closed;
} fake;

static uint64_t fake_mono(slp_host *h) { return ((fake *)(void *)h)->mono; }
static uint64_t fake_cpu(slp_host *h) { return ((fake *)(void *)h)->cpu; }
static uint64_t fake_random(slp_host *h) { return ((fake *)(void *)h)->rnd++ * 0x9e3779b97f4a7c15u; }
static void fake_wake(slp_host *h, uint64_t at_us) {
  ((fake *)(void *)h)->wake_at = at_us;
  ((fake *)(void *)h)->wakes++;
}
static void fake_close(slp_host *h) { (void)h; }
static const slp_host_ops fake_ops = {
    .mono_us = fake_mono, .cpu_us = fake_cpu, .random = fake_random, .wake = fake_wake, .close = fake_close};

static void fake_open(fake *f, slp_mem *mem) {
  memset(f, 0, sizeof *f);
  f->mono = 1000000;
  slp_host_init(&f->h, &fake_ops, mem);
}
static void on_closed(slp_host *h, void *arg) {
  (void)arg;
  ((fake *)(void *)h)->closed++;
}
static void fake_end(fake *f, slp_mem *mem) {
  if (!f->h.closing) slp_host_close(&f->h, on_closed, NULL);
  slp_host_closed(&f->h);
  CHECK_INT(f->closed, 1);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static char trace[4096];
static size_t trace_n;

typedef struct mark {
  slp_event ev;
  slp_timer timer;
  fake *f;
  char c;
  uint64_t costs_us, costs_cpu;
  struct mark *posts;
  int again;
  uint64_t again_at;
} mark;
static void mark_do(mark *m) {
  trace[trace_n++] = m->c;
  trace[trace_n] = 0;
  m->f->mono += m->costs_us;
  m->f->cpu += m->costs_cpu;
  if (m->posts) slp_post(&m->f->h, &m->posts->ev);
}
static void mark_event(slp_event *ev) {
  mark *m = SLP_OWNER(ev, mark, ev);
  mark_do(m);
  if (m->again && m->again-- > 0) slp_post(&m->f->h, ev);
}
static void mark_timer(slp_timer *t) {
  mark *m = SLP_OWNER(t, mark, timer);
  CHECK_INT(t->slot, 0);
  mark_do(m);
  if (m->again && m->again-- > 0) slp_timer_set(&m->f->h, t, m->again_at);
}
static mark make(fake *f, char c) {
  mark m = {.f = f, .c = c};
  m.ev.run = mark_event;
  m.timer.run = mark_timer;
  return m;
}
static void start(void) {
  trace_n = 0;
  trace[0] = 0;
}

TEST(events_run_in_the_order_they_were_posted) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  start();
  mark a = make(&f, 'a'), b = make(&f, 'b'), c = make(&f, 'c');
  a.posts = &c;
  slp_post(&f.h, &a.ev);
  CHECK_INT(f.wakes, 1);
  CHECK_INT(f.wake_at, 0);
  slp_post(&f.h, &b.ev);
  slp_post(&f.h, &a.ev); /* posted already */
  CHECK_INT(f.wakes, 1);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "abc"); /* what is posted during a turn runs in it */
  CHECK_INT(f.wake_at, UINT64_MAX);
  slp_post(&f.h, &a.ev);
  slp_unpost(&a.ev);
  slp_unpost(&a.ev);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "abc");
  CHECK_INT(slp_host_turns(&f.h)->turns, 1); /* an empty turn is none */
  fake_end(&f, mem);
}

TEST(timers_fire_by_deadline_then_by_order_of_setting) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  start();
  mark a = make(&f, 'a'), b = make(&f, 'b'), c = make(&f, 'c'), d = make(&f, 'd');
  slp_timer_set(&f.h, &a.timer, f.mono + 20);
  slp_timer_set(&f.h, &b.timer, f.mono + 10);
  slp_timer_set(&f.h, &c.timer, f.mono + 10);
  slp_timer_set(&f.h, &d.timer, f.mono + 30);
  CHECK_INT(f.wake_at, f.mono + 10);
  slp_timer_set(&f.h, &b.timer, f.mono + 10); /* moved: now behind c */
  f.mono += 20;
  slp_host_turn(&f.h);
  CHECK_STR(trace, "cba");
  CHECK_INT(f.wake_at, f.mono + 10);
  slp_timer_clear(&f.h, &d.timer);
  slp_timer_clear(&f.h, &d.timer);
  f.mono += 100;
  slp_host_turn(&f.h);
  CHECK_STR(trace, "cba");
  slp_timer_set(&f.h, &d.timer, UINT64_MAX); /* never */
  CHECK_INT(d.timer.slot, 0);
  fake_end(&f, mem);
}

TEST(a_timer_that_sets_itself_to_the_past_hides_nobody) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  start();
  mark a = make(&f, 'a'), b = make(&f, 'b');
  a.again = 3;
  a.again_at = 0;
  slp_timer_set(&f.h, &a.timer, 0);
  slp_timer_set(&f.h, &b.timer, 0);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "ab"); /* set again in a turn: the next turn */
  CHECK_INT(f.wake_at, 0);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "aba");
  fake_end(&f, mem);
}

TEST(a_turn_ends_after_its_time_or_its_events) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  start();
  mark slow = make(&f, 's');
  slow.costs_us = 300;
  slow.costs_cpu = 200;
  slow.again = 100;
  slp_post(&f.h, &slow.ev);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "ss"); /* 600 us: the second crosses 500 */
  CHECK_INT(f.wake_at, 0);
  CHECK_INT(slp_host_turns(&f.h)->hold_us_max, 600);
  CHECK_INT(slp_host_turns(&f.h)->cpu_us_max, 400);
  slp_unpost(&slow.ev);
  start();
  mark quick = make(&f, 'q');
  quick.again = 1000;
  slp_post(&f.h, &quick.ev);
  slp_host_turn(&f.h);
  CHECK_INT(trace_n, SLP_TURN_EVENTS_MAX);
  slp_unpost(&quick.ev);
  /* Timers leave room for events, and events for timers. */
  start();
  static mark timers[400];
  for (int i = 0; i < 400; i++) {
    timers[i] = make(&f, 't');
    slp_timer_set(&f.h, &timers[i].timer, f.mono);
  }
  mark waiting = make(&f, 'E');
  slp_post(&f.h, &waiting.ev);
  slp_host_turn(&f.h);
  CHECK(strchr(trace, 'E') != NULL);
  CHECK_INT(trace_n, SLP_TURN_EVENTS_MAX / 2 + 1);
  CHECK_INT(f.wake_at, 0);
  slp_host_turn(&f.h);
  slp_host_turn(&f.h);
  CHECK_INT(trace_n, 401);
  fake_end(&f, mem);
}

TEST(time_is_kept_during_a_turn_and_only_moves_forward) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  f.mono = 5000000;
  CHECK_INT(slp_now_us(&f.h), 5000000); /* between turns the kept time may be hours old */
  f.h.in_turn = 1;
  f.mono = 6000000;
  CHECK_INT(slp_now_us(&f.h), 5000000);
  CHECK_INT(slp_now_refresh_us(&f.h), 6000000);
  CHECK_INT(slp_now_us(&f.h), 6000000);
  f.mono = 4000000;
  CHECK_INT(slp_now_refresh_us(&f.h), 6000000);
  f.h.in_turn = 0;
  fake_end(&f, mem);
}

/* Against a sorted array, with many equal deadlines and moves. */
TEST(the_heap_agrees_with_a_sorted_list) {
  enum { N = 300 };
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  static slp_timer t[N];
  static uint64_t at[N], order[N], tick;
  for (int step = 0; step < 20000; step++) {
    size_t i = (size_t)slp_random_below(&f.h, N);
    if (slp_random_below(&f.h, 3) == 0) {
      slp_timer_clear(&f.h, &t[i]);
      at[i] = 0;
    } else {
      at[i] = f.mono + 1 + slp_random_below(&f.h, 50);
      order[i] = tick++;
      CHECK_INT(slp_timer_set(&f.h, &t[i], at[i]), 0);
    }
    size_t best = N, n = 0;
    for (size_t k = 0; k < N; k++) {
      if (!at[k]) continue;
      n++;
      CHECK(f.h.timers[t[k].slot - 1] == &t[k]);
      if (best == N || at[k] < at[best] || (at[k] == at[best] && order[k] < order[best])) best = k;
    }
    CHECK_INT(f.h.timers_n, n);
    if (n) CHECK(f.h.timers[0] == &t[best]);
  }
  fake_end(&f, mem);
}

TEST(without_memory_a_timer_is_refused_and_a_reserved_one_is_not) {
  fake f;
  scarce memory = {.left = 2};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  fake_open(&f, mem);
  CHECK_INT(slp_host_reserve_timers(&f.h, 4), 0);
  CHECK_INT(slp_host_reserve_timers(&f.h, 100), SLP_ENOMEM);
  static slp_timer t[40], r[4];
  int set = 0;
  while (set < 40 && slp_timer_set(&f.h, &t[set], 5) == 0) set++;
  CHECK_INT(set, 12); /* 16 places, 4 of them kept */
  CHECK_INT(t[set].slot, 0);
  for (int i = 0; i < 4; i++) slp_timer_set_reserved(&f.h, &r[i], 7);
  CHECK_INT(f.h.timers_n, 16);
  slp_timer_clear(&f.h, &t[0]);
  CHECK_INT(slp_timer_set(&f.h, &t[1], 9), 0); /* moving needs no place */
  fake_end(&f, mem);
}

TEST(the_histogram_is_within_ten_per_cent) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (uint64_t us = 0; us < 90000000; us += 1 + us / 37) {
    fake_open(&f, mem);
    mark m = make(&f, 'x'), big = make(&f, 'y');
    m.costs_cpu = us;
    big.costs_cpu = 200000000; /* so that the maximum does not help */
    start();
    slp_post(&f.h, &m.ev);
    slp_host_turn(&f.h);
    slp_post(&f.h, &big.ev);
    slp_host_turn(&f.h);
    uint64_t said = slp_host_turn_us_at(&f.h, 0.5);
    CHECK(said >= us || us >= 65000000);
    if (us < 65000000) CHECK((double)said <= (double)us * 1.1);
    CHECK_INT(slp_host_turn_us_at(&f.h, 1.0), 200000000);
    slp_host_close(&f.h, on_closed, NULL);
    slp_host_closed(&f.h);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(shares_of_turns_are_counted) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  CHECK_INT(slp_host_turn_us_at(&f.h, 0.999), 0);
  mark m = make(&f, 'x');
  for (int i = 0; i < 1000; i++) {
    start();
    m.costs_cpu = i < 990 ? 10 : 5000;
    slp_post(&f.h, &m.ev);
    slp_host_turn(&f.h);
  }
  CHECK_INT(slp_host_turn_us_at(&f.h, 0.5), 10);
  CHECK_INT(slp_host_turn_us_at(&f.h, 0.99), 10);
  CHECK_INT(slp_host_turn_us_at(&f.h, 0.999), 5000);
  fake_end(&f, mem);
}

TEST(random_below_is_in_range_and_even) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  unsigned seen[7] = {0};
  CHECK_INT(slp_random_below(&f.h, 0), 0);
  CHECK_INT(slp_random_below(&f.h, 1), 0);
  for (int i = 0; i < 70000; i++) seen[slp_random_below(&f.h, 7)]++;
  for (int i = 0; i < 7; i++) CHECK(seen[i] > 9500 && seen[i] < 10500);
  for (int i = 0; i < 1000; i++) CHECK(slp_random_below(&f.h, UINT64_MAX / 2 + 2) < UINT64_MAX / 2 + 2);
  fake_end(&f, mem);
}

static void close_in_turn(slp_event *ev) {
  mark *m = SLP_OWNER(ev, mark, ev);
  trace[trace_n++] = m->c;
  trace[trace_n] = 0;
  slp_host_close(&m->f->h, on_closed, NULL);
}
TEST(closing_inside_a_turn_drops_the_rest) {
  fake f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_open(&f, mem);
  start();
  mark a = make(&f, 'a'), b = make(&f, 'b');
  a.ev.run = close_in_turn;
  slp_post(&f.h, &a.ev);
  slp_post(&f.h, &b.ev);
  slp_host_turn(&f.h);
  CHECK_STR(trace, "a");
  slp_post(&f.h, &b.ev); /* too late: ignored */
  slp_host_turn(&f.h);
  CHECK_STR(trace, "a");
  fake_end(&f, mem);
}
