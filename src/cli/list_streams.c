/* list_streams.c - lists the streams of the account (-L without STREAM). Also suggests similar names for a
 * stream that does not exist. */
#include "cli/list_streams.h"

#include "api/find_streams.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/account_list.h"
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
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

#define NO_STREAM "none"

static const slp_column columns[] = {{"STREAM", 12, 0}, {"STATUS", 0, 0}, {"MODE", 0, 0},
                                     {"SHARDS", 0, 1},  {"KEEPS", 0, 1},  {"CREATED", 0, 0}};

typedef struct streams {
  slp_account_list list; /* first member */
  slp_find *find;
  const slp_find_calls *calls; /* borrowed */
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

static void on_stream(slp_find *f, const slp_found_stream *s, void *arg) {
  streams *l = arg;
  (void)f;
  l->list.n++;
  if (*s->why) {
    l->list.app.exit_code = SLP_EXIT_FAILED;
    slp_say("%.150s is listed, and not described: %s", s->name, s->why);
  }
  if (!l->list.app.args->json) {
    add_row(&l->list.table, s);
    return;
  }
  slp_buf text;
  slp_buf_init(&text, l->list.app.mem, 1 << 16);
  add_stream_json(&text, s);
  slp_account_list_write(&l->list, &text);
}

/* Returns 1 if the server does not know the operation. Then the server is not AWS, but a program that serves
 * only one of the two services, Kinesis and DynamoDB. */
static int is_not_served(const slp_fail *f) {
  return strstr(f->aws_code, "UnknownOperation") || (f->http_status == 404 && !f->aws_code[0]) ||
         f->http_status == 405 || f->http_status == 501;
}

/* If listing the names of one service has failed, reports why. Returns 1 if the command must fail because of
 * that. */
static int report_missing_names(const slp_args *args, const slp_fail *f, const char *what) {
  char line[SLP_TOLD_LINE];
  if (f->class == SLP_FINE) return 0;
  if (args->opts.endpoint && is_not_served(f)) {
    if (!args->quiet)
      slp_say("%s are not listed: the endpoint does not serve them (%s)", what, or_dash(f->aws_code));
    return 0;
  }
  sloop_error_t e = slp_error_of_fail(f);
  /* retry_in_ms is 0, so no advice is added; it would be about reading */
  slp_error_line(&e, line, sizeof line);
  slp_say("%s are not listed: %s", what, line);
  return 1;
}

static void on_done(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  streams *l = arg;
  const slp_args *args = l->list.app.args;
  (void)f;
  int kinesis = report_missing_names(args, &fails[SLP_FIND_KINESIS], "streams of Kinesis"),
      tables = report_missing_names(args, &fails[SLP_FIND_TABLES], "tables with a stream");
  int none = fails[SLP_FIND_KINESIS].class != SLP_FINE && fails[SLP_FIND_TABLES].class != SLP_FINE;
  if (kinesis || tables || none) l->list.app.exit_code = SLP_EXIT_FAILED;
  slp_account_list_show(&l->list);
  if (!l->list.n && !kinesis && !tables && !none && !args->quiet) slp_say("there are no streams here");
  slp_account_list_stop(&l->list);
}

/* ---- suggestions --------------------------------------------------------------------------------------- */
static void on_names(slp_find *f, const char *const *names, size_t n, void *arg) {
  const streams *l = arg;
  const char *missing = l->list.missing;
  unsigned mode = (unsigned)l->list.app.args->mode;
  slp_nearest like;
  char text[480];
  /* 1: the mode can't use the stream of a table */
  int only_kinesis = (mode & (SLP_MODE_PRODUCE | SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER)) != 0;
  (void)f;
  slp_nearest_begin(&like, slp_str_of(missing));
  for (size_t i = 0; i < n; i++)
    if (!only_kinesis || strncmp(names[i], "dynamodb:", 9) != 0) slp_nearest_offer(&like, names[i]);
  slp_nearest_text(&like, "", text, sizeof text);
  if (like.n)
    slp_say("%s", text + strlen("; "));
  else if (mode == SLP_MODE_PRODUCE)
    slp_say("-P makes no streams; aws kinesis create-stream --stream-name %s does", missing);
}

static void on_suggested(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  streams *l = arg;
  (void)f;
  (void)fails;
  slp_account_list_stop(&l->list);
}

/* ---- running ------------------------------------------------------------------------------------------- */
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
  slp_account_list_opts(ret, found ? room : NO_STREAM);
}

static int begin_listing_streams(slp_account_list *list) {
  streams *l = SLP_OWNER(list, streams, list);
  return slp_find_new(&l->find, list->consumer.s, l->calls, l);
}

static void end_listing_streams(slp_account_list *list) {
  streams *l = SLP_OWNER(list, streams, list);
  slp_find_free(l->find);
  l->find = NULL;
}

static const slp_account_list_kind kind = {.columns = columns,
                                           .columns_n = SLP_COUNT(columns),
                                           .all = "all streams were listed",
                                           .not_all = "the streams were not all listed",
                                           .begin = begin_listing_streams,
                                           .end = end_listing_streams};

static int run_stream_list(slp_mem *mem, const slp_args *args, const char *missing,
                           const slp_find_calls *calls) {
  streams l = {.list = {.kind = &kind, .missing = missing}, .calls = calls};
  sloop_opts_t o;
  char room[SLP_STREAM_ARN_MAX + 1];
  slp_listing_opts(args, room, &o);
  return slp_account_list_run(&l.list, mem, args, &o);
}

int slp_list_streams_run(slp_mem *mem, const slp_args *args) {
  static const slp_find_calls calls = {.on_stream = on_stream, .on_done = on_done};
  return run_stream_list(mem, args, NULL, &calls);
}

void slp_streams_suggest(slp_mem *mem, const slp_args *args, const char *missing) {
  static const slp_find_calls calls = {.on_names = on_names, .on_done = on_suggested};
  run_stream_list(mem, args, missing, &calls);
}
