/* host_test.c - the simulated host keeps the contract of host.h, by itself, with a service of three lines. */
#include "check.h"
#include "swarm/host.h"

#include <sloop.h>

typedef struct bench {
  slp_mem *mem;
  slp_sim *sim;
  slp_host *host;
  slp_http call;
  slp_buf into;
  int done, room, served, closed;
  size_t answer_bytes;
} bench;

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  bench *b = arg;
  b->served++;
  CHECK(slp_str_is(ask->authority, "svc.test:80"));
  CHECK(slp_str_is(slp_sim_ask_header(ask, "x-amz-target"), "T"));
  reply->status = 200;
  snprintf(reply->content_type, sizeof reply->content_type, "Application/JSON; charset=utf-8");
  for (size_t i = 0; i < b->answer_bytes; i++)
    CHECK(slp_buf_add_char(&reply->body, (char)('a' + i % 26)) == 0);
}

static void on_done(slp_http *call) { SLP_OWNER(call, bench, call)->done++; }
static int may_grow(slp_http *call, size_t more) {
  bench *b = SLP_OWNER(call, bench, call);
  if (b->room < (int)more) return 0;
  b->room -= (int)more;
  return 1;
}
static void on_closed(slp_host *h, void *arg) {
  (void)h;
  ((bench *)arg)->closed = 1;
}

static void set_up(bench *b, uint64_t seed) {
  memset(b, 0, sizeof *b);
  b->mem = slp_mem_new(NULL, NULL);
  b->sim = slp_sim_new(b->mem, seed);
  slp_sim_serve(b->sim, serve, b);
  b->host = slp_sim_host_new(b->sim, b->mem, NULL);
  slp_buf_init(&b->into, b->mem, 100000);
  b->answer_bytes = 1000;
  static const slp_http_header headers[] = {{{"X-Amz-Target", 12}, {"T", 1}}};
  b->call = (slp_http){.method = "POST",
                       .url = "http://svc.test:80/",
                       .headers = headers,
                       .headers_n = 1,
                       .into = &b->into,
                       .on_done = on_done};
}

static void tear_down(bench *b) {
  slp_buf_free(&b->into);
  slp_host_close(b->host, on_closed, b);
  CHECK(!b->closed);
  slp_sim_run(b->sim, UINT64_MAX - 1, NULL, NULL);
  CHECK(b->closed);
  slp_sim_free(b->sim);
  CHECK_INT(b->mem->live_blocks, 0);
  slp_mem_drop(b->mem);
}

static int is_done(void *arg) { return ((bench *)arg)->done; }

TEST(a_call_is_answered_once_and_later) {
  bench b;
  set_up(&b, 1);
  slp_http_send(b.host, &b.call);
  CHECK_INT(b.done, 0);
  slp_sim_run(b.sim, 60000000, NULL, NULL);
  CHECK_INT(b.done, 1);
  CHECK_INT(b.call.error, 0);
  CHECK_INT(b.call.status, 200);
  CHECK_INT(b.into.n, 1000);
  CHECK_STR(b.call.content_type, "application/json");
  CHECK_INT(b.call.date_ms % 1000, 0);
  CHECK(b.call.done_us >= b.call.sent_us + 2000);
  tear_down(&b);
}

TEST(a_cancelled_call_is_silent_but_reaches_the_service) {
  bench b;
  set_up(&b, 2);
  slp_http_send(b.host, &b.call);
  slp_http_cancel(b.host, &b.call);
  memset(&b.call, 0xdd, sizeof b.call); /* nothing of it may be touched again */
  slp_sim_run(b.sim, 60000000, NULL, NULL);
  CHECK_INT(b.served, 1);
  CHECK_INT(b.done, 0);
  CHECK_INT(b.into.n, 0);
  tear_down(&b);
}

TEST(cancel_after_every_number_of_events_is_silent) {
  for (int stop = 0; stop < 12; stop++) {
    bench b;
    set_up(&b, 3);
    slp_sim_network(b.sim)->piece_bytes_min = slp_sim_network(b.sim)->piece_bytes_max = 300;
    slp_http_send(b.host, &b.call);
    for (int i = 0; i < stop; i++) slp_sim_step(b.sim);
    int done = b.done;
    slp_http_cancel(b.host, &b.call);
    slp_sim_run(b.sim, 60000000, NULL, NULL);
    CHECK_INT(b.done, done);
    tear_down(&b);
  }
}

TEST(a_body_that_may_not_grow_waits_and_the_wait_is_free) {
  bench b;
  set_up(&b, 4);
  slp_sim_network(b.sim)->piece_bytes_min = slp_sim_network(b.sim)->piece_bytes_max = 100;
  b.call.may_grow = may_grow;
  b.call.total_ms_max = 1000;
  b.room = 450;
  slp_http_send(b.host, &b.call);
  slp_sim_run(b.sim, 120000000, NULL, NULL);
  CHECK_INT(b.done, 0);
  CHECK_INT(b.into.n, 400);
  b.room = 10000;
  slp_http_resume(b.host, &b.call);
  CHECK_INT(b.into.n, 400);
  slp_sim_run(b.sim, 130000000, is_done, &b);
  CHECK_INT(b.done, 1);
  CHECK_INT(b.call.error, 0);
  CHECK_INT(b.into.n, 1000);
  tear_down(&b);
}

TEST(every_kind_of_broken_network_ends_in_its_error) {
  static const struct {
    size_t at;
    int error, status;
  } kinds[] = {{offsetof(slp_sim_net, refuse_ppm), -ECONNREFUSED, 0},
               {offsetof(slp_sim_net, reset_ppm), -ECONNRESET, 0},
               {offsetof(slp_sim_net, silent_ppm), SLP_ETIMEDOUT, 0},
               {offsetof(slp_sim_net, cut_ppm), SLOOP_EREMOTE, 200},
               {offsetof(slp_sim_net, clip_ppm), 0, 200}};
  for (size_t i = 0; i < SLP_COUNT(kinds); i++) {
    bench b;
    set_up(&b, 5 + i);
    uint32_t all = 1000000;
    memcpy((char *)slp_sim_network(b.sim) + kinds[i].at, &all, sizeof all);
    slp_http_send(b.host, &b.call);
    slp_sim_run(b.sim, 120000000, is_done, &b);
    CHECK_INT(b.done, 1);
    CHECK_INT(b.call.error, kinds[i].error);
    CHECK_INT(b.call.status, kinds[i].status);
    CHECK(b.into.n < 1000);
    CHECK_INT(b.served, i > 0);
    tear_down(&b);
  }
}

TEST(a_body_over_its_limit_is_too_big) {
  bench b;
  set_up(&b, 11);
  b.answer_bytes = 100001;
  slp_http_send(b.host, &b.call);
  slp_sim_run(b.sim, 120000000, is_done, &b);
  CHECK_INT(b.call.error, SLOOP_ETOOBIG);
  tear_down(&b);
}

typedef struct ticking {
  slp_timer timer;
  slp_host *host;
  uint64_t fired_us, true_us;
  slp_sim *sim;
} ticking;
static void tick(slp_timer *t) {
  ticking *k = SLP_OWNER(t, ticking, timer);
  k->fired_us = slp_now_us(k->host);
  k->true_us = slp_sim_now_us(k->sim);
}

TEST(timers_follow_the_clock_of_their_host) {
  bench b;
  set_up(&b, 12);
  slp_sim_clock fast = {.wall_off_ms = -3600000, .mono_start_us = 77, .drift_ppm = 100000};
  slp_host *h = slp_sim_host_new(b.sim, b.mem, &fast);
  ticking k = {.timer = {.at_us = UINT64_MAX, .run = tick}, .host = h, .sim = b.sim};
  CHECK_INT(slp_wall_ms(h), slp_sim_unix_ms(b.sim) - 3600000);
  CHECK_INT(slp_timer_set(h, &k.timer, slp_now_us(h) + 1100000), 0);
  slp_sim_run(b.sim, 10000000, NULL, NULL);
  CHECK(k.fired_us >= 1100077);
  CHECK(k.true_us >= 1000000 && k.true_us < 1000100);
  CHECK_INT(slp_timer_set(h, &k.timer, slp_now_us(h) + 1000), 0);
  k.fired_us = 0;
  uint64_t before = slp_sim_now_us(b.sim);
  slp_sim_freeze(h, 5000000);
  slp_sim_run(b.sim, before + 4999999, NULL, NULL);
  CHECK_INT(k.fired_us, 0);
  slp_sim_run(b.sim, before + 6000000, NULL, NULL);
  CHECK(k.fired_us > 0);
  slp_host_close(h, NULL, NULL);
  tear_down(&b);
}

static uint64_t hash_of_run(uint64_t seed) {
  bench b;
  set_up(&b, seed);
  slp_sim_network(b.sim)->piece_bytes_min = 1;
  slp_sim_network(b.sim)->piece_bytes_max = 90;
  slp_sim_network(b.sim)->piece_gap_us_max = 400;
  slp_http_send(b.host, &b.call);
  slp_sim_run(b.sim, 120000000, NULL, NULL);
  slp_sim_trace(b.sim, "random %" PRIu64 " at %" PRIu64, slp_random(b.host), b.call.done_us);
  uint64_t hash = slp_sim_trace_hash(b.sim);
  tear_down(&b);
  return hash;
}

TEST(one_seed_is_one_run) {
  CHECK(hash_of_run(42) == hash_of_run(42));
  CHECK(hash_of_run(42) != hash_of_run(43));
}

/* Runs on processors of either byte order are compared by this hash. */
TEST(a_hash_is_the_same_whatever_the_byte_order) {
  bench b;
  set_up(&b, 1);
  slp_sim_fold(b.sim, "nineteen bytes here", 19);
  CHECK(slp_sim_trace_hash(b.sim) == UINT64_C(0x4ef16bc2572bf9c9));
  slp_sim_fold_number(b.sim, UINT64_C(0x0123456789abcdef));
  CHECK(slp_sim_trace_hash(b.sim) == UINT64_C(0x1d5b8991abcac34c));
  tear_down(&b);
}

TEST(files_are_found_or_not) {
  bench b;
  set_up(&b, 13);
  slp_sim_file(b.host, "/x", "hello");
  slp_file f = {.path = "/x", .bytes_max = 10, .into = &b.into};
  f.on_done = NULL;
  slp_file_read(b.host, &f);
  slp_file_cancel(b.host, &f);
  slp_sim_run(b.sim, 1000000, NULL, NULL);
  CHECK_INT(b.into.n, 0);
  tear_down(&b);
}
