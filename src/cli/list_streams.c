/* list_streams.c - lists the streams of the account (-L without STREAM). Also suggests similar names for a
 * stream that does not exist. */
#include "cli/list_streams.h"

#include "api/find_streams.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/trouble_lines.h"
#include "codec/date.h"
#include "codec/json_write.h"
#include "host/terminal.h"
#include "program/program.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

#define NO_STREAM "none"
#define SUGGEST_US UINT64_C(2000000)

static const slp_column columns[] = {{"STREAM", 12, 0}, {"STATUS", 0, 0}, {"MODE", 0, 0},
                                     {"SHARDS", 0, 1},  {"KEEPS", 0, 1},  {"CREATED", 0, 0}};

typedef struct streams {
  slp_app app;
  slp_cli_consumer consumer;
  slp_find *find;
  slp_columns table;
  size_t n; /* how many streams were shown */
  uint64_t begun_us;
  const char *missing; /* the name for which similar names are suggested; NULL: the command is -L */
  uint64_t limit_us;   /* the time after which the listing is ended early; 0: no limit */
} streams;

static const char *or_dash(const char *z) { return *z ? z : "-"; }

/* Appends a stream as a line of JSON. Returns 0, or the buffer's error. */
static int add_stream_json(slp_buf *b, const slp_found_stream *s) {
  slp_jw w = {.b = b, .one_line = 1};
  slp_jw_object(&w, NULL);
  slp_jw_z(&w, "stream", s->name);
  slp_jw_z_or_null(&w, "arn", s->arn);
  slp_jw_z_or_null(&w, "status", s->status);
  slp_jw_z_or_null(&w, "mode", s->mode);
  slp_jw_i64_or_null(&w, "open_shards", s->open_shards);
  slp_jw_i64_or_null(&w, "retention_hours", s->retention_hours);
  slp_jw_i64_or_null(&w, "created_at_ms", s->created_ms);
  slp_jw_z_or_null(&w, "error", s->why);
  slp_jw_object_end(&w);
  return slp_buf_add_char(b, '\n');
}

static void add_row(slp_columns *t, const slp_found_stream *s) {
  char shards[24] = "-", keeps[24] = "-", created[25] = "-";
  if (s->open_shards >= 0) snprintf(shards, sizeof shards, "%lld", (long long)s->open_shards);
  if (s->retention_hours >= 0)
    snprintf(keeps, sizeof keeps, s->retention_hours % 24 ? "%lldh" : "%lldd",
             (long long)(s->retention_hours % 24 ? s->retention_hours : s->retention_hours / 24));
  if (s->created_ms >= 0) {
    slp_date_iso(s->created_ms, created);
    created[10] = 0; /* cut after the day */
  }
  slp_columns_add(t, s->name);
  slp_columns_add(t, *s->why ? "unknown" : or_dash(s->status));
  slp_columns_add(t, or_dash(s->mode));
  slp_columns_add(t, shards);
  slp_columns_add(t, keeps);
  slp_columns_add(t, created);
}

static void leave_if_done(streams *l) {
  if (l->consumer.closed && l->app.out && slp_app_unwritten(&l->app) == 0) slp_app_close(&l->app);
}

static void stop_stream_list(streams *l) {
  slp_find_free(l->find);
  l->find = NULL;
  slp_cli_consumer_stop(&l->consumer, 0);
}

static void fail_stream_list(streams *l, const char *why) {
  slp_find_free(l->find);
  l->find = NULL;
  slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, why);
}

static void write_text(streams *l, slp_buf *text) {
  if (slp_buf_failed(text)) {
    slp_buf_free(text);
    fail_stream_list(l, "no memory");
    return;
  }
  slp_app_write(&l->app, text);
}

static void on_stream(slp_find *f, const slp_found_stream *s, void *arg) {
  streams *l = arg;
  (void)f;
  l->n++;
  if (*s->why) {
    l->app.exit_code = SLP_EXIT_FAILED;
    slp_say("%.150s is listed, and not described: %s", s->name, s->why);
  }
  if (!l->app.args->json) {
    add_row(&l->table, s);
    return;
  }
  slp_buf text;
  slp_buf_init(&text, l->app.mem, 1 << 16);
  add_stream_json(&text, s);
  write_text(l, &text);
}

/* Returns 1 if the server does not know the operation. Then the server is not AWS, but a program that serves
 * only one of the two services, Kinesis and DynamoDB. */
static int is_not_served(const slp_fail *f) {
  return strstr(f->aws_code, "UnknownOperation") || (f->http_status == 404 && !f->aws_code[0]) ||
         f->http_status == 405 || f->http_status == 501;
}

/* If listing the names of one service has failed, reports why. Returns 1 if the command must fail because of
 * that. */
static int report_missing_names(streams *l, const slp_fail *f, const char *what) {
  char line[SLP_TOLD_LINE];
  if (f->class == SLP_FINE) return 0;
  if (l->app.args->opts.endpoint && is_not_served(f)) {
    if (!l->app.args->quiet)
      slp_say("%s are not listed: the endpoint does not serve them (%s)", what, or_dash(f->aws_code));
    return 0;
  }
  sloop_error_t e = slp_error_of_fail(f);
  /* retry_in_ms is 0, so no advice is added; it would be about reading */
  slp_error_line(&e, line, sizeof line);
  slp_say("%s are not listed: %s", what, line);
  return 1;
}

static void show_table(streams *l) {
  slp_buf text;
  uint32_t width = 0, rows = 0;
  int terminal = slp_terminal_size(1, &width, &rows) == 0;
  slp_buf_init(&text, l->app.mem, UINT64_C(1) << 30);
  slp_columns_show(&l->table, &text, terminal ? width : 0);
  write_text(l, &text);
}

static void on_done(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  streams *l = arg;
  (void)f;
  int kinesis = report_missing_names(l, &fails[SLP_FIND_KINESIS], "streams of Kinesis"),
      tables = report_missing_names(l, &fails[SLP_FIND_TABLES], "tables with a stream");
  int none = fails[SLP_FIND_KINESIS].class != SLP_FINE && fails[SLP_FIND_TABLES].class != SLP_FINE;
  if (kinesis || tables || none) l->app.exit_code = SLP_EXIT_FAILED;
  if (!l->app.args->json && l->n) show_table(l);
  if (!l->n && !kinesis && !tables && !none && !l->app.args->quiet) slp_say("there are no streams here");
  stop_stream_list(l);
}

/* ---- suggestions --------------------------------------------------------------------------------------- */
static void on_names(slp_find *f, const char *const *names, size_t n, void *arg) {
  streams *l = arg;
  slp_nearest like;
  char text[480];
  /* 1: the mode can't use the stream of a table */
  int only_kinesis = (l->app.args->mode & (SLP_MODE_PRODUCE | SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER)) != 0;
  (void)f;
  slp_nearest_begin(&like, slp_str_of(l->missing));
  for (size_t i = 0; i < n; i++)
    if (!only_kinesis || strncmp(names[i], "dynamodb:", 9) != 0) slp_nearest_offer(&like, names[i]);
  slp_nearest_text(&like, "", text, sizeof text);
  if (like.n)
    slp_say("%s", text + strlen("; "));
  else if (l->app.args->mode == SLP_MODE_PRODUCE)
    slp_say("-P makes no streams; aws kinesis create-stream --stream-name %s does", l->missing);
}

static void on_suggested(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  (void)f;
  (void)fails;
  stop_stream_list(arg);
}

/* ---- running ------------------------------------------------------------------------------------------- */
static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }
static void on_written(slp_app *app) { leave_if_done(app->user); }

/* Ends the listing early: prints the streams described so far, and that some may be missing. */
static void end_early(streams *l, const char *why) {
  char line[160];
  if (!l->app.args->json && l->n) show_table(l);
  snprintf(line, sizeof line, "%s; shown: %zu", why, l->n);
  fail_stream_list(l, line);
}

static void on_interrupt(slp_app *app) {
  streams *l = app->user;
  if (l->consumer.stopping || l->missing)
    stop_stream_list(l);
  else
    end_early(l, "interrupted before all streams were listed");
  leave_if_done(l);
}

static void on_out_failed(slp_app *app) {
  streams *l = app->user;
  stop_stream_list(l);
  leave_if_done(l);
}

static void on_overdue(slp_app *app) {
  streams *l = app->user;
  if (l->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  streams *l = app->user;
  char line[120];
  if (l->consumer.stopping) return;
  slp_cli_consumer_tick(&l->consumer);
  if (!l->limit_us || slp_program_mono_us() - l->begun_us < l->limit_us) return;
  if (l->missing) {
    stop_stream_list(l);
    return;
  }
  snprintf(line, sizeof line, "the streams were not all listed in %llu s",
           (unsigned long long)(l->limit_us / 1000000u));
  end_early(l, line);
}

/* Copies the ARN `word` into `room`, with the name of the stream or table replaced by "none". Returns 0 if
 * the word is no ARN of a stream or a table. */
static int name_none_in(const char *word, char room[SLP_STREAM_ARN_MAX + 1]) {
  const char *at = strstr(word, ":stream/"), *table = strstr(word, ":table/");
  if (strncmp(word, "arn:", 4) != 0 || !(at || table)) return 0;
  size_t n = at ? (size_t)(at - word) + strlen(":stream/") : (size_t)(table - word) + strlen(":table/");
  if (n + strlen(NO_STREAM) > SLP_STREAM_ARN_MAX) return 0;
  snprintf(room, SLP_STREAM_ARN_MAX + 1, "%.*s" NO_STREAM, (int)n, word);
  return 1;
}

void slp_listing_opts(const slp_args *a, char room[SLP_STREAM_ARN_MAX + 1], sloop_opts_t *ret) {
  *ret = a->opts;
  int found = 0;
  for (size_t i = 0; i < a->streams_n && !found; i++) found = name_none_in(a->streams[i], room);
  for (size_t i = 0; i < a->patterns_n && !found; i++) found = name_none_in(a->patterns[i], room);
  ret->stream = found ? room : NO_STREAM;
  ret->app = ret->store = ret->schema = ret->worker = ret->push_consumer = NULL;
  ret->shards = NULL;
  ret->shards_n = 0;
  ret->start = (sloop_position_t){.kind = SLOOP_LATEST};
  ret->retrieval = SLOOP_RETRIEVAL_POLL;
}

static void start_stream_search(streams *l, const slp_find_calls *calls) {
  sloop_opts_t o;
  char room[SLP_STREAM_ARN_MAX + 1];
  slp_listing_opts(l->app.args, room, &o);
  l->consumer = (slp_cli_consumer){.user = l, .on_closed = on_closed};
  l->begun_us = slp_program_mono_us();
  if (slp_cli_consumer_open_idle(&l->consumer, &l->app, &o) != 0)
    slp_app_close(&l->app);
  else if (slp_find_new(&l->find, l->consumer.s, calls, l) == 0)
    return;
  else if (l->missing)
    stop_stream_list(l); /* it is no failure if nothing can be suggested */
  else
    fail_stream_list(l, "no memory");
}

static int run_stream_list(streams *l, slp_mem *mem, const slp_args *args, const slp_find_calls *calls) {
  l->app.user = l;
  l->app.on_interrupt = on_interrupt;
  l->app.on_out_failed = on_out_failed;
  l->app.on_overdue = on_overdue;
  l->app.on_tick = on_tick;
  l->app.on_written = on_written;
  slp_columns_init(&l->table, mem, columns, SLP_COUNT(columns));
  if (slp_app_open(&l->app, mem, args) == 0) start_stream_search(l, calls);
  int code = slp_app_run(&l->app);
  slp_columns_free(&l->table);
  return code;
}

int slp_list_streams_run(slp_mem *mem, const slp_args *args) {
  static const slp_find_calls calls = {.on_stream = on_stream, .on_done = on_done};
  streams l = {.app = {.mem = mem, .args = args}};
  l.limit_us = (uint64_t)(args->contact_ms ? args->contact_ms : args->timeout_ms) * 1000u;
  return run_stream_list(&l, mem, args, &calls);
}

void slp_streams_suggest(slp_mem *mem, const slp_args *args, const char *missing) {
  static const slp_find_calls calls = {.on_names = on_names, .on_done = on_suggested};
  streams l = {.app = {.mem = mem, .args = args}, .missing = missing, .limit_us = SUGGEST_US};
  run_stream_list(&l, mem, args, &calls);
}
