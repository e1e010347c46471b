/* consumer_run.c - runs a sloop_t for a command, and turns its errors and events into lines for people. */
#include "cli/consumer_run.h"

#include "base/fail.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "cli/knobs.h"
#include "cli/lease_lines.h"
#include "cli/log_filter.h"
#include "cli/manager_news.h"
#include "cli/options.h"
#include "cli/people_lines.h"
#include "cli/reached_positions.h"
#include "cli/record_formats.h"
#include "cli/trouble_lines.h"
#include "codec/date.h"
#include "guest/layouts.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define STUCK_MS 3000u /* a consumer that has been closing for longer than this is stuck */
/* --fail-on-loss ends the command LOSSES_MS after the last loss of records, but no later than LOSSES_MS_MAX
 * after the first loss. */
#define LOSSES_MS 2000u
#define LOSSES_MS_MAX 30000u
/* The command gives up on a server that has never answered properly after this many failed tries in a row.
 * These tries take less time than the connect timeout, because the library's back-off begins with short
 * waits. */
#define FIRST_CONTACT_TRIES 4

/* Returns 1 for libuv's codes of a server that can't be reached: some errno codes, negative, and -3014..-3000
 * for names that do not resolve. */
static int is_unreachable(int code) {
  return code == -ECONNREFUSED || code == -EHOSTUNREACH || code == -ENETUNREACH || code == -ENETDOWN ||
         code == -ETIMEDOUT || (code >= -3014 && code <= -3000);
}

/* The advice for an HTTP error answer without an AWS error name: another program may have answered, not the
 * service. */
static const char is_it_the_service[] =
    "is the endpoint (-b, AWS_ENDPOINT_URL) the service's, and is http or https right?";

/* Returns what the user can do about an error, or NULL. */
static const char *what_to_do(const sloop_error_t *e) {
  int named = e->aws_code && *e->aws_code, nameless = e->http_status && !named;
  if (is_unreachable(e->code)) return "check the endpoint (-b, AWS_ENDPOINT_URL), the region and the network";
  switch (e->code) {
    /* Without an AWS error name the credentials could not be read, and the message of that failure says where
     * to look. */
    case SLOOP_EAUTH:
      return named ? "check the credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, "
                     "the profile or the role"
                   : NULL;
    case SLOOP_EACCESS:
      if (named || !e->message || !*e->message)
        return "stream-tail --iam with the same STREAM, -G and --store prints the policy that is needed, and "
               "with --try what is missing";
      return nameless ? is_it_the_service : NULL;
    case SLOOP_EREFUSED: return nameless ? is_it_the_service : NULL;
    case SLOOP_ELEASE: return "see --store, -X schema and -X worker";
    case SLOOP_ENOSHARD: return "stream-tail -L lists the shards, -G APP --leases the leases";
    case SLOOP_ENOWORKER: return "stream-tail --leases lists them";
    case SLOOP_ENOSTREAM:
      return "check the name (stream-tail -L lists them) and the region (AWS_REGION, -X region=NAME)";
    case SLOOP_ETLS: return "check the address; for a server of your own: -X ca_bundle=FILE or AWS_CA_BUNDLE";
    case SLOOP_EOPTION: return "see stream-tail -h and -X list";
    case SLOOP_ETRIMMED: return "start later, or use -o oldest";
    case SLOOP_EPOSITION:
      return "the position belongs to another stream, or to an older stream of this name: start elsewhere "
             "(-o, --to)";
    case -ECONNRESET:
    case -EPIPE:
    case SLOOP_EREMOTE:
    case SLOOP_EPROTO: return is_it_the_service;
    default: return NULL;
  }
}

void slp_error_line(const sloop_error_t *e, char *line, size_t n) {
  const char *message = e->message && *e->message ? e->message : sloop_strerror(e->code);
  const char *aws = e->aws_code && *e->aws_code && !strstr(message, e->aws_code) ? e->aws_code : "";
  int at = snprintf(line, n, "%s (%s%s%s)", message, sloop_err_name(e->code), *aws ? ", " : "", aws);
  if (at < 0 || (size_t)at >= n) return;
  if (e->retry_in_ms != UINT64_MAX && !e->fatal) return;
  const char *hint = what_to_do(e);
  /* no advice is added if the library's own message already contains some */
  if (hint && !strstr(message, "set ") && !strstr(message, "check ") && !strstr(message, "Start again"))
    snprintf(line + at, n - (size_t)at, "; %s", hint);
}

sloop_error_t slp_error_of_fail(const slp_fail *f) {
  return (sloop_error_t){.code = f->code,
                         .http_status = f->http_status,
                         .aws_code = f->aws_code,
                         .request_id = f->request_id,
                         .shard = "",
                         .message = f->message};
}

int slp_cli_consumer_answered(slp_cli_consumer *c) {
  sloop_stats_t st;
  slp_cli_consumer_stats(c, &st);
  return st.pages > 0 || st.records > 0 || c->joined;
}

void slp_cli_consumer_stats(slp_cli_consumer *c, sloop_stats_t *ret) {
  memset(ret, 0, sizeof *ret);
  if (c->s && !c->closed)
    sloop_stats_get(c->s, ret, sizeof *ret);
  else
    *ret = c->last;
}

/* Writes "STREAM: " if the command reads several streams, so that the line says which stream it is about. */
static void put_name(slp_cli_consumer *c, char *line, size_t n) {
  *line = 0;
  if (c->name) snprintf(line, n, "%.80s: ", c->name);
}

/* If the stream does not exist, stores its name, so that main.c can suggest similar names. */
static void note_missing(slp_cli_consumer *c, const sloop_error_t *e) {
  const slp_args *a = c->app->args;
  /* 1: the stream exists but was created again, or the table exists but has no stream */
  int anew = strstr(e->message, "Start again") || strstr(e->message, "update-table");
  if (e->code != SLOOP_ENOSTREAM || anew || !a->ret_missing || !a->streams_n || c->by_pattern) return;
  *a->ret_missing = c->name ? c->name : a->streams[0];
}

void slp_cli_consumer_error_line(slp_cli_consumer *c, int status, const sloop_error_t *error_or_null,
                                 char *line, size_t n) {
  sloop_error_t e = {.code = status, .aws_code = "", .message = ""};
  if (error_or_null) e = *error_or_null;
  e.retry_in_ms = UINT64_MAX; /* slp_error_line adds advice only to errors that are not retried */
  put_name(c, line, n);
  size_t at = strlen(line);
  slp_error_line(&e, line + at, n - at);
  note_missing(c, &e);
}

/* Returns 1 if the error ends the command.
 *   1. After the first good answer only fatal errors do, because a worker must survive a long outage.
 *   2. Before the first good answer, errors about the stream's name, the credentials or the address do so
 *      too. A person at a terminal wants to see such an error at once. */
static int is_hopeless(slp_cli_consumer *c, const sloop_error_t *e) {
  if (e->fatal) return 1;
  if (c->app->args->keep_going || c->lasting) return 0; /* -E, or a mode that survives errors */
  sloop_stats_t st;
  slp_cli_consumer_stats(c, &st);
  if (st.pages > 0 || st.records > 0 || c->joined) return 0;
  switch (e->code) {
    /* An error that names a shard ends the command. An error without a shard's name means that the
     * credentials could not be read. That ends the command too, with two exceptions:
     *   1. With an HTTP status, the server that gives the credentials may recover.
     *   2. A worker (-G) always waits. */
    case SLOOP_EAUTH: return *e->shard || (!e->http_status && !c->app->args->opts.app);
    case SLOOP_EACCESS:
    case SLOOP_ENOSTREAM:
    case SLOOP_ETLS:
    case SLOOP_EPROXY:
    case SLOOP_EOPTION:
    case SLOOP_EPOSITION:
    case SLOOP_EREFUSED: return 1;
    case SLOOP_ETHROTTLE:
    case SLOOP_ESTREAMBUSY: return 0;
    default: break;
  }
  /* A worker (-G) sends its calls with short time limits, because it must renew its leases in time. So one
   * timeout does not show that the server can't be reached. A user who wants such a worker to end gives
   * -m. */
  if (c->app->args->opts.app && e->code == SLP_ETIMEDOUT) return 0;
  /* The shards have been listed, so the address is right and the error will pass. */
  if (st.shards_now > 0) return 0;
  if (is_unreachable(e->code)) return 1;
  /* An AWS error name shows that the service itself answered. So the address is right and the error will
   * pass. */
  return e->attempt >= FIRST_CONTACT_TRIES && e->http_status < 500 && !*e->aws_code;
}

/* Prints the lines that were held back (trouble_lines.h) and are due now. With `all`, prints every line that
 * was held back. */
static void tell_held(slp_cli_consumer *c, int all) {
  char text[SLP_TOLD_TEXT];
  while (slp_told_next(&c->told, slp_program_mono_us(), all, text)) slp_say_if_room("%s", text);
}

/* Up to this many lines about lost records are printed within five seconds, and not held back as repetitions:
 * each line gives the bounds of another loss. */
#define LOSS_LINES 100u
/* The kind (trouble_lines.h) of all lines about losses. It differs from every error code and from every kind
 * of lease event. */
#define KIND_LOSS 0x8000

/* Prints the line c->error, or holds it back if enough lines of the same kind were printed lately. `message`
 * is the part of c->error that describes the error. A shard's name at the beginning of `message` is left out
 * when lines are compared, so that the same error of several shards counts as one line. */
static void tell_error_line(slp_cli_consumer *c, int kind, const char *shard, const char *message) {
  slp_str what = slp_str_of(message), name = slp_str_of(shard);
  if (c->app->args->quiet || c->muted) return;
  if (name.n && what.n > name.n && memcmp(what.p, name.p, name.n) == 0)
    what = (slp_str){what.p + name.n, what.n - name.n};
  slp_told_line line = {kind, kind == KIND_LOSS ? LOSS_LINES : 1, name, what, c->error};
  tell_held(c, 0); /* held-back lines that are due are older than this line, so they come first */
  if (slp_told_now(&c->told, &line, slp_program_mono_us())) slp_say_if_room("%s", c->error);
}

/* Returns 1 if the same call may succeed later. tries: how often it has failed in a row. */
static int may_error_pass(const sloop_error_t *e, uint32_t tries) {
  switch (e->code) {
    case SLOOP_ETHROTTLE:
    case SLOOP_ESTREAMBUSY: return 1;
    /* the server that gives the credentials answered with this status, and may recover */
    case SLOOP_EAUTH: return e->http_status == 429 || e->http_status >= 500;
    case SLOOP_EREMOTE:
    case SLOOP_EPROTO: return e->http_status >= 500 || *e->aws_code || tries < FIRST_CONTACT_TRIES;
    case -ECONNRESET: return tries < FIRST_CONTACT_TRIES;
    default: return 0;
  }
}

int slp_cli_consumer_asks_again(slp_cli_consumer *c, const sloop_error_t *e, uint32_t tries) {
  if (!may_error_pass(e, tries)) return 0;
  put_name(c, c->error, sizeof c->error);
  size_t at = strlen(c->error);
  sloop_error_t shown = *e;
  shown.retry_in_ms = 0; /* slp_error_line adds no advice to an error that is retried */
  slp_error_line(&shown, c->error + at, sizeof c->error - at);
  if (tries > 1) tell_error_line(c, e->code, e->shard, e->message);
  return 1;
}

static void set_closed(slp_cli_consumer *c) {
  c->s = NULL;
  c->admin = NULL;
  c->closed = 1;
  c->on_closed(c);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  set_closed(arg);
}

static void on_admin_closed(sloop_admin_t *a, void *arg) {
  (void)a;
  set_closed(arg);
}

void slp_cli_consumer_close(slp_cli_consumer *c) {
  if (!c->admin || c->closed || c->closing) return;
  tell_held(c, 1);
  c->closing = 1;
  c->closing_tick = c->app->ticks;
  c->stopping = 1;
  slp_cli_consumer_stats(c, &c->last);
  if (c->s)
    sloop_close(c->s, on_closed, c);
  else
    sloop_admin_close(c->admin, on_admin_closed, c);
}

int slp_cli_consumer_is_stuck(const slp_cli_consumer *c) {
  return c->closing && !c->closed && slp_app_ran_ms(c->app, c->closing_tick) >= STUCK_MS;
}

void slp_cli_consumer_leave_if_stuck(const slp_cli_consumer *c) {
  if (slp_cli_consumer_is_stuck(c) && slp_app_unwritten(c->app) == 0) slp_app_leave_stuck(c->app);
}

/* Calls on_ending, so that the mode closes the consumer when it has written its output. If on_ending is NULL,
 * closes the consumer at once. */
static void end_or_close_consumer(slp_cli_consumer *c) {
  if (c->on_ending && c->admin && !c->closing)
    c->on_ending(c);
  else
    slp_cli_consumer_close(c);
}

void slp_cli_consumer_fail(slp_cli_consumer *c, int exit_code, const char *why) {
  if (c->failed) return;
  c->failed = 1;
  c->app->exit_code = exit_code;
  if (c->on_failing) c->on_failing(c);
  slp_told_drop(&c->told, why);
  tell_held(c, 1);
  slp_say("%s", why);
  /* releases the leases first, or other workers would wait until the leases expire; and gives CloudWatch the
   * last values */
  if ((c->joined || slp_args_cloudwatch(c->app->args)) && !c->stopping) {
    slp_cli_consumer_stop(c, c->joined ? SLP_APP_LEAVE_MS : SLP_APP_GRACE_MS);
    return;
  }
  c->stopping = 1;
  end_or_close_consumer(c);
}

void slp_cli_tell_left(const slp_app *app, int joined, int late, const struct slp_read_span *read) {
  char span[SLP_READ_SPAN];
  if (app->args->quiet) return;
  slp_read_span_text(read, app->args->utc, span);
  if (!joined && app->interrupted && !app->exit_code)
    slp_say("stopped before this worker had joined %s", app->args->opts.app);
  if (!joined) return;
  if (late)
    slp_say(
        "stopped before the leases were released; others take them over when they expire, and may repeat the "
        "last records");
  else if (app->interrupted)
    slp_say("stopped after %s; the next worker of %s that reads these shards continues from here", span,
            app->args->opts.app);
}

void slp_cli_consumer_interrupt(slp_cli_consumer *c, const char *more) {
  char line[200];
  /* The command has done its work. It only closes, or waits until the reader of its output has read all. */
  if (c->stopping || c->failed) return;
  snprintf(line, sizeof line, "interrupted before the end: %s", more);
  slp_cli_consumer_fail(c, SLP_EXIT_FAILED, line);
}

void slp_cli_consumer_interrupt_between(slp_cli_consumer *c, size_t left, const char *more) {
  if (!c->stopping || c->failed || !left) {
    slp_cli_consumer_interrupt(c, more);
    return;
  }
  slp_say("interrupted before the end: %s", more);
  c->app->exit_code = SLP_EXIT_FAILED;
}

/* Returns 1 if each row of the lease table says which stream it belongs to. */
static int names_its_stream(const slp_args *a) {
  const slp_layout *layout = slp_layout_of(a->opts.schema);
  return layout && !layout->one_stream && (!layout->own_table || a->streams_n > 1);
}

/* Appends to c->error a command that the user can type: `--reset` of the lease of `shard`, or of all leases
 * for "all", to the oldest record. `before` and `behind` are put around the command. */
static void add_reset(slp_cli_consumer *c, const char *before, const char *shard, const char *behind) {
  const slp_args *a = c->app->args;
  size_t at = strlen(c->error), n = sizeof c->error - at;
  const char *stream = c->name ? c->name : a->streams_n ? a->streams[0] : "STREAM", *schema = a->opts.schema;
  if (slp_layout_of(schema) == slp_layout_of(NULL)) schema = NULL;
  snprintf(c->error + at, n, "; %sstream-tail -G %.80s%s%.20s%s%.80s --reset %s --to oldest%s %.80s%s",
           before, a->opts.app, schema ? " -X schema=" : "", schema ? schema : "",
           a->opts.store ? " --store " : "", a->opts.store ? a->opts.store : "", shard,
           names_its_stream(a) ? "" : " -o oldest", stream, behind);
}

/* Appends what the user can do about a position that the service refuses. The position must be replaced where
 * it is kept: in a lease, or in the file of --save. */
static void add_way_out(slp_cli_consumer *c, const sloop_error_t *e) {
  const slp_args *a = c->app->args;
  size_t at = strlen(c->error), n = sizeof c->error - at;
  if (a->opts.app)
    add_reset(c, "", slp_shard_short(e->shard),
              names_its_stream(a) ? " sets a new one"
                                  : " sets a new one; if two streams share that name, rename one");
  else
    snprintf(c->error + at, n,
             "; the position belongs to another stream, or to an older stream of this name. It is in %.80s: "
             "delete that file to start where -o says",
             a->save);
}

/* Appends how the user can begin again after the stream was deleted and created again, or after the table got
 * a new stream. */
static void add_new_start(slp_cli_consumer *c) {
  const slp_args *a = c->app->args;
  size_t at = strlen(c->error), n = sizeof c->error - at;
  if (a->opts.app && names_its_stream(a))
    snprintf(c->error + at, n, "; run the same command again: it starts where -o says");
  else if (a->opts.app)
    add_reset(c, "first ", "all", ", because its rows do not contain the stream's name");
  else if (a->save)
    snprintf(c->error + at, n, "; first delete %.80s", a->save);
}

/* The library reports a lasting failure again whenever the number of tries has doubled. So the next report
 * comes about as long after the last report as the last report came after the first. If none has come
 * UNTOLD_US after that time, writes are taken to succeed again. */
#define UNTOLD_US 10000000u

/* If the error is a failed write of the lease table, stores its time for slp_cli_consumer_unwritten_us(). */
static void note_unwritten(slp_cli_consumer *c, const sloop_error_t *e) {
  sloop_stats_t st;
  if (!strstr(e->message, "a write of the lease table failed")) return;
  slp_cli_consumer_stats(c, &st);
  c->unwritten_last_us = slp_program_mono_us();
  if (!c->unwritten_us) c->unwritten_us = c->unwritten_last_us;
  c->unwritten_heartbeats = st.heartbeats;
  c->unwritten_passes = e->http_status < 400 || e->http_status >= 500 || e->code == SLOOP_ETHROTTLE;
}

uint64_t slp_cli_consumer_unwritten_us(slp_cli_consumer *c, int *ret_passes) {
  uint64_t now_us = slp_program_mono_us(), told_us = c->unwritten_last_us - c->unwritten_us;
  sloop_stats_t st;
  *ret_passes = c->unwritten_passes;
  if (!c->unwritten_us) return 0;
  slp_cli_consumer_stats(c, &st);
  int beats = c->unwritten_passes && st.heartbeats > c->unwritten_heartbeats;
  return beats || now_us - c->unwritten_last_us > told_us + UNTOLD_US ? 0 : now_us - c->unwritten_us;
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  if (c->failed) return;
  if (c->app->args->opts.app) note_unwritten(c, e);
  if (e->code == SLOOP_ENOSTREAM) c->missing_us = slp_program_mono_us();
  snprintf(c->of_error, sizeof c->of_error, "%s", e->message);
  int hopeless = is_hopeless(c, e);
  /* Before the first answer, an error without an HTTP status is not printed yet, unless the command is a
   * worker (-G). Either the error passes soon, or is_hopeless() becomes true, and then it is printed once, as
   * the reason why the command ends. */
  sloop_stats_t st;
  slp_cli_consumer_stats(c, &st);
  int undecided = !hopeless && e->http_status == 0 && st.pages == 0 && st.shards_now == 0 &&
                  /* a worker (-G) waits without a limit, so it reports such errors */
                  !c->app->args->opts.app;
  sloop_error_t shown = *e;
  /* slp_error_line adds advice only to errors that are not retried */
  if (hopeless) shown.retry_in_ms = UINT64_MAX;
  put_name(c, c->error, sizeof c->error);
  size_t at = strlen(c->error);
  const slp_args *a = c->app->args;
  int of_token = e->fatal && c->token_file && (e->code == SLOOP_ETOKEN || e->code == SLOOP_ETRIMMED);
  int says_more = of_token || (e->code == SLOOP_EPOSITION && (a->opts.app || a->save));
  /* 0 makes slp_error_line leave out its advice. The text about the token file, or add_way_out, gives better
   * advice. */
  if (says_more) shown.retry_in_ms = 0;
  slp_error_line(&shown, c->error + at, sizeof c->error - at);
  if (of_token)
    snprintf(c->error + strlen(c->error), sizeof c->error - strlen(c->error),
             "; the token is in %.80s: delete that file to start where -o says", c->token_file);
  else if (says_more)
    add_way_out(c, e);
  if (e->code == SLOOP_ENOSTREAM && strstr(e->message, "Start again")) add_new_start(c);
  if (e->fatal || (hopeless && !c->stopping)) note_missing(c, e);
  if (e->fatal || (hopeless && !c->stopping)) c->failed_by = e->code;
  if (e->fatal || (hopeless && !c->stopping))
    slp_cli_consumer_fail(c, SLP_EXIT_FAILED, c->error);
  else if (!c->stopping &&
           /* the library sends such a message only once for each change, so the line is never held back as a
            * repetition */
           strncmp(e->message, "retrieval: ", 11) == 0)
    slp_say_if_room("%s", c->error);
  else if (!c->stopping && !undecided)
    tell_error_line(c, e->code, e->shard, e->message);
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  if (c->stopping || c->lost || !c->on_batch)
    sloop_batch_done(b, 0);
  else
    c->on_batch(c, b);
}

static void on_tip(sloop_t *s, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  if (!c->stopping && c->on_tip) c->on_tip(c);
}

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  const char *text = "";
  switch (e->kind) {
    case SLOOP_SHARD_OPENED: text = "reading starts"; break;
    case SLOOP_SHARD_ENDED: text = "read to its end"; break;
    case SLOOP_SHARD_REPOSITIONED: text = "continues from another position"; break;
    case SLOOP_SHARD_LOST: text = "another worker has its lease"; break;
    case SLOOP_SHARD_RELEASED: text = "its lease was released"; break;
    case SLOOP_SHARD_READ_OUT: text = "read to its end; the end is not stored yet"; break;
    case SLOOP_SHARD_LEAVING: text = "another worker requests it"; break;
    case SLOOP_SHARD_STOPPED:
      text = "given up";
      c->shards_stopped++;
      break;
  }
  char name[100];
  put_name(c, name, sizeof name);
  /* With leases, on_lease reports every event except SLOOP_SHARD_OPENED and SLOOP_SHARD_STOPPED, and with
   * more details. */
  int wanted = c->app->args->verbose && (!c->app->args->opts.app || e->kind == SLOOP_SHARD_OPENED);
  if (!c->app->args->quiet && (e->kind == SLOOP_SHARD_STOPPED || wanted))
    slp_say_if_room("%s%s: %s", name, e->shard, text);
  if (c->on_shard && !c->closing) c->on_shard(c, e->shard, e->kind);
}

static void put_bound(const char *word, const char *seq, int64_t ms, char *line, size_t n) {
  char when[25] = "";
  size_t at = strlen(line);
  if (ms >= 0) slp_date_iso(ms, when);
  if (*seq || *when)
    snprintf(line + at, n - at, "; %s %.60s%s%s%s", word, seq, *seq && *when ? " of " : "", when,
             strlen(seq) > 60 ? " (cut)" : "");
}

/* Writes a loss of records as one line, with the bounds of the loss as far as they are known. n must be at
 * least SLP_TOLD_LINE. */
static void write_loss_line(const sloop_loss_t *loss, char *line, size_t n) {
  snprintf(line, n, "%.130s: %.140s", loss->shard, loss->message);
  put_bound("behind", loss->from_seq, loss->since_ms, line, n);
  put_bound("until", loss->to_seq, loss->until_ms, line, n);
}

static void on_loss(sloop_t *s, const sloop_loss_t *loss, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  c->losses++;
  put_name(c, c->error, sizeof c->error);
  size_t at = strlen(c->error);
  write_loss_line(loss, c->error + at, sizeof c->error - at);
  tell_error_line(c, KIND_LOSS, loss->shard, c->error + at);
  if (!c->app->args->fail_on_loss || c->stopping) return;
  c->loss_tick = c->app->ticks;
  if (!c->lost) c->first_loss_tick = c->app->ticks;
  c->lost = 1;
}

/* If --fail-on-loss is given and records were lost, ends the command with SLP_EXIT_LOSS, even if the command
 * was about to end for another reason. Returns 1 if it has ended the command. */
static int fail_for_losses(slp_cli_consumer *c) {
  char line[120];
  if (!c->lost || c->stopping || c->failed) return 0;
  snprintf(line, sizeof line, "records were lost (%llu time%s); stopping because of --fail-on-loss",
           (unsigned long long)c->losses, c->losses == 1 ? "" : "s");
  slp_cli_consumer_fail(c, SLP_EXIT_LOSS, line);
  return 1;
}

/* Ends the command some time after a loss. If the command ended at once, losses of other shards would not be
 * reported and saved. Then each new start would end at the next of these losses. */
static void end_after_losses(slp_cli_consumer *c) {
  if (c->lost && (slp_app_ran_ms(c->app, c->loss_tick) >= LOSSES_MS ||
                  slp_app_ran_ms(c->app, c->first_loss_tick) >= LOSSES_MS_MAX))
    fail_for_losses(c);
}

/* Collects for the service manager how the consumer is doing. */
static void look_for_news(slp_cli_consumer *c) {
  sloop_stats_t now;
  slp_manager_news *news = &c->app->news;
  if (!news->notify || !c->started || c->closed) return;
  slp_cli_consumer_stats(c, &now);
  slp_manager_news_look(news, &now, c->app->args->opts.app ? c->joined : -1, c->stopping, c->error);
}

void slp_cli_consumer_tick(slp_cli_consumer *c) {
  tell_held(c, 0);
  end_after_losses(c);
  look_for_news(c);
}

/* Returns the kind (trouble_lines.h) of the line about a lease event. Lines of one kind are reported or held
 * back together. Error codes are negative, so no error has the same kind. Each bad row has its own kind, made
 * from its text. */
static int kind_of(const sloop_lease_event_t *e) {
  uint32_t hash = 2166136261u;
  if (e->kind != SLOOP_LEASE_BAD_ROW) return (int)e->kind;
  for (const char *p = e->text; *p; p++) hash = (hash ^ (unsigned char)*p) * 16777619u;
  return (int)(hash >> 1 | 0x10000);
}

static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  if (e->kind == SLOOP_LEASE_JOINED) c->joined = 1;
  if (e->kind == SLOOP_LEASE_TAKEN) c->unwritten_us = 0;
  /* An error of the lease table comes twice: on_error, called first, decides whether to print it. Then this
   * function is called with kind SLOOP_LEASE_TROUBLE. The text shows that it is the same error. */
  size_t n = strlen(c->of_error);
  int was_told = e->kind == SLOOP_LEASE_TROUBLE && n && strncmp(c->of_error, e->text, n) == 0;
  c->of_error[0] = 0;
  if (was_told) return;
  put_name(c, c->error, sizeof c->error);
  size_t at = strlen(c->error);
  int trouble = slp_lease_event_line(e, c->error + at, sizeof c->error - at);
  if (trouble && !c->stopping)
    tell_error_line(c, kind_of(e), e->shard, e->text);
  else if (c->app->args->verbose && !c->app->args->quiet)
    slp_say_if_room("%s", c->error);
}

static void on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  char name[100];
  put_name(c, name, sizeof name);
  slp_say_if_room("%s%s: %.*s was returned %u times and is skipped", name, r->shard, (int)r->seq.len,
                  r->seq.base, (unsigned)r->attempt);
}

static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  (void)level; /* the library has already left out lines below log_level */
  const slp_args *a = c->app->args;
  int asked_for = a->contexts ? slp_log_contexts_have(a->contexts, line) : a->opts.log_level > SLOOP_LOG_WARN;
  /* on_error reports most warnings, so log lines are printed only with -vv or if log_level was set. Three
   * kinds of warnings come only as log lines, and are always printed:
   *     about metrics;
   *     about credentials that take long to come;
   *     with -v, about records that are polled although push was preferred. */
  int only_here = strncmp(line, "metrics: ", 9) == 0 || strncmp(line, "credentials: ", 13) == 0 ||
                  (a->verbose && strncmp(line, "retrieval: ", 11) == 0);
  if (a->quiet || (!asked_for && !only_here)) return;
  char name[100];
  put_name(c, name, sizeof name);
  slp_say_if_room("%s%s", name, line);
}

/* Rewords an error sentence of the library for a user of the command. If the sentence begins with the name of
 * an option of sloop.h, replaces the name by the command's flag or setting of -X. */
static void as_typed(const char *why, char shown[SLP_ARGS_WHY]) {
  slp_str name = {why, strspn(why, "abcdefghijklmnopqrstuvwxyz_0123456789")};
  const char *before = !name.n || !strchr(": ", why[name.n]) ? ""
                       : slp_option_by_name(name)            ? "--"
                       : slp_knob_exists(name)               ? "-X "
                                                             : "";
  snprintf(shown, SLP_ARGS_WHY, "%s%.390s", before, why);
}

/* Sets the callbacks of `opts` to those of this file. */
static void set_callbacks(slp_cli_consumer *c, sloop_opts_t *opts) {
  opts->arg = c;
  opts->on_batch = on_batch;
  opts->on_tip = on_tip;
  opts->on_shard = on_shard;
  opts->on_loss = on_loss;
  opts->on_error = on_error;
  opts->on_lease = on_lease;
  opts->on_dead_letter = on_dead_letter;
  opts->on_log = on_log;
}

/* Reports why opening failed, and sets the exit code. Returns r. */
static int not_opened(slp_cli_consumer *c, int r, const char *why) {
  c->s = NULL;
  c->admin = NULL;
  char name[100];
  put_name(c, name, sizeof name);
  const char *file = r == SLOOP_ETOKEN && c->token_file ? c->token_file : "";
  char shown[SLP_ARGS_WHY];
  as_typed(*why ? why : sloop_strerror(r), shown);
  slp_say("%s%s%s%s", name, file, *file ? ": " : "", shown);
  c->app->exit_code = r == SLOOP_EOPTION || r == SLOOP_ETOKEN ? SLP_EXIT_USAGE : SLP_EXIT_FAILED;
  return r;
}

int slp_cli_consumer_open_idle(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o) {
  sloop_opts_t opts = *o;
  char why[160] = "";
  c->app = app;
  set_callbacks(c, &opts);
  int r = sloop_open(&c->s, app->loop, &opts, why, sizeof why);
  if (r) return not_opened(c, r, why);
  c->admin = sloop_admin_of(c->s);
  return 0;
}

int slp_cli_consumer_open_admin(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o) {
  sloop_opts_t opts = *o;
  char why[160] = "";
  c->app = app;
  set_callbacks(c, &opts);
  int r = sloop_admin_open(&c->admin, app->loop, &opts, why, sizeof why);
  return r ? not_opened(c, r, why) : 0;
}

int slp_cli_consumer_open(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o) {
  int r = slp_cli_consumer_open_idle(c, app, o);
  if (!r) r = slp_cli_consumer_start(c);
  if (!r || !c->s) return r;
  sloop_close(c->s, NULL, NULL);
  c->s = NULL;
  c->admin = NULL;
  return r;
}

int slp_cli_consumer_start(slp_cli_consumer *c) {
  int r = sloop_start(c->s);
  c->started = r == 0;
  if (!r) return 0;
  slp_say("can't start: %s (%s)", sloop_strerror(r), sloop_err_name(r));
  c->app->exit_code = SLP_EXIT_FAILED;
  return r;
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  slp_cli_consumer *c = arg;
  (void)s;
  c->stop_status = status;
  /* SLP_ECANCELED: slp_cli_consumer_close() was called, so the consumer is being closed already */
  if (status != SLP_ECANCELED) end_or_close_consumer(arg);
}

void slp_cli_consumer_stop(slp_cli_consumer *c, uint64_t limit_ms) {
  if (c->stopping || !c->admin || fail_for_losses(c)) return;
  tell_held(c, 1);
  c->stopping = 1;
  if (!c->s || sloop_stop(c->s, limit_ms, on_stopped, c) != 0) end_or_close_consumer(c);
}
