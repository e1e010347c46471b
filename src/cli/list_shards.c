/* list_shards.c - lists the shards of each stream (-L), lists the consumers registered with each stream
 * (--consumers), or deregisters a consumer (--deregister). */
#include "cli/list_shards.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/record_formats.h"
#include "cli/registered_text.h"
#include "codec/json_write.h"
#include "host/terminal.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

typedef struct list {
  slp_app app;
  slp_cli_consumer consumer; /* the consumer of the current stream; streams are handled one after the other */
  size_t at;                 /* index of the current stream in args->streams */
  uint64_t begun_us;
  uint64_t again_us; /* when to send the failed call again; 0: a call is under way, or its answer has come */
  uint32_t tries;    /* how often the call has failed in a row */
} list;

/* The wait after a failed call: 0.5 s after the first failure, doubled with each failure in a row, at most 4
 * s. */
#define AGAIN_US UINT64_C(250000)
#define AGAIN_DOUBLED 4

static const char *or_dash(const char *z) { return z && *z ? z : "-"; }

/* The columns of a table of shards. Parents have short names, which -p accepts too. The columns of hash keys
 * come last, because shards of DynamoDB Streams have none. With the narrowest widths the table fits into 80
 * columns. */
static const slp_column columns[] = {{"SHARD", 0, 0},    {"STATE", 0, 0},  {"PARENTS", 0, 0},
                                     {"SEQ-FROM", 8, 1}, {"SEQ-TO", 8, 1}, {"HASH-FROM", 9, 1},
                                     {"HASH-TO", 9, 1}};
#define HASH_COLUMNS 2

static void add_row(slp_columns *t, const sloop_shard_t *s) {
  char parents[SLP_CELL_BYTES_MAX];
  const char *also = s->adjacent_parent;
  snprintf(parents, sizeof parents, "%.250s%s%.250s", *s->parent ? slp_shard_short(s->parent) : "-",
           *also ? "," : "", *also ? slp_shard_short(also) : "");
  slp_columns_add(t, s->id);
  slp_columns_add(t, s->closed ? "closed" : "open");
  slp_columns_add(t, parents);
  slp_columns_add(t, or_dash(s->seq_start));
  slp_columns_add(t, or_dash(s->seq_end));
  if (t->n < SLP_COUNT(columns)) return;
  slp_columns_add(t, or_dash(s->hash_start));
  slp_columns_add(t, or_dash(s->hash_end));
}

int slp_list_table(slp_buf *b, const sloop_shard_t *const *shards, size_t n, size_t width) {
  slp_columns t;
  int hashed = !n || *or_dash(shards[0]->hash_start) != '-';
  slp_columns_init(&t, b->mem, columns, SLP_COUNT(columns) - (hashed ? 0 : HASH_COLUMNS));
  for (size_t i = 0; i < n; i++) add_row(&t, shards[i]);
  int r = slp_columns_show(&t, b, width);
  slp_columns_free(&t);
  return r;
}

/* Sequence numbers and hash keys are strings, as the service sends them, because some readers of JSON lose
 * digits of large numbers. */
int slp_list_json(slp_buf *b, const char *stream, const sloop_shard_t *s) {
  slp_jw w = {.b = b, .one_line = 1};
  slp_jw_object(&w, NULL);
  slp_jw_z(&w, "stream", stream);
  slp_jw_z_or_null(&w, "shard", s->id);
  slp_jw_z(&w, "state", s->closed ? "closed" : "open");
  slp_jw_z_or_null(&w, "parent", s->parent);
  slp_jw_z_or_null(&w, "adjacent_parent", s->adjacent_parent);
  slp_jw_z_or_null(&w, "hash_start", s->hash_start);
  slp_jw_z_or_null(&w, "hash_end", s->hash_end);
  slp_jw_z_or_null(&w, "seq_start", s->seq_start);
  slp_jw_z_or_null(&w, "seq_end", s->seq_end);
  slp_jw_object_end(&w);
  return slp_buf_add_char(b, '\n');
}

static void show_table(slp_buf *b, const char *stream_or_null, int first, const sloop_shard_t *const *shards,
                       size_t n) {
  uint32_t width = 0, rows = 0;
  int terminal = slp_terminal_size(1, &width, &rows) == 0;
  if (stream_or_null && !first) slp_buf_add_char(b, '\n');
  if (stream_or_null) slp_say_to(b, "%s", stream_or_null);
  slp_list_table(b, shards, n, terminal ? width : 0);
}

static void open_listed_stream(list *l);

static int has_more(const list *l) {
  return !l->consumer.failed && !l->app.interrupted && !l->app.out_failed &&
         l->at + 1 < l->app.args->streams_n;
}

static void leave_if_done(list *l) {
  if (l->consumer.closed && !has_more(l) && l->app.out && slp_app_unwritten(&l->app) == 0)
    slp_app_close(&l->app);
}

/* Returns 1 if the failed call may be sent again. A deregistration is sent again only after throttling. After
 * any other failure it may have succeeded although its answer was lost, and a second one would fail because
 * the consumer is gone. */
static int may_ask_again(const list *l, const sloop_error_t *error) {
  return error && (l->app.args->mode != SLP_MODE_DEREGISTER || error->code == SLOOP_ETHROTTLE);
}

/* Returns 1 with an empty `text` if the call succeeded and its result must be printed. Returns 0 if the
 * consumer is ending, or if the call failed; then it is sent again later, or the command fails. */
static int take_answer_or_ask_again(list *l, int status, const sloop_error_t *error, slp_buf *text) {
  if (l->consumer.stopping || l->consumer.failed) return 0;
  if (status != 0 && may_ask_again(l, error) &&
      slp_cli_consumer_asks_again(&l->consumer, error, ++l->tries)) {
    l->again_us = slp_program_mono_us() + (AGAIN_US << (l->tries < AGAIN_DOUBLED ? l->tries : AGAIN_DOUBLED));
    return 0;
  }
  if (status != 0) {
    char line[400];
    slp_cli_consumer_error_line(&l->consumer, status, error, line, sizeof line);
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, line);
    return 0;
  }
  slp_buf_init(text, l->app.mem, UINT64_C(1) << 30);
  return 1;
}

static void print_and_stop(list *l, slp_buf *text) {
  if (slp_buf_failed(text)) {
    slp_buf_free(text);
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, "no memory");
    return;
  }
  slp_app_write(&l->app, text);
  slp_cli_consumer_stop(&l->consumer, 0);
}

static void on_shards(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *error, void *arg) {
  list *l = arg;
  const slp_args *a = l->app.args;
  slp_buf text;
  (void)s;
  if (!take_answer_or_ask_again(l, status, error, &text)) return;
  const char *stream = a->streams[l->at];
  for (size_t i = 0; i < n && a->json; i++) slp_list_json(&text, stream, shards[i]);
  if (!a->json) show_table(&text, slp_args_several(a) ? stream : NULL, l->at == 0, shards, n);
  print_and_stop(l, &text);
}

static void on_registered(sloop_admin_t *admin, int status, const sloop_registered_t *const *consumers,
                          size_t n, const sloop_error_t *error, void *arg) {
  list *l = arg;
  const slp_args *a = l->app.args;
  slp_buf text;
  (void)admin;
  if (!take_answer_or_ask_again(l, status, error, &text)) return;
  for (size_t i = 0; i < n; i++) {
    if (a->mode == SLP_MODE_CONSUMERS)
      slp_consumers_show(&text, a->streams[l->at], slp_args_several(a), consumers[i], a->json);
    else
      slp_consumers_show_removed(&text, consumers[i]);
  }
  print_and_stop(l, &text);
}

static int start_list_request(list *l) {
  const slp_args *a = l->app.args;
  if (a->mode == SLP_MODE_CONSUMERS) return sloop_admin_registered(l->consumer.admin, on_registered, l);
  if (a->mode == SLP_MODE_DEREGISTER)
    return sloop_admin_deregister(l->consumer.admin, a->deregister, on_registered, l);
  return sloop_list(l->consumer.s, on_shards, l);
}

static void on_closed(slp_cli_consumer *c) {
  list *l = c->user;
  if (has_more(l)) {
    l->at++;
    open_listed_stream(l);
  } else {
    leave_if_done(l);
  }
}
static void on_written(slp_app *app) { leave_if_done(app->user); }

static void on_out_failed(slp_app *app) {
  list *l = app->user;
  slp_cli_consumer_stop(&l->consumer, 0);
  leave_if_done(l);
}

static const char may_be_done[] = "no answer came, so it may be done or not; see --consumers";
static const char no_shards[] = "no list of shards", no_consumers[] = "no list of consumers";

static void on_interrupt(slp_app *app) {
  list *l = app->user;
  const char *missing = app->args->mode == SLP_MODE_LIST ? no_shards : no_consumers;
  slp_cli_consumer_interrupt_between(&l->consumer, app->args->streams_n - l->at - 1,
                                     app->args->mode == SLP_MODE_DEREGISTER ? may_be_done : missing);
  slp_cli_consumer_stop(&l->consumer, 0);
}

static void on_overdue(slp_app *app) {
  list *l = app->user;
  if (l->consumer.closed) slp_app_close(app);
}

static int ask_or_fail(list *l) {
  int r = start_list_request(l);
  if (r == SLOOP_EOPTION)
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_USAGE, "only streams of Kinesis have registered consumers");
  else if (r)
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, "no memory");
  return r;
}

static void on_tick(slp_app *app) {
  list *l = app->user;
  uint64_t timeout_us = (app->args->contact_ms ? app->args->contact_ms : app->args->timeout_ms) * 1000u;
  uint64_t now_us = slp_program_mono_us();
  if (l->consumer.stopping) return;
  slp_cli_consumer_tick(&l->consumer);
  if (l->again_us && now_us >= l->again_us) {
    l->again_us = 0;
    if (ask_or_fail(l)) return;
  }
  if (!timeout_us || now_us - l->begun_us < timeout_us) return;
  char line[560];
  const char *what = app->args->mode == SLP_MODE_LIST         ? no_shards
                     : app->args->mode == SLP_MODE_DEREGISTER ? may_be_done
                                                              : no_consumers;
  snprintf(line, sizeof line, "%s in %llu s%s%s", what, (unsigned long long)(timeout_us / 1000000u),
           *l->consumer.error ? "; the last error: " : "", l->consumer.error);
  slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, line);
}

static void open_listed_stream(list *l) {
  const slp_args *a = l->app.args;
  sloop_opts_t o = a->opts;
  l->consumer = (slp_cli_consumer){.user = l, .on_closed = on_closed};
  if (slp_args_several(a)) l->consumer.name = a->streams[l->at];
  l->begun_us = slp_program_mono_us();
  l->again_us = l->tries = 0;
  o.stream = a->streams[l->at];
  if (slp_cli_consumer_open_idle(&l->consumer, &l->app, &o) != 0) {
    slp_app_close(&l->app);
    return;
  }
  ask_or_fail(l);
}

int slp_list_run(slp_mem *mem, const slp_args *args) {
  list l = {.app = {.mem = mem}};
  if (args->mode == SLP_MODE_DEREGISTER && !slp_consumers_removal_is_meant(args)) return SLP_EXIT_USAGE;
  l.app.user = &l;
  l.app.on_interrupt = on_interrupt;
  l.app.on_overdue = on_overdue;
  l.app.on_tick = on_tick;
  l.app.on_written = on_written;
  l.app.on_out_failed = on_out_failed;
  if (slp_app_open(&l.app, mem, args) == 0) open_listed_stream(&l);
  int code = slp_app_run(&l.app);
  /* the failure of a stream ends the command, so those behind it are not listed either */
  size_t missing = args->streams_n - l.at;
  if (code && missing > 1 && !args->quiet)
    slp_say("%zu of %zu streams were not listed", missing, args->streams_n);
  return code;
}
