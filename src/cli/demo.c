/* demo.c - shows the library at work on a stream in a sandbox. To check what the consumer hands out, the demo
 * keeps its own list of the records that it has put (ledger.h). It does not trust the statistics of the
 * library. */
#include "cli/demo.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/ledger.h"
#include "cli/people_lines.h"
#include "cli/progress_line.h"
#include "cli/record_formats.h"
#include "cli/serve.h"
#include "program/process.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_sandbox.h>
#include <stdio.h>

#define STREAM "demo"
#define SHARDS 4
#define DEFAULT_SECONDS 8
#define RECORDS_MIN 12000 /* the demo puts at least this many records, however short its time is */
#define RATE_MIN 2000     /* the demo puts at least this many records per second */
#define PUT_EVERY_MS 10
#define PUTS_A_TICK_MAX 1000
#define SHOW_EVERY 400 /* about one of this many records is printed */
/* the demo fails if records are still missing this long after the last put */
#define WAIT_FOR_REST_US 15000000u

typedef struct demo {
  slp_app app;
  slp_cli_consumer consumer;
  slp_progress progress;
  slp_ledger ledger;
  sloop_sandbox_t *box; /* owned */
  slp_ticker *producer; /* owned */
  /* produce_us: for how long the demo puts records. produced_at_us: when it put the last record */
  uint64_t begun_us, produce_us, produced_at_us;
  uint64_t rate; /* records to put per second */
  uint64_t put;  /* number of puts that the sandbox has confirmed */
  /* number of records that the library flagged as late; printed next to the ledger's own count */
  uint64_t late;
  /* stage of the changes of shards: 0: none is done, 1: the split is done, 2: the split and the merge are
   * done */
  uint32_t stage;
  /* produced: 1 once all records are put. ended: 1 once the consumer is stopped. terminal: 1 if standard
   * output is a terminal */
  uint8_t produced, ended, terminal;
} demo;

/* The last step of splitmix64. It turns 0, 1, 2 ... into keys whose hashes are far apart, the same in each
 * run. */
static void mix_key_bits(uint64_t *x) {
  *x = (*x ^ *x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  *x = (*x ^ *x >> 27) * UINT64_C(0x94d049bb133111eb);
  *x ^= *x >> 31;
}

static void end_demo(demo *d) {
  if (d->ended) return;
  d->ended = 1;
  if (d->producer) slp_ticker_close(d->producer);
  d->producer = NULL;
  slp_cli_consumer_stop(&d->consumer, 500);
}

/* Puts one record. Returns 0; 1 if the sandbox refuses the record for the moment, because of a change of
 * shards or a limit; or a negative code on a failure. */
static int put_one(demo *d) {
  uint64_t user = d->put;
  mix_key_bits(&user);
  char key[32], data[160], seq[130], shard[129];
  static const char *const open_now[] = {"4", "5", "4"};
  int key_n = snprintf(key, sizeof key, "user-%llu", (unsigned long long)(user % 5000));
  int data_n = snprintf(data, sizeof data, "{\"n\":%llu,\"user\":\"%s\",\"shards\":%s}",
                        (unsigned long long)d->put, key, open_now[d->ledger.phase < 2 ? d->ledger.phase : 2]);
  int r = sloop_sandbox_put(d->box, STREAM, key, (size_t)key_n, data, (size_t)data_n, seq, shard);
  if (r) return 1;
  int is_new;
  r = slp_ledger_put(&d->ledger, shard, seq, &is_new);
  if (r) return r;
  d->put++;
  return 0;
}

/* Returns 1 if part/3 of produce_us has passed; part is 1, 2 or 3. */
static int is_due(const demo *d, uint64_t now_us, uint64_t part) {
  return now_us - d->begun_us >= d->produce_us * part / 3;
}

/* After a third of the time splits a shard, and after two thirds merges two shards. If the sandbox refuses
 * the change, the next tick tries it again. */
static void reshard_demo_stream(demo *d, uint64_t now_us) {
  if (d->stage == 0 && is_due(d, now_us, 1)) {
    if (sloop_sandbox_split(d->box, STREAM, "shardId-000000000001", NULL) != 0) return;
    /* An error only means that no record was put into this shard. Then no child shard has to wait for its
     * records. */
    (void)slp_ledger_change(&d->ledger, "shardId-000000000001", NULL);
    d->stage = 1;
  } else if (d->stage == 1 && is_due(d, now_us, 2) && d->ledger.phase == 1) {
    /* Merges the upper half of the split shard with the shard next to it, so that the child's two parents are
     * of different generations. */
    if (sloop_sandbox_merge(d->box, STREAM, "shardId-000000000005", "shardId-000000000002") != 0) return;
    (void)slp_ledger_change(&d->ledger, "shardId-000000000005", "shardId-000000000002");
    d->stage = 2;
  }
}

static void on_produce(void *arg) {
  demo *d = arg;
  if (d->produced || d->ended) return;
  uint64_t now_us = slp_program_mono_us();
  uint64_t wanted = (now_us - d->begun_us) * d->rate / 1000000u;
  reshard_demo_stream(d, now_us);
  for (int i = 0; i < PUTS_A_TICK_MAX && d->put < wanted; i++) {
    int r = put_one(d);
    if (r < 0) {
      slp_cli_consumer_fail(&d->consumer, SLP_EXIT_FAILED, "no memory");
      return;
    }
    if (r) break;
  }
  if (!is_due(d, now_us, 3) || d->put < RECORDS_MIN) return;
  d->produced = 1;
  d->produced_at_us = now_us;
}

static void show_demo_record(demo *d, const sloop_record_t *r) {
  slp_buf b;
  slp_buf_init(&b, d->app.mem, 1 << 16);
  slp_show_style style = {.delimiter = SLP_STR("\n"), .colour = d->terminal};
  if (slp_show_terminal(&b, r, &style) != 0) slp_buf_clear(&b);
  slp_app_write(&d->app, &b);
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *b) {
  demo *d = c->user;
  size_t n = sloop_batch_count(b);
  for (size_t i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    slp_ledger_read(&d->ledger, r->shard, r->seq.base, r->seq.len, r->arrived_at_ms);
    if (r->flags & SLOOP_REC_LATE) d->late++;
    if (d->ledger.read % SHOW_EVERY == 1 && !d->app.args->quiet) show_demo_record(d, r);
  }
  sloop_batch_done(b, n);
}

static void on_tip(slp_cli_consumer *c) {
  demo *d = c->user;
  /* every record that was put has been read, so no late record can come any more */
  if (d->produced && d->ledger.read >= d->ledger.put) end_demo(d);
}

static void on_tick(slp_app *app) {
  demo *d = app->user;
  slp_cli_consumer_tick(&d->consumer);
  slp_progress_tick(&d->progress, &d->consumer);
  if (!d->produced || d->ended) return;
  uint64_t waited_us = slp_program_mono_us() - d->produced_at_us;
  if ((d->ledger.read >= d->ledger.put && waited_us >= 3000000u) || waited_us >= WAIT_FOR_REST_US)
    end_demo(d);
}

/* ---- the verdict ---------------------------------------------------------------------------- */

/* Returns 1 if the ledger proves what the demo promises: every record was handed out once and in order, while
 * the stream had first 4, then 5, then 4 shards. */
static int is_proven(const demo *d) {
  const slp_ledger *l = &d->ledger;
  return slp_ledger_proven(l) && l->put >= 10000 && l->phase == 2 && slp_ledger_width(l, 0) == 4 &&
         slp_ledger_width(l, 1) == 5 && slp_ledger_width(l, 2) == 4 && l->children == 3;
}

static void print_verdict(demo *d) {
  const slp_ledger *l = &d->ledger;
  slp_buf b;
  slp_buf_init(&b, d->app.mem, 1 << 16);
  slp_buf_addf(&b, "%llu records put, %llu records read through %u, %u and %u shards (%llu, %llu and %llu)\n",
               (unsigned long long)l->put, (unsigned long long)l->read, slp_ledger_width(l, 0),
               slp_ledger_width(l, 1), slp_ledger_width(l, 2), (unsigned long long)l->read_in[0],
               (unsigned long long)l->read_in[1], (unsigned long long)l->read_in[2]);
  slp_buf_addf(&b, "in each of %u shards: %llu missing, %llu out of order, twice or unknown\n", l->names.n,
               (unsigned long long)slp_ledger_missing(l), (unsigned long long)l->wrong);
  slp_buf_addf(&b, "across shards: %llu read after one that arrived later (flagged late: %llu)\n",
               (unsigned long long)l->time_back, (unsigned long long)d->late);
  slp_buf_addf(&b, "%u children of a split and a merge: %llu records read before their parents' last\n",
               l->children, (unsigned long long)l->child_early);
  slp_buf_addf(&b, "%s\n",
               is_proven(d) ? "OK: every record was read once, in order, parents before children, over HTTP"
                            : "FAILED");
  if (slp_buf_failed(&b)) slp_buf_clear(&b);
  slp_app_write(&d->app, &b);
  if (is_proven(d)) return;
  d->app.exit_code = SLP_EXIT_FAILED;
  if (d->app.interrupted || d->app.out_failed)
    slp_say("interrupted before the end: nothing was checked");
  else
    slp_say("the demo failed; please run it with -vv and report the output");
}

static void leave_if_done(demo *d) {
  if (d->consumer.closed && !d->box && d->app.out && slp_app_unwritten(&d->app) == 0) slp_app_close(&d->app);
}

static void on_box_gone(void *arg) {
  demo *d = arg;
  d->box = NULL;
  leave_if_done(d);
}

static void on_closed(slp_cli_consumer *c) {
  demo *d = c->user;
  if (d->producer) slp_ticker_close(d->producer);
  d->producer = NULL;
  if (!c->failed) print_verdict(d);
  slp_progress_end(d->app.args, &c->last);
  sloop_sandbox_stop(d->box, on_box_gone, d);
}

static void on_written(slp_app *app) { leave_if_done(app->user); }
static void on_interrupt(slp_app *app) { end_demo(app->user); }

static void on_out_failed(slp_app *app) {
  end_demo(app->user);
  leave_if_done(app->user);
}

static void on_overdue(slp_app *app) {
  demo *d = app->user;
  if (d->consumer.closed) slp_app_close(app);
}

/* ---- start ---------------------------------------------------------------------------------- */

static int start_box(demo *d) {
  sloop_sandbox_opts_t o = d->app.args->sandbox;
  /* no limit, so that the producer may catch up after the machine was paused */
  o.write_records_per_second = 0;
  o.write_bytes_per_second = 0;
  int r = sloop_sandbox_start(&d->box, d->app.loop, &o);
  if (!r) r = sloop_sandbox_stream(d->box, STREAM, SHARDS);
  if (!r) return 0;
  slp_say("the sandbox did not start: %s (%s)", sloop_strerror(r), sloop_err_name(r));
  d->app.exit_code = SLP_EXIT_FAILED;
  return r;
}

static int start_consumer(demo *d) {
  sloop_opts_t o = d->app.args->opts;
  o.stream = STREAM;
  o.endpoint = sloop_sandbox_url(d->box);
  o.region = SLP_SANDBOX_REGION;
  o.creds = slp_sandbox_creds;
  o.start.kind = SLOOP_OLDEST;
  o.poll_ms = 250; /* fast polling, because no other consumer shares this stream's limit of reads */
  if (!d->app.args->order_wait_given) o.order_wait_ms = UINT32_MAX;
  return slp_cli_consumer_open(&d->consumer, &d->app, &o);
}

static void give_up(demo *d) {
  if (d->producer) slp_ticker_close(d->producer);
  d->producer = NULL;
  if (d->box) sloop_sandbox_stop(d->box, NULL, NULL);
  d->box = NULL;
  slp_app_close(&d->app);
}

int slp_demo_run(slp_mem *mem, const slp_args *args) {
  demo d = {.terminal = (uint8_t)slp_is_terminal(1)};
  slp_ledger_init(&d.ledger, mem);
  d.app.user = d.consumer.user = &d;
  d.app.on_interrupt = on_interrupt;
  d.app.on_overdue = on_overdue;
  d.app.on_tick = on_tick;
  d.app.on_written = on_written;
  d.app.on_out_failed = on_out_failed;
  d.consumer.on_batch = on_batch;
  d.consumer.on_tip = on_tip;
  d.consumer.on_closed = on_closed;
  uint64_t seconds = args->seconds ? args->seconds : DEFAULT_SECONDS;
  /* the last second is for reading the records that were put last */
  d.produce_us = (seconds > 2 ? seconds - 1 : seconds) * 1000000u;
  d.rate = RECORDS_MIN * UINT64_C(1000000) / d.produce_us + 1;
  if (d.rate < RATE_MIN) d.rate = RATE_MIN;
  if (slp_app_open(&d.app, mem, args) == 0) {
    int r = start_box(&d);
    d.begun_us = slp_program_mono_us();
    if (!r) d.producer = slp_ticker_new(mem, d.app.loop, PUT_EVERY_MS, on_produce, &d);
    if (!r && !d.producer) r = SLP_ENOMEM;
    if (!r) r = start_consumer(&d);
    if (r) {
      if (!d.app.exit_code) d.app.exit_code = SLP_EXIT_FAILED;
      give_up(&d);
    }
  }
  int code = slp_app_run(&d.app);
  slp_ledger_free(&d.ledger);
  return code;
}
