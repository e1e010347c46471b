/* migrate_command.c - --migrate: copies the positions of a stream from one place (a lease table or a token's
 * file) to another. */
#include "cli/migrate_command.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/migrate_place.h"
#include "cli/migrate_words.h"
#include "cli/people_lines.h"
#include "cli/token_file.h"
#include "host/own_file.h"
#include "program/local.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define TEXT_MAX (UINT64_C(64) << 20)

typedef struct migration {
  slp_app app;
  slp_cli_consumer consumer;
  slp_buf token; /* text of the token, if the source is a token */
  /* The locked file of the source's token, so that no `stream-tail --save` changes it during the copy. NULL:
   * the source is not a file, or the file can't be locked. */
  slp_own_file *source;
  uint64_t begun_us;
  char cut_off[100]; /* why the copy was ended early; "": it was not ended early */
} migration;

static int is_standard(const slp_migrate_place *p) { return p->file && strcmp(p->file, "-") == 0; }

static void leave_if_done(migration *m) {
  if (m->consumer.closed && m->app.out && slp_app_unwritten(&m->app) == 0) slp_app_close(&m->app);
}

static void fail_migration(migration *m, int code, const char *why) {
  slp_cli_consumer_fail(&m->consumer, code, why);
}

/* ---- the token as the target --------------------------------------------------------------------------- */

/* Sets *ret_same to 1 if the file holds `text`, apart from line ends at the end. Returns 0, or the error of
 * reading the file. */
static int file_has(migration *m, const char *path, slp_str text, int *ret_same) {
  slp_buf is;
  slp_buf_init(&is, m->app.mem, TEXT_MAX);
  int r = slp_local_read(path, &is);
  slp_str s = slp_buf_str(&is);
  while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r')) s.n--;
  *ret_same = !r && slp_str_eq(s, text);
  slp_buf_free(&is);
  return r;
}

static int make_file(migration *m, const char *path, slp_str line) {
  slp_own_file *file;
  int r = slp_own_file_open(m->app.mem, path, &file);
  if (r) return r;
  r = slp_own_file_replace(file, line);
  slp_own_file_close(file);
  return r;
}

/* Writes the token to its file, or to `out` if the target is standard output. Never changes an existing file,
 * because a reader may depend on it. Returns
 *     0: the token was written, or would be written with --write;
 *     1: the file already holds the same token;
 *     -1: it failed, and the reason has been reported. */
static int write_token(migration *m, slp_buf *out, const char *token) {
  const slp_migrate_place *to = &m->app.args->migrate_to;
  char why[400];
  int same = 0, dry = !m->app.args->write;
  if (is_standard(to)) {
    if (!dry) slp_buf_addf(out, "%s\n", token);
    return 0;
  }
  int r = file_has(m, to->file, slp_str_of(token), &same);
  if (r == 0 && same) return 1;
  if (r == 0) snprintf(why, sizeof why, "%.200s exists, with other positions; nothing was written", to->file);
  if (r != 0 && r != SLP_ENOENT) snprintf(why, sizeof why, "%.200s: %s", to->file, slp_local_why(r));
  if (r == SLP_ENOENT && dry) return 0;
  if (r == SLP_ENOENT) {
    slp_buf line;
    slp_buf_init(&line, m->app.mem, TEXT_MAX);
    slp_buf_addf(&line, "%s\n", token);
    r = slp_buf_failed(&line) ? SLP_ENOMEM : make_file(m, to->file, slp_buf_str(&line));
    slp_buf_free(&line);
    if (!r) return 0;
    snprintf(why, sizeof why, "%.200s: %s", to->file, r == SLP_ENOMEM ? "no memory" : slp_local_why(r));
  }
  fail_migration(m, SLP_EXIT_FAILED, why);
  return -1;
}

/* ---- the outcome -------------------------------------------------------------------------------------- */

static int exit_code_of(int status) {
  switch (status) {
    case SLOOP_EOWNED: return SLP_EXIT_OWNED;
    case SLOOP_EOPTION: return SLP_EXIT_USAGE;
    default: return SLP_EXIT_FAILED;
  }
}

/* Writes the lines for people and frees them. They go to standard output, or to standard error if the token
 * itself goes to standard output. */
static void put_lines(migration *m, slp_buf *lines) {
  if (!is_standard(&m->app.args->migrate_to)) {
    slp_app_write(&m->app, lines);
    return;
  }
  const char *p = slp_buf_z(lines);
  for (const char *end; (end = strchr(p, '\n')); p = end + 1) slp_say("%.*s", (int)(end - p), p);
  slp_buf_free(lines);
}

/* Prints what the copy has found and done. fine: 1 if the copy succeeded. */
static void print_migration_result(migration *m, const sloop_migration_t *found, int fine) {
  slp_buf lines, out;
  int dry = !m->app.args->write;
  slp_buf_init(&lines, m->app.mem, TEXT_MAX);
  slp_buf_init(&out, m->app.mem, TEXT_MAX);
  slp_migrate_lines(&lines, found);
  int there = fine && *found->token ? write_token(m, &out, found->token) : 0;
  if (fine && there == 0) slp_migrate_sum(&lines, found, dry);
  if (!fine) slp_migrate_cut_off(&lines, found);
  if (there > 0) slp_buf_addf(&lines, "%s holds this token already\n", m->app.args->migrate_to.file);
  if (slp_buf_failed(&lines) || slp_buf_failed(&out)) {
    fail_migration(m, SLP_EXIT_FAILED, "no memory");
    slp_buf_free(&lines);
    slp_buf_free(&out);
    return;
  }
  put_lines(m, &lines);
  if (out.n)
    slp_app_write(&m->app, &out);
  else
    slp_buf_free(&out);
}

/* Reports that the copy was ended early, and whether some positions may have been written. */
static void tell_cut_off(migration *m, int may_have_written) {
  char line[600];
  snprintf(line, sizeof line, "%.99s: %s%s%.250s", m->cut_off,
           may_have_written ? "some of it may be written; run the same command again to continue"
                            : "nothing was written",
           *m->consumer.error ? "; the last error: " : "", m->consumer.error);
  fail_migration(m, SLP_EXIT_FAILED, line);
}

/* Ends the copy early. on_migrated then reports what was copied before. */
static void cut_off(migration *m, const char *why) {
  if (m->consumer.stopping || m->consumer.failed)
    /* the copy is over: the command only closes its consumer, or waits for the reader of its output */
    return;
  snprintf(m->cut_off, sizeof m->cut_off, "%s", why);
  slp_cli_consumer_stop(&m->consumer, 0);
}

static void on_migrated(sloop_admin_t *a, int status, const sloop_migration_t *found,
                        const sloop_error_t *error, void *arg) {
  migration *m = arg;
  (void)a;
  if (*m->cut_off) {
    if (found && found->wrote) print_migration_result(m, found, 0);
    tell_cut_off(m, found && found->wrote);
    return;
  }
  if (m->consumer.stopping) return;
  if (found) print_migration_result(m, found, status == 0);
  if (status) {
    char line[400];
    slp_cli_consumer_error_line(&m->consumer, status, error, line, sizeof line);
    fail_migration(m, exit_code_of(status), line);
  }
  slp_cli_consumer_stop(&m->consumer, 0);
}

/* ---- the frame ---------------------------------------------------------------------------------------- */

static void on_closed(slp_cli_consumer *c) {
  migration *m = c->user;
  if (*m->cut_off && !c->failed) tell_cut_off(m, m->app.args->write);
  leave_if_done(m);
}

static void on_written(slp_app *app) { leave_if_done(app->user); }

static void on_out_failed(slp_app *app) {
  migration *m = app->user;
  slp_cli_consumer_stop(&m->consumer, 0);
  leave_if_done(m);
}

static void on_interrupt(slp_app *app) {
  migration *m = app->user;
  cut_off(m, "interrupted before the end");
  slp_cli_consumer_stop(&m->consumer, 0);
}

static void on_overdue(slp_app *app) {
  migration *m = app->user;
  if (is_standard(&app->args->migrate_to) && app->args->write && slp_app_unwritten(app) > 0) {
    app->exit_code = SLP_EXIT_FAILED;
    slp_say("interrupted before the end: the reader did not take the whole token");
  }
  if (m->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  migration *m = app->user;
  slp_cli_consumer_leave_if_stuck(&m->consumer);
  slp_cli_consumer_tick(&m->consumer);
  uint64_t timeout_us = (app->args->contact_ms ? app->args->contact_ms : app->args->timeout_ms) * 1000u;
  if (!timeout_us || m->consumer.stopping || slp_program_mono_us() - m->begun_us < timeout_us) return;
  char why[100];
  snprintf(why, sizeof why, "the tables have not answered in %llu s",
           (unsigned long long)(timeout_us / 1000000u));
  cut_off(m, why);
}

static sloop_place_t place_of(const slp_migrate_place *p, const char *token, int in_use) {
  sloop_place_t place;
  sloop_place_init(&place);
  place.token = token;
  if (p->file) return place;
  place.app = p->app;
  place.schema = p->schema;
  place.store = *p->store ? p->store : NULL;
  place.several = p->several;
  place.in_use = in_use;
  return place;
}

/* Reads the token of the source. Sets *ret to NULL if the source is not a token. Returns 0, or an error; then
 * the reason has been reported. */
static int read_token(migration *m, const char **ret) {
  const slp_args *a = m->app.args;
  const slp_migrate_place *from = &a->migrate_from;
  char why[SLP_TOKEN_WHY] = "";
  *ret = NULL;
  if (!from->file) return 0;
  const char *path = is_standard(from) ? "/dev/stdin" : from->file;
  int locks =
      /* --snapshot takes no lock, so that the process that saves to this file can go on */
      !is_standard(from) && !a->snapshot;
  int r = locks ? slp_own_file_open(m->app.mem, from->file, &m->source) : 0;
  if (r == SLP_EBUSY) {
    slp_say("%s: another process keeps its position there: stop it first, or use --snapshot", from->file);
    m->app.exit_code = SLP_EXIT_OWNED;
    return r;
  }
  r = slp_tokens_read(path, a->streams, 1, 0, &m->token, ret, why);
  if (!r && *ret) return 0;
  slp_say("%s", *why              ? why
                : r == SLP_ENOENT ? "the token's file is not there"
                                  : "the token's file has no token");
  return SLP_EINVAL;
}

static void begin_migration(migration *m) {
  const slp_args *a = m->app.args;
  const char *token;
  sloop_opts_t o = a->opts;
  m->begun_us = slp_program_mono_us();
  m->consumer = (slp_cli_consumer){.user = m, .on_closed = on_closed};
  m->app.exit_code = SLP_EXIT_FAILED;
  if (read_token(m, &token)) {
    slp_app_close(&m->app);
    return;
  }
  m->app.exit_code = 0;
  if (slp_cli_consumer_open_admin(&m->consumer, &m->app, &o) != 0) {
    slp_app_close(&m->app);
    return;
  }
  sloop_place_t from = place_of(&a->migrate_from, token, a->snapshot), to = place_of(&a->migrate_to, NULL, 0);
  int r = sloop_admin_migrate(m->consumer.admin, &from, &to, a->write, on_migrated, m);
  if (r) fail_migration(m, SLP_EXIT_FAILED, "no memory");
}

int slp_migrate_run(slp_mem *mem, const slp_args *args) {
  migration m = {.app = {.mem = mem}};
  slp_buf_init(&m.token, mem, TEXT_MAX);
  m.app.user = &m;
  m.app.on_interrupt = on_interrupt;
  m.app.on_overdue = on_overdue;
  m.app.on_tick = on_tick;
  m.app.on_written = on_written;
  m.app.on_out_failed = on_out_failed;
  if (slp_app_open(&m.app, mem, args) == 0) begin_migration(&m);
  int code = slp_app_run(&m.app);
  slp_buf_free(&m.token);
  slp_own_file_close(m.source);
  return code;
}
