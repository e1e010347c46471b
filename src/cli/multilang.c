/* multilang.c - the daemon of --multilang: a consumer, and one child process for each of its shards.
 * multilang_shard.h decides what the daemon sends to a child. This file uses only sloop.h of the library.
 * When a child dies, the records after its last checkpoint are read again. */
#include "cli/multilang.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/metrics_options.h"
#include "cli/multilang_properties.h"
#include "cli/multilang_protocol.h"
#include "cli/multilang_shard.h"
#include "cli/people_lines.h"
#include "cli/progress_line.h"
#include "host/executable.h"
#include "program/piped.h"
#include "program/program.h"

#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <unistd.h>

/* How long a child may take to end after its input is closed. It gets the same time again after SIGTERM; then
 * it is killed. */
#define CLOSE_US UINT64_C(5000000)
/* If a checkpoint takes longer than this, the child gets the answer that the checkpoint failed. */
#define CHECKPOINT_US UINT64_C(20000000)
/* the most children that may have been started without having answered `initialize` */
#define BEGINNING_MAX 8
#define STARTS_A_SECOND 10
/* --trace-protocol leaves out lines while more than this many bytes of earlier lines are not written yet. */
#define TRACE_WAITING_MAX ((size_t)8 << 20)

typedef struct run run;
typedef struct child {
  slp_list link;
  slp_ml_shard h;
  run *d;
  slp_piped *p;   /* owned; the child's process; NULL: none runs */
  uint32_t asked; /* number of checkpoints that the library was asked to write and has not answered yet */
  uint8_t over;   /* 1: ops->over was called; the child is freed when `asked` is 0 */
} child;

struct run {
  slp_app app;
  slp_cli_consumer consumer;
  const slp_ml_settings *s;
  slp_ml_limits limits;
  slp_herd *herd;    /* owned; all child processes */
  slp_list children; /* list of all children, by child.link */
  slp_progress progress;
  /* A clock that limits the rate of starts: each start moves it on by 1/STARTS_A_SECOND s, and a child may
   * start only while it is not ahead of the present time. */
  uint64_t starts_us;
  uint64_t stopping_us; /* when the daemon began to stop; 0: it is not stopping */
  uint8_t ended;        /* 1: the consumer is ending; it is closed when all children are over */
  /* 1: the user was told that some children had not answered by the time the stop had lasted grace_ms */
  uint8_t in_vain;
  int guard_fd;
};

static void advance_daemon(run *d);
static void on_overdue(slp_app *app);

/* ---- the functions of slp_ml_ops, which multilang_shard.c calls ------------------------------------- */

static child *child_of(slp_ml_shard *h) { return SLP_OWNER(h, child, h); }

static void free_if_over(child *k) {
  if (!k->over || k->asked) return;
  slp_list_remove(&k->link);
  slp_free(k->d->app.mem, k);
}

static void on_out(void *arg, char *line, size_t n) {
  child *k = arg;
  slp_ml_line(&k->h, line, n, slp_program_mono_us());
}

static void on_err(void *arg, const char *line, size_t n) {
  child *k = arg;
  slp_ml_complained(&k->h, line, n);
  if (!k->d->app.args->quiet) slp_say_if_room("%s: stderr: %.*s", k->h.id, (int)n, line);
}

static void on_long(void *arg) { slp_ml_long_line(&((child *)arg)->h, slp_program_mono_us()); }
static void on_piped_written(void *arg) { slp_ml_written(&((child *)arg)->h, slp_program_mono_us()); }
static void on_broken(void *arg, int input) { slp_ml_broken(&((child *)arg)->h, input); }

static void on_child_exit(void *arg, int status, int signal_number) {
  child *k = arg;
  run *d = k->d;
  slp_piped_drop(k->p);
  k->p = NULL;
  slp_ml_exited(&k->h, status, signal_number, slp_program_mono_us());
  advance_daemon(d);
}

static int op_start(slp_ml_shard *h) {
  child *k = child_of(h);
  slp_piped_user user = {.on_out = on_out,
                         .on_err = on_err,
                         .on_long = on_long,
                         .on_written = on_piped_written,
                         .on_broken = on_broken,
                         .on_exit = on_child_exit,
                         .arg = k,
                         .out_max = SLP_ML_LINE_MAX};
  return slp_piped_start(&k->p, k->d->herd, k->d->s->command, &user);
}

static void op_write(slp_ml_shard *h, slp_buf *bytes) { slp_piped_write(child_of(h)->p, bytes); }
static void op_close_input(slp_ml_shard *h) { slp_piped_close_input(child_of(h)->p); }

static void op_kill(slp_ml_shard *h, int signal_number) {
  if (child_of(h)->p) slp_piped_kill(child_of(h)->p, signal_number);
}

static void op_listen(slp_ml_shard *h, int on) {
  if (child_of(h)->p) slp_piped_listen(child_of(h)->p, on);
}

static void on_checkpointed(sloop_t *s, int status, void *arg) {
  child *k = arg;
  run *d = k->d;
  (void)s;
  k->asked--;
  if (k->over)
    free_if_over(k);
  else
    slp_ml_checkpointed(&k->h, status, slp_program_mono_us());
  advance_daemon(d);
}

static int op_checkpoint(slp_ml_shard *h, const slp_ml_place *place) {
  child *k = child_of(h);
  sloop_position_t to = {.kind = place ? SLOOP_AFTER_SEQ : SLOOP_AT_END};
  if (place) {
    to.seq = place->seq;
    to.sub = place->sub;
  }
  if (!k->d->consumer.s) return SLOOP_ESTATE;
  int r = sloop_checkpoint_at(k->d->consumer.s, h->id, &to, on_checkpointed, k);
  if (!r) k->asked++;
  return r;
}

/* Makes the library read the shard again from its last checkpoint. Ignores a failure other than SLP_ENOMEM,
 * because such a failure means that the lease is about to be lost anyway. */
static void op_rewind(slp_ml_shard *h) {
  run *d = child_of(h)->d;
  int r = d->consumer.s ? sloop_seek_checkpoint(d->consumer.s, h->id) : SLOOP_ESTATE;
  if (r == SLP_ENOMEM) slp_cli_consumer_fail(&d->consumer, SLP_EXIT_FAILED, "no memory");
}

static void op_hand_over(slp_ml_shard *h) {
  run *d = child_of(h)->d;
  if (d->consumer.s) (void)sloop_handover(d->consumer.s, h->id);
}

/* Prints a line for the user. Drops the line if standard error is full, because other shards must not wait
 * for the reader of standard error. */
static void op_say(slp_ml_shard *h, const char *line) {
  if (!child_of(h)->d->app.args->quiet) slp_say_if_room("%s", line);
}

/* --trace-protocol: prints "> SHARD TEXT" for a line to the child, and "< SHARD TEXT" for a line from the
 * child. Leaves lines out while more than TRACE_WAITING_MAX bytes are unwritten. */
static void op_trace(slp_ml_shard *h, int to_child, slp_str line) {
  run *d = child_of(h)->d;
  slp_buf b;
  if (!d->app.args->trace_protocol || slp_app_unwritten(&d->app) > TRACE_WAITING_MAX) return;
  slp_buf_init(&b, d->app.mem, UINT32_MAX);
  if (line.n && line.p[line.n - 1] == '\n') line.n--;
  slp_say_to(&b, "%c %s %.*s", to_child ? '>' : '<', h->id, (int)line.n, line.p);
  if (slp_buf_failed(&b))
    slp_buf_free(&b);
  else
    slp_app_write(&d->app, &b);
}

static void op_over(slp_ml_shard *h) {
  child *k = child_of(h);
  k->over = 1;
  free_if_over(k);
}

static const slp_ml_ops ops = {op_start,  op_write,     op_close_input, op_kill,  op_listen, op_checkpoint,
                               op_rewind, op_hand_over, op_say,         op_trace, op_over};

/* ---- shards come and go ----------------------------------------------------------------------- */

/* Returns the child of a shard whose lease this worker holds, or NULL. An earlier child of the same shard,
 * whose lease is gone, is not returned although it may still be ending. */
static child *find_child_of_shard(run *d, const char *shard) {
  SLP_LIST_EACH(&d->children, it) {
    child *k = SLP_OWNER(it, child, link);
    if (!k->over && k->h.lease != SLP_ML_GONE && strcmp(k->h.id, shard) == 0) return k;
  }
  return NULL;
}

typedef struct beginning {
  const char *shard;
  child *k;
  uint8_t found;
} beginning;

static void on_each(const sloop_shard_stats_t *st, void *arg) {
  beginning *b = arg;
  if (strcmp(st->shard, b->shard) != 0 || b->found) return;
  slp_ml_open(&b->k->h, &ops, &b->k->d->limits, b->k->d->app.mem, st->shard, &st->from,
              slp_program_mono_us());
  b->found = 1;
}

static void add_child_for_shard(run *d, const char *shard) {
  child *k = SLP_NEW(d->app.mem, child);
  if (!k) {
    slp_cli_consumer_fail(&d->consumer, SLP_EXIT_FAILED, "no memory");
    return;
  }
  k->d = d;
  beginning b = {.shard = shard, .k = k};
  sloop_shard_stats_each(d->consumer.s, on_each, &b);
  if (!b.found) { /* this worker no longer reads the shard */
    slp_free(d->app.mem, k);
    return;
  }
  slp_list_add_last(&d->children, &k->link);
  if (d->stopping_us) slp_ml_stop(&k->h, slp_program_mono_us());
}

static void on_shard(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what) {
  run *d = c->user;
  uint64_t now = slp_program_mono_us();
  child *k = find_child_of_shard(d, shard);
  switch (what) {
    case SLOOP_SHARD_OPENED:
      if (!k) add_child_for_shard(d, shard);
      break;
    case SLOOP_SHARD_REPOSITIONED:
      if (k) slp_ml_repositioned(&k->h);
      break;
    case SLOOP_SHARD_READ_OUT:
      /* The stream no longer has the shard, so the library never reported it as opened, and it has no child
       * yet. A child is needed all the same, because only a child can checkpoint the end of the shard. */
      if (!k) {
        add_child_for_shard(d, shard);
        k = find_child_of_shard(d, shard);
      }
      if (k) slp_ml_read_out(&k->h, now);
      break;
    case SLOOP_SHARD_LEAVING:
      if (k)
        slp_ml_leaving(&k->h, now);
      else
        (void)sloop_handover(c->s, shard);
      break;
    case SLOOP_SHARD_ENDED:
    case SLOOP_SHARD_STOPPED:
    case SLOOP_SHARD_LOST:
    case SLOOP_SHARD_RELEASED:
      if (k) slp_ml_gone(&k->h, what == SLOOP_SHARD_ENDED, now);
      break;
  }
  advance_daemon(d);
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *b) {
  run *d = c->user;
  child *k = find_child_of_shard(d, sloop_batch_at(b, 0)->shard);
  if (k)
    slp_ml_batch(&k->h, b, slp_program_mono_us());
  else
    sloop_batch_done(b, 0);
}

/* ---- time passes ------------------------------------------------------------------------------ */

/* Starts children whose due_us has passed, at most STARTS_A_SECOND a second, or BEGINNING_MAX at once after a
 * pause. Starts none while BEGINNING_MAX children have not answered initialize. */
static void start_some(run *d, uint64_t now) {
  uint64_t each = 1000000 / STARTS_A_SECOND;
  size_t beginning_n = 0;
  if (d->starts_us + BEGINNING_MAX * each < now) d->starts_us = now - BEGINNING_MAX * each;
  SLP_LIST_EACH(&d->children, it) {
    const slp_ml_shard *h = &SLP_OWNER(it, child, link)->h;
    beginning_n += h->state == SLP_ML_ASKED && h->action == SLP_ML_INITIALIZE;
  }
  SLP_LIST_EACH(&d->children, it) {
    slp_ml_shard *h = &SLP_OWNER(it, child, link)->h;
    if (beginning_n >= BEGINNING_MAX || d->starts_us + each > now) return;
    if (h->state != SLP_ML_WAITS || now < h->due_us) continue;
    d->starts_us += each;
    beginning_n++;
    slp_ml_start_now(h, now);
  }
}

/* Returns 1 if the consumer may stop: no message must still be sent to a child, and no child must still
 * answer one. */
static int all_quiet(const run *d) {
  SLP_LIST_EACH(&d->children, it) {
    const child *k = SLP_OWNER(it, child, link);
    if (!k->over && !slp_ml_quiet(&k->h)) return 0;
  }
  return 1;
}

static int all_over(const run *d) {
  SLP_LIST_EACH(&d->children, it) {
    if (!(SLP_OWNER(it, child, link))->over) return 0;
  }
  return 1;
}

/* Returns 1 if unwritten lines of the trace may be dropped: from SLP_APP_GRACE_MS after the stop began.
 * Otherwise a reader that has stopped reading could keep the daemon alive. */
static int may_cut_trace(const run *d) {
  return d->stopping_us && slp_program_mono_us() - d->stopping_us >= SLP_APP_GRACE_MS * UINT64_C(1000);
}

static void leave_if_done(run *d) {
  if (!d->app.out || !d->consumer.closed || !slp_list_empty(&d->children)) return;
  if (slp_app_unwritten(&d->app) && !may_cut_trace(d)) return;
  slp_herd_close(d->herd);
  d->herd = NULL;
  sloop_stats_t sum;
  slp_cli_consumer_stats(&d->consumer, &sum);
  slp_progress_end(d->app.args, &sum);
  slp_app_close(&d->app);
}

static void fail_late(run *d) {
  if (d->app.exit_code == SLP_EXIT_FINE) d->app.exit_code = SLP_EXIT_FAILED;
}

/* Called when a stop has lasted grace_ms. Reports once, for each child whose answer is missing, that the
 * daemon no longer waits for its last checkpoint. */
static void tell_in_vain(run *d) {
  if (d->in_vain || d->ended || all_quiet(d)) return;
  d->in_vain = 1;
  fail_late(d);
  SLP_LIST_EACH(&d->children, it) {
    child *k = SLP_OWNER(it, child, link);
    if (!k->over && !slp_ml_quiet(&k->h)) slp_ml_waited_in_vain(&k->h, d->s->grace_ms * 1000);
  }
}

/* Does whatever is possible now: starts children, stops the consumer, closes it, ends the daemon. Called
 * after each event. */
static void advance_daemon(run *d) {
  uint64_t now = slp_program_mono_us();
  if (!d->stopping_us) start_some(d, now);
  int waited = d->stopping_us && now - d->stopping_us >= d->s->grace_ms * 1000;
  if (waited) tell_in_vain(d);
  if (d->stopping_us && (waited || all_quiet(d))) slp_cli_consumer_stop(&d->consumer, SLP_APP_LEAVE_MS);
  if (d->ended && all_over(d)) slp_cli_consumer_close(&d->consumer);
  leave_if_done(d);
}

static void on_tick(slp_app *app) {
  run *d = app->user;
  uint64_t now = slp_program_mono_us();
  for (slp_list *it = d->children.next, *after; it != &d->children; it = after) {
    child *k = SLP_OWNER(it, child, link);
    after = it->next;
    if (!k->over) slp_ml_time(&k->h, now);
  }
  slp_cli_consumer_tick(&d->consumer);
  advance_daemon(d);
  /* app.c counts grace_ms only after a signal. If the consumer ended by itself, no signal has come, so this
   * function counts. */
  if (d->stopping_us && !app->interrupted && now - d->stopping_us >= app->grace_ms * UINT64_C(1000))
    on_overdue(app);
  if (!app->out || !d->consumer.s || !slp_progress_due(&d->progress, app->args)) return;
  sloop_stats_t st;
  slp_cli_consumer_stats(&d->consumer, &st);
  slp_progress_look(&d->progress, d->consumer.s);
  slp_progress_show(&d->progress, &st);
}

/* ---- the end ---------------------------------------------------------------------------------- */

static void stop_daemon(run *d) {
  if (d->stopping_us) return;
  d->stopping_us = slp_program_mono_us();
  for (slp_list *it = d->children.next, *after; it != &d->children; it = after) {
    child *k = SLP_OWNER(it, child, link);
    after = it->next;
    if (!k->over) slp_ml_stop(&k->h, d->stopping_us);
  }
  advance_daemon(d);
}

static void on_interrupt(slp_app *app) {
  run *d = app->user;
  if (!app->args->quiet) slp_say("stopping: the children are asked for a last checkpoint");
  stop_daemon(d);
}

/* Called when the consumer ends: its leases are gone, or were never taken. Sends leaseLost to every child
 * that can still get it. */
static void on_ending(slp_cli_consumer *c) {
  run *d = c->user;
  uint64_t now = slp_program_mono_us();
  d->ended = 1;
  if (!d->stopping_us) d->stopping_us = now;
  for (slp_list *it = d->children.next, *after; it != &d->children; it = after) {
    child *k = SLP_OWNER(it, child, link);
    after = it->next;
    if (!k->over) slp_ml_gone(&k->h, 0, now);
  }
  advance_daemon(d);
}

static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }

/* Called when the stop takes too long: kills every child that is still alive. */
static void on_overdue(slp_app *app) {
  run *d = app->user;
  for (slp_list *it = d->children.next, *after; it != &d->children; it = after) {
    child *k = SLP_OWNER(it, child, link);
    after = it->next;
    if (k->over) continue;
    slp_say("%s: the child is killed: the stop took too long", k->h.id);
    fail_late(d);
    slp_ml_abandon(&k->h);
    if (k->p) slp_piped_drop(k->p);
    k->p = NULL;
    k->over = 1;
    free_if_over(k);
  }
  d->ended = 1;
  slp_cli_consumer_close(&d->consumer);
  advance_daemon(d);
}

static void on_written(slp_app *app) { leave_if_done(app->user); }
static void on_out_failed(slp_app *app) { leave_if_done(app->user); }

/* ---- the beginning ---------------------------------------------------------------------------- */

static int open_all(run *d) {
  const slp_args *a = d->app.args;
  sloop_metrics_t *metrics;
  d->herd = slp_herd_new(d->app.mem, d->app.loop, d->guard_fd);
  if (!d->herd) {
    slp_say("no memory");
    d->app.exit_code = SLP_EXIT_FAILED;
    d->consumer.closed = 1;
    return SLP_ENOMEM;
  }
  d->consumer.user = d;
  d->consumer.on_batch = on_batch;
  d->consumer.on_shard = on_shard;
  d->consumer.on_ending = on_ending;
  d->consumer.on_closed = on_closed;
  int r = slp_cli_consumer_open_idle(&d->consumer, &d->app, &a->opts);
  if (r) {
    d->consumer.closed = 1;
    return r;
  }
  r = slp_cli_metrics_open(&metrics, &d->app, d->consumer.s);
  if (!r) r = slp_cli_consumer_start(&d->consumer);
  if (r) slp_cli_consumer_close(&d->consumer);
  return r;
}

static void tell_notes(const slp_ml_settings *s) {
  slp_str notes = slp_buf_str(&s->notes);
  while (notes.n) {
    const char *end = memchr(notes.p, '\n', notes.n);
    size_t n = end ? (size_t)(end - notes.p) : notes.n;
    slp_say("%.*s", (int)n, notes.p);
    notes.p += n + (end != NULL);
    notes.n -= n + (end != NULL);
  }
}

int slp_multilang_run(slp_mem *mem, const slp_args *args, const slp_ml_settings *s) {
  run d = {.app = {.mem = mem}, .s = s};
  char path[SLP_EXECUTABLE_PATH], why[SLP_EXECUTABLE_WHY];
  if (!slp_multilang_program(s, path, why)) {
    slp_say("executableName: %s %s", s->command[0], why);
    return SLP_EXIT_USAGE;
  }
  if (!args->quiet) tell_notes(s);
  d.guard_fd = slp_guard_start();
  d.limits = (slp_ml_limits){.program = s->command[0],
                             .timeout_us = s->timeout_s * 1000000,
                             .close_us = CLOSE_US,
                             .checkpoint_us = CHECKPOINT_US,
                             .empty_us = s->call_empty ? s->poll_ms * 1000 : 0,
                             .warn_us = s->warn_ms * 1000};
  slp_list_init(&d.children);
  d.app.user = &d;
  d.app.on_interrupt = on_interrupt;
  d.app.on_overdue = on_overdue;
  d.app.on_tick = on_tick;
  d.app.on_written = on_written;
  d.app.on_out_failed = on_out_failed;
  d.app.grace_ms = (uint32_t)s->grace_ms + SLP_APP_LEAVE_MS + 3 * (uint32_t)(CLOSE_US / 1000);
  if (slp_app_open(&d.app, mem, args) == 0 && open_all(&d) != 0) leave_if_done(&d);
  int code = slp_app_run(&d.app);
  return code;
}
