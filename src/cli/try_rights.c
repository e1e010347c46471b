/* try_rights.c - tries each right of the policy that --iam prints, one stream after another, and prints a
 * line for each right. */
#include "cli/try_rights.h"

#include "api/rights.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/iam.h"
#include "cli/people_lines.h"
#include "cli/trouble_lines.h"
#include "codec/json_write.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

#define RIGHTS_MAX 1024u

typedef struct row {
  slp_right right; /* the right; this row owns the right's texts, except `action` */
  char *resource;  /* owned */
  size_t stream;   /* index of the stream with whose consumer the right is tried */
} row;

typedef struct tried {
  slp_app app;
  slp_cli_consumer consumer; /* the consumer of the stream whose rights are tried now */
  slp_rights *rights;
  row *rows;
  /* owned; copies of rows[at] to rows[at + batch_n - 1]: the rights that slp_rights tries with `consumer` */
  slp_right *batch;
  size_t n, at, batch_n;
  int failed; /* 1: the rights could not be collected, because there was no memory or there were too many */
  uint64_t begun_us;
} tried;

/* ---- collecting ---------------------------------------------------------------------------------------- */
static char *copy_of(slp_mem *mem, const char *z) { return z ? slp_strdup(mem, slp_str_of(z)) : NULL; }

static int add_row(tried *t, const slp_iam_statement *st, const char *action, const char *resource) {
  slp_mem *mem = t->app.mem;
  if (t->n == RIGHTS_MAX) return SLP_ELIMIT;
  row *it = &t->rows[t->n++];
  *it = (row){.right = {.action = action, .leases = st->leases}, .stream = st->stream};
  it->right.of = copy_of(mem, st->subject);
  it->right.consumer = copy_of(mem, st->consumer);
  it->resource = copy_of(mem, resource);
  return it->right.of && it->resource && (it->right.consumer || !st->consumer) ? 0 : SLP_ENOMEM;
}

static void collect_rights(void *ctx, const slp_iam_statement *st) {
  tried *t = ctx;
  slp_buf resource;
  slp_buf_init(&resource, t->app.mem, 1 << 16);
  if (slp_iam_resource(&resource, t->app.args, st)) t->failed = 1;
  for (size_t i = 0; st->actions[i] && !t->failed; i++)
    if (add_row(t, st, st->actions[i], slp_buf_z(&resource))) t->failed = 1;
  slp_buf_free(&resource);
}

/* Moves the rights on leases and metrics to the last stream. slp_iam_each reports them last, but with stream
 * 0, whose consumer is closed by then. */
static void order_rows(tried *t) {
  size_t stream = 0;
  for (size_t i = 0; i < t->n; i++) {
    if (t->rows[i].stream < stream) t->rows[i].stream = stream;
    stream = t->rows[i].stream;
  }
}

static void free_rows(tried *t) {
  slp_mem *mem = t->app.mem;
  for (size_t i = 0; i < t->n; i++) {
    slp_free(mem, (void *)(uintptr_t)t->rows[i].right.of);
    slp_free(mem, (void *)(uintptr_t)t->rows[i].right.consumer);
    slp_free(mem, t->rows[i].resource);
  }
  slp_free(mem, t->rows);
  slp_free(mem, t->batch);
}

/* ---- showing ------------------------------------------------------------------------------------------- */
static const char *word_of(slp_right_verdict verdict) {
  switch (verdict) {
    case SLP_RIGHT_ALLOWED: return "allowed";
    case SLP_RIGHT_DENIED: return "denied";
    case SLP_RIGHT_UNTRIED: return "untried";
    case SLP_RIGHT_UNKNOWN: return "unknown";
  }
  return "?";
}

static void show_right(slp_buf *b, const row *it, int json) {
  const slp_right *r = &it->right;
  if (!json) {
    slp_say_to(b, "%s %s %s%s%s", word_of(r->verdict), r->action, it->resource, *r->why ? ": " : "", r->why);
    return;
  }
  slp_jw w = {.b = b, .one_line = 1};
  slp_jw_object(&w, NULL);
  slp_jw_z(&w, "verdict", word_of(r->verdict));
  slp_jw_z(&w, "action", r->action);
  slp_jw_z(&w, "resource", it->resource);
  slp_jw_z_or_null(&w, "why", r->why);
  slp_jw_object_end(&w);
  slp_buf_add_char(b, '\n');
}

static size_t count_verdicts(const tried *t, slp_right_verdict verdict, const row **ret_first) {
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++)
    if (t->rows[i].right.verdict == verdict && n++ == 0) *ret_first = &t->rows[i];
  return n;
}

/* Called when all rights were tried. Prints the first missing right, or else the first that could not be
 * decided, and sets the exit code. */
static void conclude_rights(tried *t) {
  const row *first = NULL;
  size_t denied = count_verdicts(t, SLP_RIGHT_DENIED, &first),
         unknown = denied ? 0 : count_verdicts(t, SLP_RIGHT_UNKNOWN, &first);
  if (!denied && !unknown) return;
  size_t n = denied + unknown;
  slp_say("%zu right%s %s: %s on %s%s", n, n == 1 ? "" : "s", denied ? "missing" : "that could not be told",
          first->right.action, first->resource, n == 1 ? "" : ", ...");
  t->app.exit_code = denied ? SLP_EXIT_DENIED : SLP_EXIT_FAILED;
}

/* ---- one stream after another -------------------------------------------------------------------------- */
static void try_next_stream(tried *t);

static int has_more(const tried *t) {
  return !t->consumer.failed && !t->app.interrupted && !t->app.out_failed && t->at < t->n;
}

static void leave_if_done(tried *t) {
  if (t->consumer.closed && !has_more(t) && t->app.out && slp_app_unwritten(&t->app) == 0)
    slp_app_close(&t->app);
}

static void stop_rights(tried *t) {
  slp_rights_free(t->rights);
  t->rights = NULL;
  slp_cli_consumer_stop(&t->consumer, 0);
}

static void fail_rights(tried *t, const char *why) {
  slp_rights_free(t->rights);
  t->rights = NULL;
  slp_cli_consumer_fail(&t->consumer, SLP_EXIT_FAILED, why);
}

static void on_tried(slp_rights *rights, const slp_fail *f, void *arg) {
  tried *t = arg;
  slp_buf text;
  (void)rights;
  if (f->class != SLP_FINE) {
    char line[SLP_TOLD_LINE];
    sloop_error_t e = slp_error_of_fail(f);
    slp_cli_consumer_error_line(&t->consumer, f->code, &e, line, sizeof line);
    fail_rights(t, line);
    return;
  }
  slp_buf_init(&text, t->app.mem, UINT64_C(1) << 26);
  for (size_t i = 0; i < t->batch_n; i++, t->at++) {
    t->rows[t->at].right = t->batch[i];
    show_right(&text, &t->rows[t->at], t->app.args->json);
  }
  if (slp_buf_failed(&text)) {
    slp_buf_free(&text);
    fail_rights(t, "no memory");
    return;
  }
  slp_app_write(&t->app, &text);
  if (t->at == t->n) conclude_rights(t);
  stop_rights(t);
}

static void on_closed(slp_cli_consumer *c) {
  tried *t = c->user;
  if (has_more(t))
    try_next_stream(t);
  else
    leave_if_done(t);
}
static void on_written(slp_app *app) { leave_if_done(app->user); }

static void on_interrupt(slp_app *app) {
  tried *t = app->user;
  if (t->at < t->n)
    slp_cli_consumer_interrupt_between(&t->consumer, t->n - t->at, "not all rights were tried");
  stop_rights(t);
  leave_if_done(t);
}

static void on_out_failed(slp_app *app) {
  tried *t = app->user;
  stop_rights(t);
  leave_if_done(t);
}

static void on_overdue(slp_app *app) {
  tried *t = app->user;
  if (t->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  tried *t = app->user;
  uint64_t timeout_us = app->args->contact_ms * 1000u;
  char line[100];
  if (t->consumer.stopping) return;
  slp_cli_consumer_tick(&t->consumer);
  if (!timeout_us || slp_program_mono_us() - t->begun_us < timeout_us) return;
  snprintf(line, sizeof line, "not all rights were tried in %llu s",
           (unsigned long long)(timeout_us / 1000000u));
  fail_rights(t, line);
}

static void try_next_stream(tried *t) {
  const slp_args *a = t->app.args;
  sloop_opts_t o = a->opts;
  size_t stream = t->rows[t->at].stream;
  t->batch_n = 0;
  for (size_t i = t->at; i < t->n && t->rows[i].stream == stream; i++)
    t->batch[t->batch_n++] = t->rows[i].right;
  t->consumer = (slp_cli_consumer){.user = t, .on_closed = on_closed};
  if (a->streams_n > 1) t->consumer.name = a->streams[stream];
  t->begun_us = slp_program_mono_us();
  o.stream = a->streams[stream];
  /* The consumer only provides keys, region and endpoints. It reads no records and no lease table. */
  o.app = o.store = o.schema = o.worker = o.push_consumer = NULL;
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  if (slp_cli_consumer_open_idle(&t->consumer, &t->app, &o) != 0)
    slp_app_close(&t->app);
  else if (slp_rights_new(&t->rights, t->consumer.s, t->batch, t->batch_n, on_tried, t))
    fail_rights(t, "no memory");
}

int slp_rights_run(slp_mem *mem, const slp_args *args) {
  tried t = {.app = {.mem = mem, .args = args}};
  int code = SLP_EXIT_FAILED;
  t.rows = slp_zalloc_n(mem, RIGHTS_MAX, sizeof *t.rows);
  t.batch = slp_zalloc_n(mem, RIGHTS_MAX, sizeof *t.batch);
  if (!t.rows || !t.batch || slp_iam_each(mem, args, collect_rights, &t) || t.failed) {
    slp_say("no memory, or more than %u rights to try", RIGHTS_MAX);
  } else {
    order_rows(&t);
    t.app.user = &t;
    t.app.on_interrupt = on_interrupt;
    t.app.on_out_failed = on_out_failed;
    t.app.on_overdue = on_overdue;
    t.app.on_tick = on_tick;
    t.app.on_written = on_written;
    if (slp_app_open(&t.app, mem, args) == 0) try_next_stream(&t);
    code = slp_app_run(&t.app);
  }
  free_rows(&t);
  return code;
}
