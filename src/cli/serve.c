/* serve.c - serves a sandbox until standard input ends. */
#include "cli/serve.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "cli/people_lines.h"
#include "codec/date.h"
#include "codec/json_write.h"
#include "program/process.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_sandbox.h>
#include <stdio.h>

/* ---- the records of --feed ---------------------------------------------------------------------------- */
#define USERS 200u

static uint64_t mix_number_bits(uint64_t v) { /* the output function of splitmix64 */
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

int slp_feed_record(uint64_t number, int64_t now_ms, slp_buf *b, char key[SLP_FEED_KEY]) {
  static const char *const events[] = {"placed", "placed", "placed", "paid", "paid", "shipped", "cancelled"};
  static const char *const goods[] = {"tea", "bread", "lamp", "book", "bicycle", "soap", "chair", "ink"};
  uint64_t dice = mix_number_bits(number * UINT64_C(0x9e3779b97f4a7c15) + 1);
  char at[25];
  snprintf(key, SLP_FEED_KEY, "user-%u", (unsigned)(dice % USERS));
  slp_date_iso(now_ms, at);
  slp_jw w = slp_jw_begin(b);
  slp_jw_u64(&w, "order", number + 1);
  slp_jw_z(&w, "event", events[(dice >> 16) % SLP_COUNT(events)]);
  slp_jw_z(&w, "user", key);
  slp_jw_z(&w, "item", goods[(dice >> 24) % SLP_COUNT(goods)]);
  slp_jw_u64(&w, "count", 1 + (dice >> 32) % 5);
  slp_jw_scaled(&w, "price", 99 + (dice >> 40) % 20000, 2);
  slp_jw_z(&w, "at", at);
  return slp_jw_object_end(&w);
}

uint64_t slp_feed_due(uint64_t us, uint64_t rate) {
  return us / 1000000u * rate + us % 1000000u * rate / 1000000u;
}

#define TABLE_NAME_MIN 3 /* DynamoDB refuses shorter names of tables */
#define TABLE_PARTITIONS_MAX 100
#define FEED_MS 20 /* how often records of --feed are put */

void slp_sandbox_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t creds = {
      .size = sizeof creds, .access_key = "sandbox", .secret_key = "sandbox", .expires_at_ms = -1};
  (void)s;
  (void)arg;
  sloop_creds_done(rq, 0, &creds, NULL);
}

typedef struct serve {
  slp_app app;
  sloop_sandbox_t *box; /* owned; NULL after the sandbox began to stop */
  slp_in_end *in;       /* owned; calls back when standard input ends */
  slp_ticker *feeder;   /* owned; NULL without --feed */
  uint64_t fed_from_us, fed;
} serve;

static void on_box_gone(void *arg) {
  serve *s = arg;
  slp_app_close(&s->app);
}

static void end_serve(serve *s) {
  if (s->in) slp_in_end_close(s->in);
  s->in = NULL;
  if (s->feeder) slp_ticker_close(s->feeder);
  s->feeder = NULL;
  sloop_sandbox_t *box = s->box;
  s->box = NULL;
  if (box) sloop_sandbox_stop(box, on_box_gone, s);
}

static void on_in_end(void *arg) { end_serve(arg); }
static void on_interrupt(slp_app *app) { end_serve(app->user); }
static void on_out_failed(slp_app *app) { end_serve(app->user); }

static void add_export(slp_buf *b, const char *name, const char *value) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-+=";
  /* The value is written in single quotes, because a key may contain any character. A quote inside the value
   * is written as '\'': end of quotes, escaped quote, beginning of quotes. */
  const char *quote = value[strspn(value, plain)] ? "'" : "";
  slp_buf_addf(b, "export %s=%s", name, quote);
  for (; *value; value++)
    if (*value == '\'')
      slp_buf_add_z(b, "'\\''");
    else
      slp_buf_add_char(b, *value);
  slp_buf_addf(b, "%s\n", quote);
}

static void print_environment(serve *s) {
  const sloop_sandbox_opts_t *o = &s->app.args->sandbox;
  slp_buf b;
  slp_buf_init(&b, s->app.mem, 1 << 16);
  add_export(&b, "AWS_ENDPOINT_URL", sloop_sandbox_url(s->box));
  add_export(&b, "AWS_REGION", SLP_SANDBOX_REGION);
  add_export(&b, "AWS_DEFAULT_REGION", SLP_SANDBOX_REGION); /* boto3 reads this variable */
  add_export(&b, "AWS_ACCESS_KEY_ID", o->access_key ? o->access_key : "sandbox");
  add_export(&b, "AWS_SECRET_ACCESS_KEY", o->secret_key ? o->secret_key : "sandbox");
  if (o->session_token) add_export(&b, "AWS_SESSION_TOKEN", o->session_token);
  if (slp_buf_failed(&b)) slp_buf_clear(&b);
  slp_app_write(&s->app, &b);
}

static int start_box(serve *s) {
  const slp_args *a = s->app.args;
  const char *stream = a->stream ? a->stream : "demo";
  int r = sloop_sandbox_start(&s->box, s->app.loop, &a->sandbox);
  if (r) {
    s->box = NULL;
    slp_say("the sandbox could not listen on %s port %u: %s; is the port free and the address loopback?",
            a->sandbox.address, (unsigned)a->sandbox.port, sloop_strerror(r));
    s->app.exit_code = SLP_EXIT_FAILED;
    return r;
  }
  const slp_synthetic *y = &a->synthetic;
  r = y->bytes ? sloop_sandbox_synthetic(s->box, stream, a->serve_shards, y->records, (uint32_t)y->bytes,
                                         y->rate, y->seed)
               : sloop_sandbox_stream(s->box, stream, a->serve_shards);
  /* Each stream also gets a table of the same name, with the key "id" and a stream of its changes. */
  if (!r && strlen(stream) >= TABLE_NAME_MIN) {
    uint32_t partitions = (uint32_t)slp_min_u64(a->serve_shards, TABLE_PARTITIONS_MAX);
    r = sloop_sandbox_table(s->box, stream, partitions, "NEW_AND_OLD_IMAGES");
  }
  if (r) {
    slp_say("the sandbox could not make the stream \"%s\": %s", stream, sloop_strerror(r));
    s->app.exit_code = SLP_EXIT_FAILED;
    end_serve(s);
    return r;
  }
  return 0;
}

/* ---- --feed ---- */

static int put_one(serve *s, const char *stream) {
  char key[SLP_FEED_KEY], seq[130], shard[129];
  slp_buf b;
  slp_buf_init(&b, s->app.mem, 1 << 12);
  int r = slp_feed_record(s->fed, slp_program_wall_ms(), &b, key);
  if (!r) r = sloop_sandbox_put(s->box, stream, key, strlen(key), b.p, b.n, seq, shard);
  slp_buf_free(&b);
  return r;
}

/* Puts the records that are due. If the process was stopped for more than a second, skips the records that
 * were due before the last second. */
static void put_due_records(void *arg) {
  serve *s = arg;
  const slp_args *a = s->app.args;
  uint64_t due = slp_feed_due(slp_program_mono_us() - s->fed_from_us, a->feed);
  if (due > s->fed + a->feed) s->fed = due - a->feed;
  for (; s->fed < due; s->fed++) {
    int r = put_one(s, a->stream ? a->stream : "demo");
    if (!r) continue;
    slp_say("--feed ends here: %s", sloop_strerror(r));
    slp_ticker_close(s->feeder);
    s->feeder = NULL;
    return;
  }
}

int slp_serve_run(slp_mem *mem, const slp_args *args) {
  serve s = {0};
  s.app.user = &s;
  s.app.on_interrupt = on_interrupt;
  s.app.on_out_failed = on_out_failed;
  if (slp_app_open(&s.app, mem, args) != 0) return slp_app_run(&s.app);
  int r = start_box(&s);
  if (r) {
    if (!s.box && s.app.exit_code) slp_app_close(&s.app);
    return slp_app_run(&s.app);
  }
  s.in = slp_in_end_new(mem, s.app.loop, 0, on_in_end, &s);
  if (args->feed) {
    s.fed_from_us = slp_program_mono_us();
    s.feeder = slp_ticker_new(mem, s.app.loop, FEED_MS, put_due_records, &s);
  }
  if (!s.in || (args->feed && !s.feeder)) {
    slp_say("can't start: no memory or no file descriptors left");
    s.app.exit_code = SLP_EXIT_FAILED;
    end_serve(&s);
    return slp_app_run(&s.app);
  }
  print_environment(&s);
  s.app.serves = 1;
  if (!args->quiet)
    slp_say(
        "serving stream \"%s\" with %u shard%s until standard input ends; paste the lines above into another "
        "shell",
        args->stream ? args->stream : "demo", args->serve_shards, args->serve_shards == 1 ? "" : "s");
  return slp_app_run(&s.app);
}
