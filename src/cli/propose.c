/* propose.c - finds names for a shell's completion. The user waits for them after pressing Tab, so the search
 * ends within LIMIT_US. No error is ever reported: an empty completion disturbs the user less. main.c calls
 * this file. */
#include "cli/propose.h"

#include "api/app_rows.h"
#include "api/find_apps.h"
#include "api/find_streams.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/lease_words.h"
#include "cli/name_cache.h"
#include "cli/options.h"
#include "cli/profile_names.h"
#include "cli/record_formats.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <unistd.h>

#define LIMIT_US UINT64_C(900000) /* the service has this long to answer */
#define LEAVE_US UINT64_C(200000) /* and the process this long to close what it has opened */
#define NAMES_MAX 2000            /* the most names that are printed; shells are slow with more */
#define WRITE_WAIT_MS 200
#define NO_STREAM "none" /* a consumer that is never started needs a stream in its options */

typedef struct proposal {
  slp_app app;
  slp_cli_consumer consumer;
  slp_find *find; /* owned; the listing of streams; NULL: none is under way */
  slp_apps *apps; /* owned; the listing of applications; NULL: none is under way */
  const char *kind;
  slp_name_cache cache;
  slp_buf names; /* one a line */
  size_t n;
  uint64_t begun_us;
  uint64_t told_us; /* when the names were printed; 0: they were not */
} proposal;

static int is_kind(const proposal *p, const char *kind) { return strcmp(p->kind, kind) == 0; }

/* Adds a name, unless it has characters that would end the line or control a terminal. */
static void add_name(proposal *p, const char *name) {
  size_t n = strlen(name);
  if (!n || p->n >= NAMES_MAX) return;
  for (size_t i = 0; i < n;) {
    if (slp_unsafe_length(name + i, n - i)) return;
    size_t length = slp_safe_length(name + i, n - i);
    i += length ? length : 1;
  }
  p->n++;
  slp_buf_addf(&p->names, "%s\n", name);
}

static void print_names(proposal *p) {
  if (!slp_buf_failed(&p->names)) (void)slp_program_write(1, slp_buf_str(&p->names), WRITE_WAIT_MS);
}

/* Prints the names that were found, stores them in the cache, and ends. complete: 1 if the service answered;
 * then the names stay in the cache for a minute, otherwise for ten seconds. */
static void print_proposals(proposal *p, int complete) {
  int64_t now_ms = slp_program_wall_ms();
  if (p->told_us) return;
  p->told_us = slp_program_mono_us();
  print_names(p);
  slp_name_cache_write(&p->cache, p->app.mem,
                       now_ms + (complete ? SLP_NAME_CACHE_MS : SLP_NAME_CACHE_NONE_MS),
                       slp_buf_failed(&p->names) ? SLP_STR("") : slp_buf_str(&p->names));
  slp_find_free(p->find);
  slp_apps_free(p->apps);
  p->find = NULL;
  p->apps = NULL;
  slp_cli_consumer_stop(&p->consumer, 0);
}

/* ---- answers --------------------------------------------------------------------------------------- */

static void on_streams(slp_find *f, const char *const *names, size_t n, void *arg) {
  proposal *p = arg;
  (void)f;
  for (size_t i = 0; i < n; i++) add_name(p, names[i]);
}

static void on_streams_done(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  (void)f;
  print_proposals(arg, fails[SLP_FIND_KINESIS].class == SLP_FINE || fails[SLP_FIND_TABLES].class == SLP_FINE);
}

/* Adds the application's name. An application has a row for each stream that it reads, so the name may be
 * there already. */
static void on_app(slp_apps *f, const slp_found_app *app, void *arg) {
  proposal *p = arg;
  (void)f;
  size_t n = strlen(app->app);
  for (size_t at = 0; at < p->names.n;) {
    const char *line = p->names.p + at, *end = memchr(line, '\n', p->names.n - at);
    size_t length = end ? (size_t)(end - line) : p->names.n - at;
    if (length == n && memcmp(line, app->app, n) == 0) return;
    at += length + 1;
  }
  if (!*app->why) add_name(p, app->app);
}

static void on_apps_done(slp_apps *f, const slp_fail *fail, void *arg) {
  (void)f;
  print_proposals(arg, fail->class == SLP_FINE);
}

static void on_shards(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *error, void *arg) {
  proposal *p = arg;
  (void)s;
  (void)error;
  if (p->consumer.stopping) return;
  for (size_t i = 0; !status && i < n; i++) add_name(p, slp_shard_short(shards[i]->id));
  print_proposals(p, !status);
}

/* Adds the names that --release takes: the ids of workers (their instances without the last part), and the
 * shards that have a lease. */
static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *leases, const sloop_error_t *error,
                      void *arg) {
  proposal *p = arg;
  (void)a;
  (void)error;
  if (p->consumer.stopping) return;
  for (size_t i = 0; !status && i < leases->workers_n; i++) {
    char id[SLP_WORKER_ID];
    slp_worker_id(leases->workers[i]->worker, id);
    add_name(p, id);
  }
  for (size_t i = 0; !status && i < leases->leases_n; i++)
    add_name(p, slp_shard_short(leases->leases[i]->shard));
  print_proposals(p, !status);
}

/* ---- running --------------------------------------------------------------------------------------- */

static void leave_proposing(proposal *p) {
  if (p->consumer.closed) slp_app_close(&p->app);
}

static void on_closed(slp_cli_consumer *c) { leave_proposing(c->user); }
static void on_interrupt(slp_app *app) { print_proposals(app->user, 0); }

static void on_tick(slp_app *app) {
  proposal *p = app->user;
  uint64_t now_us = slp_program_mono_us();
  if (now_us - p->begun_us >= LIMIT_US) print_proposals(p, 0);
  /* Ends the process at once, because a thread may hang in a system call, such as the look-up of a host's
   * name. */
  if (p->told_us && now_us - p->told_us >= LEAVE_US) _exit(0);
}

static int ask_for_names(proposal *p) {
  static const slp_find_calls calls = {.on_names = on_streams, .on_done = on_streams_done};
  if (is_kind(p, "streams")) return slp_find_new(&p->find, p->consumer.s, &calls, p);
  static const slp_apps_calls apps = {.on_app = on_app, .on_done = on_apps_done};
  if (is_kind(p, "apps")) return slp_apps_new(&p->apps, p->consumer.s, p->app.args->opts.store, &apps, p);
  if (is_kind(p, "shards")) return sloop_list(p->consumer.s, on_shards, p);
  return sloop_admin_leases(p->consumer.admin, on_leases, p);
}

static void begin_proposing(proposal *p) {
  const slp_args *a = p->app.args;
  sloop_opts_t o = a->opts;
  int rows = is_kind(p, "workers");
  p->consumer = (slp_cli_consumer){.user = p, .on_closed = on_closed, .muted = 1, .lasting = 1};
  p->begun_us = slp_program_mono_us();
  o.stream = is_kind(p, "streams") || is_kind(p, "apps") ? NO_STREAM : a->stream;
  if (!rows) o.app = o.store = o.schema = o.worker = o.store_endpoint = NULL;
  o.push_consumer = NULL;
  o.shards = NULL;
  o.shards_n = 0;
  o.start = (sloop_position_t){.kind = SLOOP_LATEST};
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  if (slp_cli_consumer_open_idle(&p->consumer, &p->app, &o) != 0)
    slp_app_close(&p->app);
  else if (ask_for_names(p) != 0)
    print_proposals(p, 0);
}

static void ask_service(proposal *p, slp_mem *mem, const slp_args *args) {
  p->app.user = p;
  p->app.on_interrupt = on_interrupt;
  p->app.on_tick = on_tick;
  if (slp_app_open(&p->app, mem, args) == 0) begin_proposing(p);
  slp_app_run(&p->app);
}

/* Returns 1 if the words that were typed so far are enough to find names of this kind. */
static int can_ask(const proposal *p, const slp_args *a) {
  if (is_kind(p, "streams") || is_kind(p, "apps")) return 1;
  if (is_kind(p, "shards")) return a->stream != NULL;
  return is_kind(p, "workers") && a->stream && a->opts.app;
}

int slp_propose_run(slp_mem *mem, int argc, const char *const *argv, const slp_surroundings *around) {
  slp_args args;
  proposal p = {.app = {.mem = mem, .args = &args}, .kind = argc > 2 ? argv[2] : ""};
  slp_buf_init(&p.names, mem, SLP_NAME_CACHE_BYTES / 2);
  /* the parser skips argv[2], because it takes its first word for the name of the program */
  slp_args_parse_part(&args, mem, argc > 2 ? argc - 2 : 0, argv + 2, around);
  args.quiet = 1;
  if (is_kind(&p, "profiles")) {
    slp_profile_names(&p.names);
    print_names(&p);
  } else if (can_ask(&p, &args) && slp_name_cache_init(&p.cache, mem, p.kind, &args) == 0) {
    if (slp_name_cache_read(&p.cache, slp_program_wall_ms(), &p.names))
      print_names(&p);
    else
      ask_service(&p, mem, &args);
  }
  slp_buf_free(&p.names);
  slp_args_free(&args);
  return 0;
}
