/* matched_streams.c - lists the streams for patterns of names, before a mode runs. */
#include "cli/matched_streams.h"

#include "api/find_streams.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/list_streams.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/stream_pattern.h"
#include "cli/trouble_lines.h"
#include "program/program.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

typedef struct matching {
  slp_app app;
  slp_cli_consumer consumer; /* gives keys, region and endpoints; never started */
  slp_find *find;
  slp_args *args;
  slp_stream_pattern patterns[SLP_ARGS_STREAMS_MAX];
  const char *const *names; /* names of all streams that were listed; they live as long as `find` */
  size_t names_n;
  size_t matched_n; /* how many streams match, or were named by the user */
  uint64_t begun_us;
  uint8_t found; /* 1: each pattern has matched, and a->streams has the names */
} matching;

int slp_matched_wanted(const slp_args *a) {
  return a->patterns_n && (a->mode != SLP_MODE_IAM || a->try_rights);
}

int slp_matched_put(slp_args *a, size_t at, const char *name) {
  slp_mem *mem = a->config_text.mem;
  char *copy = slp_strdup(mem, slp_str_of(name));
  if (!copy) return SLP_ENOMEM;
  slp_free(mem, a->found[at]);
  a->found[at] = copy;
  a->streams[at] = copy;
  if (at == a->streams_n) a->streams_n++;
  a->stream = a->opts.stream = a->streams[0];
  return 0;
}

void slp_matched_skips(const slp_args *a, slp_find_calls *calls) {
  calls->skips[SLP_FIND_KINESIS] = calls->skips[SLP_FIND_TABLES] = 1;
  for (size_t i = 0; i < a->patterns_n; i++)
    calls->skips[slp_stream_is_of_table(slp_str_of(a->patterns[i])) ? SLP_FIND_TABLES : SLP_FIND_KINESIS] = 0;
}

static void stop_matching(matching *m) {
  slp_find_free(m->find);
  m->find = NULL;
  slp_cli_consumer_stop(&m->consumer, 0);
}

static void fail_matching(matching *m, const char *why) {
  slp_find_free(m->find);
  m->find = NULL;
  slp_cli_consumer_fail(&m->consumer, SLP_EXIT_FAILED, why);
}

/* ---- names ------------------------------------------------------------------------------------- */

static int is_taken(const slp_args *a, const char *name) {
  for (size_t i = 0; i < a->streams_n; i++)
    if (strcmp(a->streams[i], name) == 0) return 1;
  return 0;
}

/* Adds a stream that matches to a->streams. If a->streams is full, only counts the stream in m->matched_n, so
 * that on_done() can refuse. Returns 0 or SLP_ENOMEM. */
static int add_matched_stream(matching *m, const char *name) {
  slp_args *a = m->args;
  if (is_taken(a, name)) return 0;
  m->matched_n++;
  return a->streams_n < SLP_ARGS_STREAMS_MAX ? slp_matched_put(a, a->streams_n, name) : 0;
}

/* Adds the listed streams that match the pattern. Returns how many match, or SLP_ENOMEM. */
static int take_all(matching *m, const slp_stream_pattern *p) {
  slp_buf name;
  int n = 0, r = 0;
  slp_buf_init(&name, m->app.mem, 4096);
  for (size_t i = 0; i < m->names_n && !r; i++) {
    slp_buf_clear(&name);
    if (!slp_stream_pattern_takes(p, m->names[i], &name)) continue;
    n++;
    r = slp_buf_failed(&name) ? SLP_ENOMEM : add_matched_stream(m, slp_buf_z(&name));
  }
  slp_buf_free(&name);
  return r ? r : n;
}

/* Writes "; did you mean A or B?" with the streams whose names begin most like the pattern. Compares the
 * pattern's text before its first wildcard with an equally long beginning of each name. */
static void add_nearest(const matching *m, const slp_stream_pattern *p, char *out, size_t size) {
  char stem[SLP_NEAREST_BYTES + 1];
  size_t n = slp_stream_pattern_stem(p, stem, sizeof stem);
  char(*begins)[SLP_NEAREST_BYTES + 1] = slp_zalloc_n(m->app.mem, m->names_n + 1, sizeof *begins);
  slp_nearest like;
  *out = 0;
  if (!begins) return;
  slp_nearest_begin(&like, slp_str_of(stem));
  for (size_t i = 0; i < m->names_n; i++) {
    int of_table = slp_stream_is_of_table(slp_str_of(m->names[i]));
    const char *name = m->names[i] + (of_table ? strlen("dynamodb:") : 0);
    snprintf(begins[i], sizeof *begins, "%.*s", (int)n, name);
    if (of_table == p->of_table) slp_nearest_offer(&like, begins[i]);
  }
  /* shows the whole names, not only the beginnings that were compared */
  for (size_t k = 0, i = 0; k < like.n; k++) {
    for (i = 0; like.names[k] != begins[i];) i++;
    like.names[k] = m->names[i];
  }
  slp_nearest_text(&like, "", out, size);
  slp_free(m->app.mem, begins);
}

/* Fails because no stream matches the pattern `word`. */
static void fail_unmatched(matching *m, const char *word, const slp_stream_pattern *p) {
  char like[480] = "", line[800];
  if (!m->app.args->quiet) add_nearest(m, p, like, sizeof like);
  snprintf(line, sizeof line, "no %s matches %.200s%s",
           p->of_table ? "table with a stream" : "stream of Kinesis", word,
           *like ? like : "; stream-tail -L lists them; check the region (AWS_REGION, -X region=NAME)");
  fail_matching(m, line);
}

/* Fails because the streams could not be listed. */
static void fail_unlisted(matching *m, const char *word, const slp_fail *f) {
  char why[SLP_TOLD_LINE], line[SLP_TOLD_LINE + 300];
  sloop_error_t e = slp_error_of_fail(f);
  e.retry_in_ms = UINT64_MAX; /* slp_error_line adds advice only to errors that are not retried */
  slp_error_line(&e, why, sizeof why);
  snprintf(line, sizeof line, "%.200s: the streams can't be listed: %s", word, why);
  fail_matching(m, line);
}

/* Keeps the names that the user gave, and leaves out the patterns. */
static void keep_named(slp_args *a) {
  size_t n = 0;
  for (size_t i = 0; i < a->streams_n; i++)
    if (!slp_is_stream_pattern(a->streams[i])) a->streams[n++] = a->streams[i];
  a->streams_n = n;
}

static void on_names(slp_find *f, const char *const *names, size_t n, void *arg) {
  matching *m = arg;
  (void)f;
  m->names = names;
  m->names_n = n;
}

static void on_done(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  matching *m = arg;
  slp_args *a = m->args;
  (void)f;
  for (size_t i = 0; i < a->patterns_n; i++) {
    const slp_fail *failed = &fails[m->patterns[i].of_table ? SLP_FIND_TABLES : SLP_FIND_KINESIS];
    if (failed->class == SLP_FINE) continue;
    fail_unlisted(m, a->patterns[i], failed);
    return;
  }
  keep_named(a);
  m->matched_n = a->streams_n;
  for (size_t i = 0; i < a->patterns_n; i++) {
    int taken = take_all(m, &m->patterns[i]);
    if (taken > 0) continue;
    if (taken < 0)
      fail_matching(m, "no memory for the names of streams");
    else
      fail_unmatched(m, a->patterns[i], &m->patterns[i]);
    return;
  }
  if (m->matched_n > SLP_ARGS_STREAMS_MAX) {
    char line[200];
    snprintf(
        line, sizeof line,
        "more than %d streams match, and that many can be read at a time; use narrower patterns, in several "
        "commands",
        SLP_ARGS_STREAMS_MAX);
    fail_matching(m, line);
    return;
  }
  m->found = 1;
  stop_matching(m);
}

/* ---- running ----------------------------------------------------------------------------------- */

static void on_closed(slp_cli_consumer *c) { slp_app_close(&((matching *)c->user)->app); }

/* The mode will not run. A first Ctrl-C is a good end for reading records. For any other mode it is a
 * failure, because nothing of what the user asked for was done. */
static void on_interrupt(slp_app *app) {
  matching *m = app->user;
  int reads = (app->args->mode & (SLP_MODE_TAIL | SLP_MODE_BENCH)) != 0;
  m->found = 0;
  if (m->consumer.failed) return;
  if (!reads) app->exit_code = SLP_EXIT_FAILED;
  if (!reads)
    slp_say("interrupted before the end: the streams were not all listed");
  else if (!app->args->quiet)
    slp_say("stopped before the streams were listed");
  stop_matching(m);
}

static void on_overdue(slp_app *app) {
  matching *m = app->user;
  if (m->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  matching *m = app->user;
  const slp_args *a = app->args;
  uint64_t limit_us = (a->contact_ms ? a->contact_ms : a->timeout_ms) * 1000u;
  char line[120];
  if (m->consumer.stopping) return;
  slp_cli_consumer_tick(&m->consumer);
  if (!limit_us || slp_program_mono_us() - m->begun_us < limit_us) return;
  snprintf(line, sizeof line, "the streams were not all listed in %llu s",
           (unsigned long long)(limit_us / 1000000u));
  fail_matching(m, line);
}

static void begin_matching(matching *m) {
  sloop_opts_t o;
  char room[SLP_STREAM_ARN_MAX + 1];
  slp_find_calls calls = {.on_names = on_names, .on_done = on_done};
  slp_matched_skips(m->args, &calls);
  slp_listing_opts(m->args, room, &o);
  m->consumer = (slp_cli_consumer){.user = m, .on_closed = on_closed};
  m->begun_us = slp_program_mono_us();
  if (slp_cli_consumer_open_idle(&m->consumer, &m->app, &o) != 0)
    slp_app_close(&m->app);
  else if (slp_find_new(&m->find, m->consumer.s, &calls, m) != 0)
    fail_matching(m, "no memory");
}

int slp_matched_resolve(slp_mem *mem, slp_args *a, int *ret_go_on) {
  matching m = {.app = {.mem = mem, .args = a}, .args = a};
  char why[200];
  *ret_go_on = 0;
  for (size_t i = 0; i < a->patterns_n; i++)
    SLP_CHECK(slp_stream_pattern_read(a->patterns[i], &m.patterns[i], why) == 0); /* args.c has checked it */
  m.app.user = &m;
  m.app.on_interrupt = on_interrupt;
  m.app.on_overdue = on_overdue;
  m.app.on_tick = on_tick;
  if (slp_app_open(&m.app, mem, a) == 0) begin_matching(&m);
  int code = slp_app_run(&m.app);
  *ret_go_on = m.found && !code;
  return code;
}
