/* list_apps.c - lists the applications of a store (--apps). Also suggests similar names for an application
 * that does not exist. */
#include "cli/list_apps.h"

#include "api/app_rows.h"
#include "api/find_apps.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/account_list.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/lease_words.h"
#include "cli/nearest.h"
#include "cli/people_lines.h"
#include "cli/trouble_lines.h"
#include "codec/json_write.h"
#include "store/sqlite_none.h"

#include <sloop.h>
#include <stdio.h>

/* The listing uses the credentials, region and endpoints of a consumer that is never started. Its stream is
 * never asked for, so any name will do. */
#define NO_STREAM "none"
#define NAMES_MAX 1000u /* the most names that are compared to find a suggestion */

static const slp_column columns[] = {{"APPLICATION", 12, 0}, {"SCHEMA", 0, 0},  {"STREAM", 8, 0},
                                     {"STATE", 0, 0},        {"WORKERS", 0, 1}, {"SHARDS", 0, 1},
                                     {"LAG", 0, 1},          {"TABLE", 8, 0}};

typedef struct apps {
  slp_account_list list; /* first member */
  slp_apps *find;
  const char *store;           /* borrowed; where applications are looked for */
  const slp_apps_calls *calls; /* borrowed */
  char *names[NAMES_MAX];      /* owned; the names found, which may be suggested */
  size_t names_n;
} apps;

static const char *or_dash(const char *z) { return *z ? z : "-"; }

static const char *state_word(const slp_found_app *a) {
  if (*a->why) return "unknown";
  if (a->drained) return "drained";
  if (a->draining) return "draining";
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

static void on_app(slp_apps *f, const slp_found_app *a, void *arg) {
  apps *l = arg;
  slp_buf text;
  (void)f;
  l->list.n++;
  if (*a->why) {
    l->list.app.exit_code = SLP_EXIT_FAILED;
    slp_say("table %.150s can't be read: %s", a->table, a->why);
  }
  if (!l->list.app.args->json) {
    add_row(&l->list.table, a);
    return;
  }
  slp_buf_init(&text, l->list.app.mem, 1 << 16);
  slp_apps_json(&text, a);
  slp_account_list_write(&l->list, &text);
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
    l->list.app.exit_code = SLP_EXIT_FAILED;
  }
  slp_account_list_show(&l->list);
  if (!l->list.n && !failed && !l->list.app.args->quiet) slp_say("there are no applications here");
  slp_account_list_stop(&l->list);
}

/* ---- suggestions --------------------------------------------------------------------------------------- */

static void on_name(slp_apps *f, const slp_found_app *a, void *arg) {
  apps *l = arg;
  (void)f;
  if (!*a->app || l->names_n == NAMES_MAX) return;
  for (size_t i = 0; i < l->names_n; i++)
    if (strcmp(l->names[i], a->app) == 0) return;
  char *name = slp_strdup(l->list.app.mem, slp_str_of(a->app));
  if (name) l->names[l->names_n++] = name;
}

static void suggest_app_names(slp_account_list *list) {
  apps *l = SLP_OWNER(list, apps, list);
  slp_nearest like;
  char text[480];
  slp_nearest_begin(&like, slp_str_of(list->missing));
  for (size_t i = 0; i < l->names_n; i++) slp_nearest_offer(&like, l->names[i]);
  slp_nearest_text(&like, "", text, sizeof text);
  if (like.n) slp_say("%s", text + strlen("; "));
}

static void on_suggested(slp_apps *f, const slp_fail *why, void *arg) {
  apps *l = arg;
  (void)f;
  (void)why;
  suggest_app_names(&l->list);
  slp_account_list_stop(&l->list);
}

/* ---- running ------------------------------------------------------------------------------------------- */
static int begin_listing_apps(slp_account_list *list) {
  apps *l = SLP_OWNER(list, apps, list);
  int r = slp_apps_new(&l->find, list->consumer.s, l->store, l->calls, l);
  if ((r != SLOOP_EOPTION && r != SLP_ENOENT) || list->missing) return r;
  slp_cli_consumer_fail(
      &list->consumer, SLP_EXIT_USAGE,
      r == SLP_ENOENT ? "--store: " SLP_SQLITE_NONE : "--store: use dynamodb, dynamodb:TABLE or sqlite:FILE");
  return 1;
}

static void end_listing_apps(slp_account_list *list) {
  apps *l = SLP_OWNER(list, apps, list);
  slp_apps_free(l->find);
  l->find = NULL;
}

static const slp_account_list_kind kind = {.columns = columns,
                                           .columns_n = SLP_COUNT(columns),
                                           .all = "all tables were read",
                                           .not_all = "the tables were not all read",
                                           .begin = begin_listing_apps,
                                           .end = end_listing_apps,
                                           .suggest = suggest_app_names};

static int run_listing_apps(slp_mem *mem, const slp_args *args, const char *missing,
                            const slp_apps_calls *calls) {
  sloop_opts_t o = args->opts;
  apps l = {.list = {.kind = &kind, .missing = missing}, .store = o.store, .calls = calls};
  slp_account_list_opts(&o, NO_STREAM);
  int code = slp_account_list_run(&l.list, mem, args, &o);
  for (size_t i = 0; i < l.names_n; i++) slp_free(mem, l.names[i]);
  return code;
}

int slp_list_apps_run(slp_mem *mem, const slp_args *args) {
  static const slp_apps_calls calls = {.on_app = on_app, .on_done = on_done};
  return run_listing_apps(mem, args, NULL, &calls);
}

void slp_apps_suggest(slp_mem *mem, const slp_args *args, const char *missing) {
  static const slp_apps_calls calls = {.on_app = on_name, .on_done = on_suggested};
  run_listing_apps(mem, args, missing, &calls);
}
