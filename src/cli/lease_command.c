/* lease_command.c - runs the commands that print or change leases. Every command except --drain and --undrain
 * first reads the lease table: to print it, or to find out which lease or worker the user's name stands
 * for. */
#include "cli/lease_command.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/lease_explain.h"
#include "cli/lease_over.h"
#include "cli/lease_pick.h"
#include "cli/lease_result.h"
#include "cli/lease_table.h"
#include "cli/lease_words.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/registered_text.h"
#include "host/terminal.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define OWNER_SHOWN 160
/* If a change takes longer than this, the library is watching whether an owner lives, and the user gets a
 * line about that. */
#define WAITS_US 2000000u

typedef struct command {
  slp_app app;
  slp_cli_consumer consumer; /* the consumer of the current stream; streams are handled one after the other */
  size_t at;                 /* index of the current stream */
  uint64_t begun_us;         /* when the command started with the current stream */
  size_t told_n,
      /* told_n: number of streams whose leases were printed. over_n: number of those streams that have a
       * shard beyond --lag-over */
      over_n;
  slp_lease_pick pick;
  /* owned; copy of pick.name, which is valid only during the callback with the rows of the lease table */
  slp_buf name;
  /* the owner of a lease that the command wants to change; "": there is no owner, or tell_waiting has already
   * printed its name */
  char owner[OWNER_SHOWN];
  uint64_t asked_us; /* when the change was sent to the library */
  slp_buf text;      /* the output of --explain, kept until the list of registered consumers has come */
  char cut_off[100]; /* why a change was ended early; "": it was not ended early */
} command;

static void open_and_read_leases(command *k);

/* --leases asks the stream for lags for at most half of the command's time limit (-m, or else --timeout), or
 * for READ_MS if there is none. */
#define READ_MS 10000u

static uint64_t limit_ms(const slp_args *a) { return a->contact_ms ? a->contact_ms : a->timeout_ms; }
static uint32_t read_ms(const slp_args *a) {
  return limit_ms(a) ? (uint32_t)slp_min_u64(limit_ms(a) / 2, UINT32_MAX) : READ_MS;
}
static int mode_reads_stream(const slp_args *a) { return a->mode == SLP_MODE_LEASES && !a->no_read; }

static int has_more(const command *k) {
  return !k->consumer.failed && !k->app.interrupted && !k->app.out_failed &&
         k->at + 1 < k->app.args->streams_n;
}

static void leave_if_done(command *k) {
  if (k->consumer.closed && !has_more(k) && k->app.out && slp_app_unwritten(&k->app) == 0)
    slp_app_close(&k->app);
}

#define DRAINS (SLP_MODE_DRAIN | SLP_MODE_UNDRAIN)
#define PAUSES (SLP_MODE_PAUSE | SLP_MODE_RESUME)
/* --drain and --pause wait for workers for at most four fifths of the command's time limit. So the library
 * reports which workers still read before the command itself ends. 0: the library's own limit. */
static uint32_t stop_ms(const slp_args *a) { return (uint32_t)slp_min_u64(limit_ms(a) / 5 * 4, UINT32_MAX); }

static int exit_code_of(int status) {
  switch (status) {
    case SLOOP_EOWNED: return SLP_EXIT_OWNED;
    case SLOOP_ENOSHARD: return SLP_EXIT_NO_SHARD;
    case SLOOP_ENOWORKER: return SLP_EXIT_NO_WORKER;
    case SLOOP_EOPTION: return SLP_EXIT_USAGE;
    default: return SLP_EXIT_FAILED;
  }
}

/* Returns 1 if `status` is a failure, and reports it. Returns 0 otherwise. */
static int report_if_failed(command *k, int status, const sloop_error_t *error) {
  if (status == 0) return 0;
  char line[400];
  slp_cli_consumer_error_line(&k->consumer, status, error, line, sizeof line);
  slp_cli_consumer_fail(&k->consumer, exit_code_of(status), line);
  return 1;
}

static void write_text(command *k, slp_buf *text) {
  if (slp_buf_failed(text)) {
    slp_buf_free(text);
    slp_cli_consumer_fail(&k->consumer, SLP_EXIT_FAILED, "no memory");
    return;
  }
  slp_app_write(&k->app, text);
}

static void write_and_end(command *k, slp_buf *text) {
  write_text(k, text);
  slp_cli_consumer_stop(&k->consumer, 0);
}

/* ---- --leases --------------------------------------------------------------------------------- */

static int add_leases(command *k, slp_buf *b, const sloop_leases_t *leases) {
  const slp_args *a = k->app.args;
  const char *stream = a->streams[k->at];
  int64_t now_ms = slp_program_wall_ms();
  if (a->json) return slp_lease_json(b, stream, leases, now_ms);
  uint32_t columns = 0, rows = 0;
  int terminal = slp_terminal_size(1, &columns, &rows) == 0;
  if (k->at > 0) slp_buf_add_char(b, '\n');
  if (a->streams_n > 1) slp_buf_addf(b, "%s\n", stream);
  return slp_lease_table(b, leases, now_ms, terminal ? columns : 0);
}

/* Reports the shards that are further behind than --lag-over allows. */
static void check_lag(command *k, const sloop_leases_t *leases) {
  const slp_args *a = k->app.args;
  slp_buf line;
  k->told_n++;
  if (!a->lag_over) return;
  slp_buf_init(&line, k->app.mem, 1 << 14);
  size_t n = slp_lease_over(&line, leases, slp_program_wall_ms(), a->lag_over_ms, a->lag_over);
  if (n) slp_say("%.80s: %s", a->streams[k->at], slp_buf_failed(&line) ? "too far behind" : slp_buf_z(&line));
  k->over_n += n > 0;
  slp_buf_free(&line);
}

/* Returns the exit code: SLP_EXIT_BEHIND if a shard is further behind than --lag-over, otherwise `code`. If
 * the leases of some streams were not read, never returns 0, which would mean that no shard is behind. */
static int exit_code_of_lag(const command *k, int code) {
  size_t missing = k->app.args->streams_n - k->told_n;
  if (code && k->app.args->mode == SLP_MODE_LEASES && missing > 1 && !k->app.args->quiet)
    slp_say("the leases of %zu of %zu streams are not shown", missing, k->app.args->streams_n);
  if (!k->app.args->lag_over || code) return code;
  if (k->over_n) return SLP_EXIT_BEHIND;
  if (!missing) return code;
  slp_say("%zu of %zu streams were not checked", missing, k->app.args->streams_n);
  return SLP_EXIT_FAILED;
}

/* ---- --explain, --release, --reset ------------------------------------------------------------ */

static void on_registered(sloop_admin_t *admin, int status, const sloop_registered_t *const *all, size_t n,
                          const sloop_error_t *error, void *arg) {
  command *k = arg;
  char line[400] = "";
  (void)admin;
  if (k->consumer.stopping) return;
  if (status) slp_cli_consumer_error_line(&k->consumer, status, error, line, sizeof line);
  slp_buf_add_z(&k->text, "retrieval: ");
  slp_consumers_explain(&k->text, k->app.args, all, status ? 0 : n, status ? line : NULL);
  slp_buf_add_char(&k->text, '\n');
  write_and_end(k, &k->text);
}

static void on_explanation(sloop_admin_t *admin, int status, const sloop_explanation_t *e,
                           const sloop_error_t *error, void *arg) {
  command *k = arg;
  if (k->consumer.stopping || report_if_failed(k, status, error)) return;
  slp_lease_explain(&k->text, e);
  if (k->app.args->opts.retrieval == SLOOP_RETRIEVAL_POLL || sloop_admin_registered(admin, on_registered, k))
    write_and_end(k, &k->text);
}

/* Fails with a line about a change that was ended early: how many leases were changed before. */
static void tell_cut_off(command *k, const sloop_admin_result_t *r) {
  char line[600], done[200];
  slp_lease_done_so_far(r, k->app.args->mode == SLP_MODE_RESET ? "set" : "released", done);
  snprintf(line, sizeof line, "%.99s: %s%s%.250s", k->cut_off, done,
           *k->consumer.error ? "; the last error: " : "", k->consumer.error);
  slp_cli_consumer_fail(&k->consumer, SLP_EXIT_FAILED, line);
}

/* Ends a change early. The callback of the change then reports how much of it was done. */
static void cut_off(command *k, const char *why) {
  if (k->consumer.stopping || k->consumer.failed)
    /* the work is done, and the command only closes its consumer or waits for the reader of its output */
    return;
  snprintf(k->cut_off, sizeof k->cut_off, "%s", why);
  slp_cli_consumer_stop(&k->consumer, 0);
}

/* ---- --drain, --undrain, --pause, --resume ------------------------------------------------------------ */

static void say_waits_for(slp_buf *b, const char *stream, const sloop_drain_t *d) {
  for (size_t i = 0; i < d->waits_for_n; i++)
    slp_lease_say(b, "%s: %s may still read", stream, d->waits_for[i]);
}

static void say_drain(slp_buf *b, const char *stream, const sloop_drain_t *d) {
  const char *was = d->was_so ? " already" : "";
  if (d->on)
    slp_lease_say(b, "%s: drained%s: %zu worker%s for --undrain, and nobody reads the %zu shards", stream,
                  was, d->workers_n, d->workers_n == 1 ? " waits" : "s wait", d->leases_n);
  else
    slp_lease_say(b, "%s: not drained%s: %zu worker%s the %zu shards", stream, d->was_so ? "" : " any more",
                  d->workers_n, d->workers_n == 1 ? " takes" : "s take", d->leases_n);
}

static void on_drain(sloop_admin_t *admin, int status, const sloop_drain_t *d, const sloop_error_t *error,
                     void *arg) {
  command *k = arg;
  slp_buf text;
  (void)admin;
  if (k->consumer.stopping) return;
  slp_buf_init(&text, k->app.mem, 1 << 20);
  if (status == SLOOP_ELEASE && !d && k->app.args->ret_missing_app)
    *k->app.args->ret_missing_app = k->app.args->opts.app;
  if (d && status) say_waits_for(&text, k->app.args->streams[k->at], d);
  if (d && !status) say_drain(&text, k->app.args->streams[k->at], d);
  write_text(k, &text);
  if (!report_if_failed(k, status, error)) slp_cli_consumer_stop(&k->consumer, 0);
}

static void say_pause(slp_buf *b, const sloop_change_t *c, int on, int status) {
  if (c->kind == SLOOP_CHANGE_ENDED)
    slp_lease_say(b, "%s was read to its end: there is nothing to %s", c->shard, on ? "pause" : "resume");
  else if (on && status)
    slp_lease_say(b, "%s: marked as paused; its owner may read it until it gives it up", c->shard);
  else if (c->kind == SLOOP_CHANGE_WAS_SO)
    slp_lease_say(b, "%s: %s already", c->shard, on ? "paused" : "not paused");
  else
    slp_lease_say(b, on ? "%s: paused: nobody reads it until --resume" : "%s: resumed", c->shard);
}

/* Reports the outcome of a change. Some leases may have been changed although others could not be changed. */
static void on_result(sloop_admin_t *admin, int status, const sloop_admin_result_t *r,
                      const sloop_error_t *error, void *arg) {
  command *k = arg;
  slp_buf text;
  (void)admin;
  if (k->consumer.stopping && !*k->cut_off) return;
  if (!*k->cut_off && !r && report_if_failed(k, status, error)) return;
  slp_buf_init(&text, k->app.mem, 1 << 20);
  if (r && r->changes_n && (k->app.args->mode & PAUSES))
    say_pause(&text, r->changes[0], k->app.args->mode == SLP_MODE_PAUSE, status);
  else if (r)
    slp_lease_result(&text, status, r);
  write_text(k, &text);
  if (*k->cut_off)
    tell_cut_off(k, r);
  else if (!report_if_failed(k, status, error))
    slp_cli_consumer_stop(&k->consumer, 0);
}

/* Calls the library for the change or the explanation. name: a shard or worker; NULL: all leases. Returns 0,
 * or a negative code. */
static int send_lease_command(command *k, const char *name) {
  const slp_args *a = k->app.args;
  sloop_admin_t *admin = k->consumer.admin;
  if (a->mode == SLP_MODE_EXPLAIN) return sloop_admin_explain(admin, name, on_explanation, k);
  if (a->mode == SLP_MODE_RELEASE) return sloop_admin_release(admin, name, on_result, k);
  if (a->mode & PAUSES)
    return sloop_admin_pause(admin, name, a->mode == SLP_MODE_PAUSE, stop_ms(a), on_result, k);
  sloop_position_t to = {.kind = a->to.kind, .at_ms = a->to.at_ms};
  if (a->to.kind == SLOOP_AT_SEQ) {
    to.seq = a->to.seq;
    to.sub = a->to.sub;
  }
  return sloop_admin_reset(admin, name, &to, a->force, on_result, k);
}

/* Stores in k->owner the first owner among the leases that the command wants to change. Unless --force is
 * given, the library first watches for a while whether that owner lives. While it does, tell_waiting tells
 * the user the owner's name. */
static void note_owner(command *k, const sloop_leases_t *leases, const char *name) {
  const slp_args *a = k->app.args;
  int all = a->mode == SLP_MODE_RESET && !name;
  if (a->force || !(a->mode & (SLP_MODE_RELEASE | SLP_MODE_RESET))) return;
  for (size_t i = 0; i < leases->leases_n && !*k->owner; i++) {
    const sloop_lease_t *l = leases->leases[i];
    int meant = all || (name && strcmp(l->shard, name) == 0);
    if (meant && *l->owner && l->state != SLOOP_LEASE_FREE && l->position.kind != SLOOP_AT_END)
      snprintf(k->owner, sizeof k->owner, "%s", l->owner);
  }
}

static void tell_waiting(command *k) {
  if (!*k->owner || k->consumer.stopping || slp_program_mono_us() - k->asked_us < WAITS_US) return;
  if (!k->app.args->quiet && !*k->consumer.error)
    slp_say("waiting up to one lease period to see whether %s is alive%s", k->owner,
            k->app.args->mode == SLP_MODE_RESET ? "; --force does not wait" : "");
  k->owner[0] = 0;
}

static void find_and_ask(command *k, const sloop_leases_t *leases) {
  const slp_args *a = k->app.args;
  const char *name = NULL; /* a shard or worker; NULL: all leases */
  if (a->mode != SLP_MODE_RESET || strcmp(a->lease_name, "all") != 0) {
    slp_lease_find(leases, a->lease_name, a->mode == SLP_MODE_RELEASE, &k->pick);
    if (k->pick.second) {
      char line[400];
      snprintf(line, sizeof line, "\"%.60s\" is ambiguous: %.128s or %.128s; type more of the name",
               a->lease_name, k->pick.name, k->pick.second);
      slp_cli_consumer_fail(&k->consumer, SLP_EXIT_USAGE, line);
      return;
    }
    if (slp_buf_add_z(&k->name, k->pick.name) != 0) {
      slp_cli_consumer_fail(&k->consumer, SLP_EXIT_FAILED, "no memory");
      return;
    }
    name = slp_buf_z(&k->name); /* copied, because the leases live only as long as this callback runs */
  }
  note_owner(k, leases, name);
  k->asked_us = slp_program_mono_us();
  report_if_failed(k, send_lease_command(k, name), NULL);
}

/* If the table has no row of this application, reports that and returns 1. Otherwise returns 0. */
static int is_unknown(command *k, const sloop_leases_t *l) {
  const slp_args *a = k->app.args;
  char line[SLP_LEASE_NOBODY];
  if (!slp_lease_is_nobody(l, a->opts.app, a->streams[k->at], line)) return 0;
  if (a->ret_missing_app) *a->ret_missing_app = a->opts.app;
  slp_cli_consumer_fail(&k->consumer, SLP_EXIT_FAILED, line);
  return 1;
}

static void on_leases(sloop_admin_t *admin, int status, const sloop_leases_t *leases,
                      const sloop_error_t *error, void *arg) {
  command *k = arg;
  (void)admin;
  if (*k->cut_off) {
    static const sloop_admin_result_t nothing = {.worker = ""};
    tell_cut_off(k, &nothing);
    return;
  }
  if (k->consumer.stopping) return;
  /* the table is missing: the user may have mistyped the application's name */
  if (status == SLOOP_ELEASE && k->app.args->ret_missing_app)
    *k->app.args->ret_missing_app = k->app.args->opts.app;
  if (report_if_failed(k, status, error) || is_unknown(k, leases)) return;
  if (k->app.args->mode != SLP_MODE_LEASES) {
    find_and_ask(k, leases);
    return;
  }
  slp_buf text;
  slp_buf_init(&text, k->app.mem, UINT64_C(1) << 30);
  add_leases(k, &text, leases);
  check_lag(k, leases);
  write_and_end(k, &text);
}

/* ---- the frame -------------------------------------------------------------------------------- */

static void on_closed(slp_cli_consumer *c) {
  command *k = c->user;
  if (*k->cut_off && !c->failed) tell_cut_off(k, NULL);
  if (has_more(k)) {
    k->at++;
    open_and_read_leases(k);
  } else {
    leave_if_done(k);
  }
}

static void on_written(slp_app *app) { leave_if_done(app->user); }

static void on_out_failed(slp_app *app) {
  command *k = app->user;
  slp_cli_consumer_stop(&k->consumer, 0);
  leave_if_done(k);
}

static int mode_changes_leases(const slp_args *a) {
  return (a->mode & (SLP_MODE_RELEASE | SLP_MODE_RESET | DRAINS | PAUSES)) != 0;
}

static void on_interrupt(slp_app *app) {
  command *k = app->user;
  if (mode_changes_leases(app->args))
    cut_off(k, "interrupted before the end");
  else if (app->args->mode == SLP_MODE_EXPLAIN)
    slp_cli_consumer_interrupt(&k->consumer, "nothing is explained");
  else if (k->told_n < app->args->streams_n)
    slp_cli_consumer_interrupt_between(
        &k->consumer, app->args->streams_n - k->told_n,
        app->args->lag_over ? "the lag of the shards is not known" : "not all leases are shown");
  slp_cli_consumer_stop(&k->consumer, 0);
}

static void on_overdue(slp_app *app) {
  command *k = app->user;
  if (k->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  command *k = app->user;
  slp_cli_consumer_leave_if_stuck(&k->consumer);
  slp_cli_consumer_tick(&k->consumer);
  tell_waiting(k);
  uint64_t timeout_us = limit_ms(app->args) * 1000u;
  if (!timeout_us || k->consumer.stopping || slp_program_mono_us() - k->begun_us < timeout_us) return;
  char why[100], line[600];
  snprintf(why, sizeof why, "the lease table%s has not %s in %llu s",
           mode_reads_stream(app->args) ? " or the stream" : "",
           *k->consumer.error ? "returned its rows" : "answered",
           (unsigned long long)(timeout_us / 1000000u));
  snprintf(line, sizeof line, "%s%s%s", why, *k->consumer.error ? "; the last error: " : "",
           k->consumer.error);
  if (mode_changes_leases(app->args))
    cut_off(k, why);
  else
    slp_cli_consumer_fail(&k->consumer, SLP_EXIT_FAILED, line);
}

static void open_and_read_leases(command *k) {
  const slp_args *a = k->app.args;
  sloop_opts_t o = a->opts;
  k->consumer = (slp_cli_consumer){.user = k, .on_closed = on_closed};
  if (a->streams_n > 1) k->consumer.name = a->streams[k->at];
  k->begun_us = slp_program_mono_us();
  o.stream = a->streams[k->at];
  if (slp_cli_consumer_open_admin(&k->consumer, &k->app, &o) != 0)
    slp_app_close(&k->app);
  else if (a->mode & DRAINS)
    report_if_failed(
        k, sloop_admin_drain(k->consumer.admin, a->mode == SLP_MODE_DRAIN, stop_ms(a), on_drain, k), NULL);
  else if (mode_reads_stream(a))
    report_if_failed(k, sloop_admin_lag(k->consumer.admin, read_ms(a), on_leases, k), NULL);
  else
    report_if_failed(k, sloop_admin_leases(k->consumer.admin, on_leases, k), NULL);
}

int slp_lease_command_run(slp_mem *mem, const slp_args *args) {
  command k = {.app = {.mem = mem}};
  slp_buf_init(&k.name, mem, 1 << 16);
  slp_buf_init(&k.text, mem, 1 << 20);
  k.app.user = &k;
  k.app.on_interrupt = on_interrupt;
  k.app.on_overdue = on_overdue;
  k.app.on_tick = on_tick;
  k.app.on_written = on_written;
  k.app.on_out_failed = on_out_failed;
  if (slp_app_open(&k.app, mem, args) == 0) open_and_read_leases(&k);
  int code = exit_code_of_lag(&k, slp_app_run(&k.app));
  slp_buf_free(&k.name);
  slp_buf_free(&k.text);
  return code;
}
