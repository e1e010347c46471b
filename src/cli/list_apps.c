/* list_apps.c - lists the applications of a store (--apps). Also suggests similar names for an application
 * that does not exist. */
#include "cli/list_apps.h"

#include "api/app_rows.h"
#include "api/find_apps.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/lease_words.h"
#include "cli/nearest.h"
#include "cli/people_lines.h"
#include "cli/trouble_lines.h"
#include "codec/json_write.h"
#include "host/terminal.h"
#include "program/program.h"
#include "store/sqlite_none.h"

#include <sloop.h>
#include <stdio.h>

/* The listing uses the credentials, region and endpoints of a consumer that is never started. Its stream is
 * never asked for, so any name will do. */
#define NO_STREAM "none"
#define SUGGEST_US UINT64_C(2000000)
#define NAMES_MAX 1000u /* the most names that are compared to find a suggestion */

static const slp_column columns[] = {{"APPLICATION", 12, 0}, {"SCHEMA", 0, 0},  {"STREAM", 8, 0},
                                     {"STATE", 0, 0},        {"WORKERS", 0, 1}, {"SHARDS", 0, 1},
                                     {"LAG", 0, 1},          {"TABLE", 8, 0}};

typedef struct apps {
  slp_app app;
  slp_cli_consumer consumer;
  slp_apps *find;
  slp_columns table;
  size_t n; /* how many applications were shown */
  uint64_t begun_us, limit_us;
  const char *missing;    /* the name for which similar names are suggested; NULL: the command is --apps */
  char *names[NAMES_MAX]; /* owned; the names found, which may be suggested */
  size_t names_n;
} apps;

static const char *or_dash(const char *z) { return *z ? z : "-"; }

static const char *state_word(const slp_found_app *a) {
  if (*a->why) return "unknown";
  if (a->drained) return "drained";
  if (a->workers < 0) return "unknown"; /* no row says whether a worker lives */
  return a->workers ? "works" : "stopped";
}

int slp_apps_json(slp_buf *b, const slp_found_app *a) {
  slp_jw w = {.b = b, .one_line = 1};
  int known = !*a->why;
  slp_jw_object(&w, NULL);
  slp_jw_z_or_null(&w, "app", a->app);
  slp_jw_z_or_null(&w, "schema", a->schema);
  slp_jw_z_or_null(&w, "stream", a->stream);
  slp_jw_z(&w, "table", a->table);
  slp_jw_z(&w, "state", state_word(a));
  slp_jw_i64_or_null(&w, "workers", a->workers);
  slp_jw_i64_or_null(&w, "owners", known ? a->owners : -1);
  slp_jw_i64_or_null(&w, "shards", known ? a->leases : -1);
  slp_jw_i64_or_null(&w, "behind_ms", a->behind_ms);
  slp_jw_z_or_null(&w, "error", a->why);
  slp_jw_object_end(&w);
  return slp_buf_add_char(b, '\n');
}

static void add_row(slp_columns *t, const slp_found_app *a) {
  char workers[40] = "unknown", shards[24] = "unknown", lag[24] = "unknown";
  if (a->workers >= 0) snprintf(workers, sizeof workers, "%lld", (long long)a->workers);
  if (a->workers < 0 && !*a->why) snprintf(workers, sizeof workers, "%lld named", (long long)a->owners);
  if (!*a->why) snprintf(shards, sizeof shards, "%lld", (long long)a->leases);
  if (a->behind_ms >= 0) slp_lease_lag_text((slp_lease_lag){a->behind_ms, 0}, lag);
  slp_columns_add(t, or_dash(a->app));
  slp_columns_add(t, or_dash(a->schema));
  slp_columns_add(t, or_dash(a->stream));
  slp_columns_add(t, state_word(a));
  slp_columns_add(t, workers);
  slp_columns_add(t, shards);
  slp_columns_add(t, lag);
  slp_columns_add(t, a->table);
}

static void leave_if_done(apps *l) {
  if (l->consumer.closed && l->app.out && slp_app_unwritten(&l->app) == 0) slp_app_close(&l->app);
}

static void stop_listing_apps(apps *l) {
  slp_apps_free(l->find);
  l->find = NULL;
  slp_cli_consumer_stop(&l->consumer, 0);
}

static void fail_listing_apps(apps *l, const char *why) {
  slp_apps_free(l->find);
  l->find = NULL;
  slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, why);
}

static void write_text(apps *l, slp_buf *text) {
  if (slp_buf_failed(text)) {
    slp_buf_free(text);
    fail_listing_apps(l, "no memory");
    return;
  }
  slp_app_write(&l->app, text);
}

static void show_table(apps *l) {
  slp_buf text;
  uint32_t width = 0, rows = 0;
  int terminal = slp_terminal_size(1, &width, &rows) == 0;
  slp_buf_init(&text, l->app.mem, UINT64_C(1) << 30);
  slp_columns_show(&l->table, &text, terminal ? width : 0);
  write_text(l, &text);
}

static void on_app(slp_apps *f, const slp_found_app *a, void *arg) {
  apps *l = arg;
  slp_buf text;
  (void)f;
  l->n++;
  if (*a->why) {
    l->app.exit_code = SLP_EXIT_FAILED;
    slp_say("table %.150s can't be read: %s", a->table, a->why);
  }
  if (!l->app.args->json) {
    add_row(&l->table, a);
    return;
  }
  slp_buf_init(&text, l->app.mem, 1 << 16);
  slp_apps_json(&text, a);
  write_text(l, &text);
}

static void on_done(slp_apps *f, const slp_fail *why, void *arg) {
  apps *l = arg;
  char line[SLP_TOLD_LINE];
  int failed = why->class != SLP_FINE;
  (void)f;
  if (failed) {
    sloop_error_t e = slp_error_of_fail(why);
    /* retry_in_ms is 0, so no advice is added; it would be about reading */
    slp_error_line(&e, line, sizeof line);
    slp_say("the tables are not listed: %s", line);
    l->app.exit_code = SLP_EXIT_FAILED;
  }
  if (!l->app.args->json && l->n) show_table(l);
  if (!l->n && !failed && !l->app.args->quiet) slp_say("there are no applications here");
  stop_listing_apps(l);
}

/* ---- suggestions --------------------------------------------------------------------------------------- */

static void on_name(slp_apps *f, const slp_found_app *a, void *arg) {
  apps *l = arg;
  (void)f;
  if (!*a->app || l->names_n == NAMES_MAX) return;
  for (size_t i = 0; i < l->names_n; i++)
    if (strcmp(l->names[i], a->app) == 0) return;
  char *name = slp_strdup(l->app.mem, slp_str_of(a->app));
  if (name) l->names[l->names_n++] = name;
}

static void suggest_app_names(apps *l) {
  slp_nearest like;
  char text[480];
  slp_nearest_begin(&like, slp_str_of(l->missing));
  for (size_t i = 0; i < l->names_n; i++) slp_nearest_offer(&like, l->names[i]);
  slp_nearest_text(&like, "", text, sizeof text);
  if (like.n) slp_say("%s", text + strlen("; "));
}

static void on_suggested(slp_apps *f, const slp_fail *why, void *arg) {
  (void)f;
  (void)why;
  suggest_app_names(arg);
  stop_listing_apps(arg);
}

/* ---- running ------------------------------------------------------------------------------------------- */
static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }
static void on_written(slp_app *app) { leave_if_done(app->user); }

/* Ends the listing early: prints the applications found so far, and that some may be missing. */
static void end_early(apps *l, const char *why) {
  char line[160];
  if (!l->app.args->json && l->n) show_table(l);
  snprintf(line, sizeof line, "%s; shown: %zu", why, l->n);
  fail_listing_apps(l, line);
}

static void on_interrupt(slp_app *app) {
  apps *l = app->user;
  if (l->consumer.stopping || l->missing)
    stop_listing_apps(l);
  else
    end_early(l, "interrupted before all tables were read");
  leave_if_done(l);
}

static void on_out_failed(slp_app *app) {
  apps *l = app->user;
  stop_listing_apps(l);
  leave_if_done(l);
}

static void on_overdue(slp_app *app) {
  apps *l = app->user;
  if (l->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  apps *l = app->user;
  char line[120];
  if (l->consumer.stopping) return;
  slp_cli_consumer_tick(&l->consumer);
  if (!l->limit_us || slp_program_mono_us() - l->begun_us < l->limit_us) return;
  if (l->missing) {
    suggest_app_names(l); /* among the names found so far */
    stop_listing_apps(l);
    return;
  }
  snprintf(line, sizeof line, "the tables were not all read in %llu s",
           (unsigned long long)(l->limit_us / 1000000u));
  end_early(l, line);
}

static void begin_listing_apps(apps *l, const slp_apps_calls *calls) {
  sloop_opts_t o = l->app.args->opts;
  const char *store = o.store;
  l->consumer = (slp_cli_consumer){.user = l, .on_closed = on_closed};
  l->begun_us = slp_program_mono_us();
  o.stream = NO_STREAM;
  o.app = o.store = o.schema = o.worker = o.push_consumer = NULL;
  o.shards = NULL;
  o.shards_n = 0;
  o.start = (sloop_position_t){.kind = SLOOP_LATEST};
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  if (slp_cli_consumer_open_idle(&l->consumer, &l->app, &o) != 0) {
    slp_app_close(&l->app);
    return;
  }
  int r = slp_apps_new(&l->find, l->consumer.s, store, calls, l);
  if (!r) return;
  if (l->missing)
    stop_listing_apps(l); /* it is no failure if nothing can be suggested */
  else if (r == SLOOP_EOPTION)
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_USAGE,
                          "--store: use dynamodb, dynamodb:TABLE or sqlite:FILE");
  else if (r == SLP_ENOENT)
    slp_cli_consumer_fail(&l->consumer, SLP_EXIT_USAGE, "--store: " SLP_SQLITE_NONE);
  else
    fail_listing_apps(l, "no memory");
}

static int run_listing_apps(apps *l, slp_mem *mem, const slp_args *args, const slp_apps_calls *calls) {
  l->app.user = l;
  l->app.on_interrupt = on_interrupt;
  l->app.on_out_failed = on_out_failed;
  l->app.on_overdue = on_overdue;
  l->app.on_tick = on_tick;
  l->app.on_written = on_written;
  slp_columns_init(&l->table, mem, columns, SLP_COUNT(columns));
  if (slp_app_open(&l->app, mem, args) == 0) begin_listing_apps(l, calls);
  int code = slp_app_run(&l->app);
  slp_columns_free(&l->table);
  for (size_t i = 0; i < l->names_n; i++) slp_free(mem, l->names[i]);
  return code;
}

int slp_list_apps_run(slp_mem *mem, const slp_args *args) {
  static const slp_apps_calls calls = {.on_app = on_app, .on_done = on_done};
  apps l = {.app = {.mem = mem, .args = args}};
  l.limit_us = (uint64_t)(args->contact_ms ? args->contact_ms : args->timeout_ms) * 1000u;
  return run_listing_apps(&l, mem, args, &calls);
}

void slp_apps_suggest(slp_mem *mem, const slp_args *args, const char *missing) {
  static const slp_apps_calls calls = {.on_app = on_name, .on_done = on_suggested};
  apps l = {.app = {.mem = mem, .args = args}, .missing = missing, .limit_us = SUGGEST_US};
  run_listing_apps(&l, mem, args, &calls);
}
