/* Work off the loop: order, priority, cancelling at any step. */
#include <pthread.h>
#include <stdatomic.h>

#include <sys/resource.h>

#include "sanitized.h"
#include "wire.h"

#define WORKS 40

typedef struct bench {
  slp_work_line line;
  atomic_int inside, most_inside; /* how many run now; the most there ever were */
  atomic_int order[WORKS], order_n;
  atomic_int hold; /* 1: work does not end */
} bench;

typedef struct one {
  slp_work work;
  bench *b;
  int number, done, left;
  atomic_int ran;
  pthread_t thread;
} one;

static void on_run(slp_work *work) {
  one *x = SLP_OWNER(work, one, work);
  int inside = atomic_fetch_add(&x->b->inside, 1) + 1;
  if (inside > atomic_load(&x->b->most_inside)) atomic_store(&x->b->most_inside, inside);
  x->thread = pthread_self();
  while (atomic_load(&x->b->hold)) sched_yield();
  atomic_store(&x->b->order[atomic_fetch_add(&x->b->order_n, 1)], x->number);
  atomic_store(&x->ran, 1);
  atomic_fetch_sub(&x->b->inside, 1);
}
static void on_done(slp_work *work) { SLP_OWNER(work, one, work)->done++; }
static void on_left(slp_work *work) { SLP_OWNER(work, one, work)->left++; }

static void make(one *x, bench *b, int number) {
  *x = (one){.b = b, .number = number};
  x->work = (slp_work){.line = &b->line, .run = on_run, .on_done = on_done, .on_left = on_left};
}

TEST(one_at_a_time_on_another_thread_in_order) {
  wire w;
  static one x[WORKS];
  bench b[2] = {{{{0}}}};
  wire_open(&w);
  for (int i = 0; i < WORKS; i++) { /* two lines */
    make(&x[i], &b[i % 2], i);
    slp_work_send(w.h, &x[i].work);
    CHECK_INT(x[i].done, 0);
  }
  for (int i = 0; i < WORKS; i++) {
    WIRE_UNTIL(&w, &x[i].done);
    CHECK_INT(x[i].done, 1);
    CHECK_INT(x[i].left, 0);
    CHECK(!pthread_equal(x[i].thread, pthread_self()));
  }
  for (int k = 0; k < 2; k++) {
    CHECK_INT(b[k].most_inside, 1);
    for (int i = 0; i < WORKS / 2; i++) CHECK_INT(b[k].order[i], 2 * i + k);
  }
  wire_close(&w);
}

TEST(urgent_work_goes_before_what_waits) {
  wire w;
  one x[5];
  bench b = {.hold = 1};
  static const int want[5] = {0, 3, 4, 1, 2};
  wire_open(&w);
  for (int i = 0; i < 5; i++) {
    make(&x[i], &b, i);
    x[i].work.urgent = i >= 3;
    slp_work_send(w.h, &x[i].work);
  }
  atomic_store(&b.hold, 0);
  for (int i = 0; i < 5; i++) WIRE_UNTIL(&w, &x[i].done);
  for (int i = 0; i < 5; i++) CHECK_INT(b.order[i], want[i]);
  wire_close(&w);
}

/* Cancelled while it waits, while it runs, after it ran; the host may be closed at once. */
TEST(cancelled_work_is_silent_and_left_once) {
  for (int rounds = 0; rounds < 6; rounds++) {
    wire w;
    one x[3];
    bench b = {.hold = rounds < 3};
    wire_open(&w);
    for (int i = 0; i < 3; i++) {
      make(&x[i], &b, i);
      x[i].work.always = i == 2;
      slp_work_send(w.h, &x[i].work);
    }
    for (int i = 0; i < rounds; i++) uv_run(w.loop, UV_RUN_NOWAIT);
    int was_done[3] = {x[0].done, x[1].done, x[2].done};
    for (int i = 0; i < 3; i++) {
      slp_work_cancel(w.h, &x[i].work);
      slp_work_cancel(w.h, &x[i].work);
    }
    slp_host_close(w.h, wire_host_closed, &w);
    w.h = NULL;
    atomic_store(&b.hold, 0);
    wire_close(&w);
    for (int i = 0; i < 3; i++) {
      CHECK_INT(x[i].done, was_done[i]);
      CHECK_INT(x[i].done + x[i].left, 1);
    }
    CHECK_INT(x[2].ran, 1); /* always */
    if (rounds < 3) CHECK_INT(x[1].ran, 0);
  }
}

/* The first thread fits and a fourth does not; or, since AddressSanitizer ends a program that gets no memory,
 * every stack is too large for any machine. */
#if SANITIZED
#define LIMIT RLIMIT_STACK
static rlim_t too_little(unsigned long pages) {
  (void)pages;
  return (rlim_t)1 << 47;
}
#else
#define LIMIT RLIMIT_AS
static rlim_t too_little(unsigned long pages) { return pages * 4096 + (12u << 20); }
#endif

/* libuv would end the process with the first piece of work. */
TEST(without_room_for_threads_there_is_no_host) {
  struct rlimit before, less;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t loop;
  slp_host *h;
  CHECK_INT(uv_loop_init(&loop), 0);
  CHECK_INT(getrlimit(LIMIT, &before), 0);
  FILE *f = fopen("/proc/self/statm", "r");
  char text[100];
  CHECK(f && fgets(text, sizeof text, f));
  fclose(f);
  less = before;
  less.rlim_cur = too_little(strtoul(text, NULL, 10));
  CHECK_INT(setrlimit(LIMIT, &less), 0);
  char why[160] = "";
  const slp_uv_options o = {.why = why};
  int r = slp_uv_host_new(&h, &loop, mem, &o), again = slp_uv_host_new(&h, &loop, mem, NULL);
  CHECK_INT(setrlimit(LIMIT, &before), 0);
  CHECK(r == UV_EAGAIN || r == UV_ENOMEM);
  CHECK_INT(again, r); /* who gives no room for words is told the code alone */
  CHECK(strstr(why, "no thread for libuv's pool") && strstr(why, uv_strerror(r)));
  CHECK_STR(why + strlen(why) - 9, "(threads)"); /* it is whole */
  CHECK(h == NULL);
  CHECK_INT(slp_uv_host_new(&h, &loop, mem, NULL), 0);
  slp_host_close(h, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
  slp_mem_drop(mem);
}
