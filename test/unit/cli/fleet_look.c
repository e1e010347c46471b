/* fleet_look.c - when a worker looks at its whole fleet: soon at first and when its shards change, more and more
 * seldom afterwards, and seldom after looks that failed. */
#include "cli/fleet_look.h"

#include "check.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define HOUR_US UINT64_C(3600000000)
#define LEASES 3 /* rows that the table of fake_sloop.c has */

static uv_loop_t loop;
static slp_mem *mem;
static slp_args args;
static slp_app app;
static slp_cli_consumer c;
static slp_fleet_look k;
static uint64_t looked, before_us, after_us; /* the last look, or attempt at one, ended between the two */

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) { (void)s, (void)b, (void)arg; }
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) { (void)s, (void)e, (void)arg; }
static void on_closed(sloop_t *s, int status, void *arg) { (void)s, (void)status, (void)arg; }
static void on_consumer_closed(slp_cli_consumer *consumer) { (void)consumer; }
static void on_looked(slp_cli_consumer *consumer) {
  CHECK(consumer == &c);
  looked++;
}

/* The first `failures` readings of the rows fail with this code. */
static void begin(int code, int failures) {
  char error[40], why[100];
  sloop_opts_t o;
  snprintf(error, sizeof error, "%d:x%d", code, failures);
  if (failures) setenv("FAKE_ERROR", error, 1);
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(uv_loop_init(&loop), 0);
  sloop_opts_init(&o);
  o.stream = "orders";
  o.app = args.opts.app = "app";
  o.on_batch = on_batch;
  o.on_error = on_error;
  args.quiet = 1;
  app = (slp_app){.mem = mem, .args = &args, .loop = &loop};
  c = (slp_cli_consumer){.app = &app, .joined = 1, .started = 1, .on_closed = on_consumer_closed};
  CHECK_INT(sloop_open(&c.s, &loop, &o, why, sizeof why), 0);
  c.admin = sloop_admin_of(c.s);
  slp_fleet_look_init(&k, mem, &c, on_looked);
}

static void end(void) {
  slp_fleet_look_free(&k);
  if (!c.closing) sloop_close(c.s, on_closed, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* Looks now, whatever the pause is, and waits until the look has ended. */
static void look(void) {
  k.again_us = 0;
  slp_fleet_look_tick(&k, 0);
  CHECK(k.state == SLP_LOOK_ROWS);
  while (k.state != SLP_LOOK_IDLE) {
    before_us = slp_program_mono_us();
    uv_run(&loop, UV_RUN_ONCE);
    after_us = slp_program_mono_us();
  }
}

static void set_mine(const char *n) { setenv("FAKE_MINE", n, 1); }

/* Checks that the next look comes `ms` after something that happened between before_us and after_us. */
static void check_pause(uint64_t ms, int line) {
  if (k.again_us < before_us + ms * 1000 || k.again_us > after_us + ms * 1000)
    CHECK_FAIL("line %d: the pause is %.1f ms and not %d", line, (double)(k.again_us - after_us) / 1e3,
               (int)ms);
}
#define CHECK_PAUSE(ms) check_pause(ms, __LINE__)

static void tick(void) {
  before_us = slp_program_mono_us();
  slp_fleet_look_tick(&k, 0);
  after_us = slp_program_mono_us();
}

TEST(a_pause_is_twice_as_long_as_the_one_before_up_to_two_seconds) {
  static const uint64_t pauses[] = {100, 200, 400, 800, 1600, 2000, 2000};
  begin(0, 0);
  for (size_t i = 0; i < SLP_COUNT(pauses); i++) {
    look();
    CHECK_INT(looked, i + 1);
    CHECK_INT(k.found, i ? SLP_WHOLE_SHARED : SLP_WHOLE_WAITS);
    CHECK(*k.why);
    CHECK_PAUSE(pauses[i] + LEASES);
    k.again_us += HOUR_US; /* however busy the machine is */
    tick();
    CHECK(k.state == SLP_LOOK_IDLE);
  }
  end();
}

TEST(without_rows_the_stream_is_asked_for_its_shards_before_the_look_is_over) {
  setenv("FAKE_LEASES", "0", 1);
  begin(0, 0);
  look();
  CHECK_INT(looked, 1);
  CHECK(k.found == SLP_WHOLE_WAITS);
  CHECK_STR(k.why, "shardId-000000000001 has no lease yet"); /* the first open one of the listing */
  end();
}

TEST(when_its_shards_change_the_next_look_comes_soon) {
  begin(0, 0);
  for (int i = 0; i < 6; i++) look();
  set_mine("2");
  tick();
  CHECK_PAUSE(100 + LEASES);
  CHECK(k.state == SLP_LOOK_IDLE);
  look();
  CHECK_PAUSE(100 + LEASES);
  look();
  CHECK_PAUSE(200 + LEASES);
  uint64_t again_us = k.again_us += HOUR_US;
  tick();
  CHECK_INT(k.again_us, again_us); /* nothing has changed since */
  set_mine("1");
  k.again_us = slp_program_mono_us() + 1000; /* sooner than that is not put off */
  again_us = k.again_us;
  tick();
  CHECK(k.state == SLP_LOOK_ROWS || k.again_us == again_us);
  while (k.state != SLP_LOOK_IDLE) uv_run(&loop, UV_RUN_ONCE);
  end();
}

TEST(after_looks_that_failed_the_pause_doubles_and_shards_that_change_do_not_shorten_it) {
  static const uint64_t pauses[] = {2000, 4000, 8000, 16000, 32000, 32000};
  begin(SLOOP_ETHROTTLE, SLP_COUNT(pauses));
  for (size_t i = 0; i < SLP_COUNT(pauses); i++) {
    look();
    CHECK_INT(k.tries, i + 1);
    CHECK(!looked && k.found == SLP_WHOLE_UNKNOWN);
    CHECK_PAUSE(pauses[i]);
    uint64_t again_us = k.again_us += HOUR_US;
    set_mine(i % 2 ? "2" : "1");
    tick();
    CHECK_INT(k.again_us, again_us);
    CHECK(k.state == SLP_LOOK_IDLE && !c.failed);
  }
  look();
  CHECK_INT(looked, 1);
  CHECK_INT(k.tries, 0);
  CHECK_PAUSE(100 + LEASES);
  end();
}

TEST(an_error_that_does_not_pass_ends_the_command) {
  begin(SLOOP_EACCESS, 1);
  look();
  CHECK(c.failed && !looked);
  CHECK_INT(app.exit_code, SLP_EXIT_FAILED);
  end();
}

TEST(while_it_stops_or_before_it_has_joined_no_look_begins_and_no_answer_counts) {
  begin(0, 0);
  c.joined = 0;
  slp_fleet_look_tick(&k, 0);
  CHECK(k.state == SLP_LOOK_IDLE);
  c.joined = 1;
  slp_fleet_look_tick(&k, 0);
  CHECK(k.state == SLP_LOOK_ROWS);
  c.stopping = 1;
  uv_run(&loop, UV_RUN_ONCE);
  CHECK(k.state == SLP_LOOK_ROWS && !looked);
  c.stopping = 0;
  k.state = SLP_LOOK_IDLE;
  c.stopping = 1;
  k.again_us = 0;
  slp_fleet_look_tick(&k, 0);
  CHECK(k.state == SLP_LOOK_IDLE);
  end();
}
