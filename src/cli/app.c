/* app.c - runs the loop of a mode, with its signals, its ticker and standard output. */
#include "cli/app.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "cli/manager_news.h"
#include "cli/people_lines.h"
#include "program/process.h"
#include "program/program.h"

#include <signal.h>
#include <sloop.h>
#include <string.h>
#include <unistd.h>

static void on_signal(void *arg, int number) {
  slp_app *app = arg;
  /* SIGHUP asks the program to end, but it never counts as the second request, which ends the process at
   * once. A closed terminal sends SIGHUP several times, and a service manager may send it right after
   * SIGTERM. */
  if (number != SIGHUP && app->asked) {
    /* A second SIGINT or SIGTERM came: the process exits now. slp_out_close restores the flags of standard
     * output (O_NONBLOCK), which outlive the process; nothing else is waited for. */
    if (app->out) slp_out_close(app->out);
    _exit(SLP_EXIT_INTERRUPTED);
  }
  if (number != SIGHUP) app->asked = 1;
  if (app->interrupted) return;
  app->interrupted = 1;
  app->interrupted_at_us = slp_program_mono_us();
  slp_say_hurry(SLP_APP_SAY_MS);
  slp_manager_news_stop(&app->news);
  if (app->on_interrupt) app->on_interrupt(app);
}

int slp_app_out_error(const slp_app *app) {
  if (app->out_error) return app->out_error;
  return app->out ? slp_out_error(app->out) : 0;
}

/* Reports a failure of standard output once and calls on_out_failed. EPIPE is not reported as an error: in
 * `stream-tail ... | head`, head closes the pipe when it has enough lines. */
static void tell_out_failed(slp_app *app) {
  if (app->out_failed) return;
  app->out_failed = 1;
  int error = slp_app_out_error(app);
  if (error != -EPIPE) {
    app->exit_code = SLP_EXIT_FAILED;
    slp_say("cannot write to standard output: %s (%s)", sloop_strerror(error), sloop_err_name(error));
  }
  if (app->on_out_failed) app->on_out_failed(app);
}

static void on_out_event(void *arg) {
  slp_app *app = arg;
  if (slp_app_out_error(app))
    tell_out_failed(app);
  else if (slp_out_waiting_bytes(app->out) == 0 && app->on_written)
    app->on_written(app);
}

/* Writes the paths of the lease files on the command line to `files` and returns their number. With --migrate
 * there may be two lease files. */
static size_t lease_files(const slp_args *a, const char *files[3]) {
  const char *const stores[] = {a->opts.store, a->migrate_from.store, a->migrate_to.store};
  size_t n = 0;
  for (size_t i = 0; i < SLP_COUNT(stores); i++) {
    if (!stores[i] || strncmp(stores[i], "sqlite:", 7) != 0) continue;
    if (n == 0 || strcmp(files[n - 1], stores[i] + 7) != 0) files[n++] = stores[i] + 7;
  }
  return n;
}

/* Ends the process while one of its threads is inside a system call that does not return, such as a read of a
 * stalled disk. Everything else is closed already. */
void slp_app_leave_stuck(slp_app *app) {
  const char *files[3];
  size_t n = lease_files(app->args, files);
  if (n)
    slp_say("lease file %.300s%s%.300s: the file system does not respond; exiting without waiting", files[0],
            n > 1 ? " or " : "", n > 1 ? files[1] : "");
  else
    slp_say("a system call does not return; exiting without waiting for it");
  slp_out_close(app->out);
  _exit(app->exit_code);
}

static int is_past(const slp_app *app, uint64_t grace_ms) {
  return app->interrupted && slp_program_mono_us() - app->interrupted_at_us >= grace_ms * UINT64_C(1000);
}

uint64_t slp_app_ran_ms(const slp_app *app, uint64_t since_tick) {
  return (app->ticks - since_tick) * SLP_APP_TICK_MS;
}

static void on_tick(void *arg) {
  slp_app *app = arg;
  app->ticks++;
  /* Checks standard output at each tick. A write would find a failure too, but while no records come nothing
   * is written. */
  if (app->out) slp_out_look(app->out);
  if (app->out && slp_app_out_error(app) && !app->out_failed) tell_out_failed(app);
  if (!app->overdue && app->on_overdue && is_past(app, app->grace_ms)) {
    app->overdue = 1;
    app->overdue_tick = app->ticks;
    slp_say_hurry(SLP_APP_SAY_LATE_MS);
    app->on_overdue(app);
    return;
  }
  if (app->overdue && app->out && slp_app_ran_ms(app, app->overdue_tick) >= SLP_APP_STUCK_MS)
    slp_app_leave_stuck(app);
  if (app->on_tick && app->ticker) app->on_tick(app);
  slp_manager_news_tick(&app->news, slp_program_mono_us(), app->serves, app->goes_on);
}

int slp_app_open(slp_app *app, slp_mem *mem, const slp_args *args) {
  /* A program that nohup starts ignores SIGHUP on purpose, so an ignored SIGHUP stays ignored. An ignored
   * SIGINT does not stay ignored: a shell without job control starts every background command with SIGINT
   * ignored, even if nobody wants that. */
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  size_t numbers_n = SLP_COUNT(numbers) - (slp_program_ignores_signal(SIGHUP) ? 1 : 0);
  app->mem = mem;
  app->args = args;
  app->news.notify = args->notify;
  if (!app->grace_ms) app->grace_ms = SLP_APP_GRACE_MS;
  slp_program_ignore_signal(SIGPIPE);
  app->loop = slp_loop_new(mem);
  if (app->loop) {
    app->out = slp_out_new(mem, app->loop, 1, on_out_event, app);
    app->signals = slp_signals_new(mem, app->loop, numbers, numbers_n, on_signal, app);
    app->ticker = slp_ticker_new(mem, app->loop, SLP_APP_TICK_MS, on_tick, app);
  }
  if (app->out && app->signals && app->ticker) return 0;
  slp_say("can't start: no memory or no file descriptors left");
  app->exit_code = SLP_EXIT_FAILED;
  slp_app_close(app);
  return SLP_ENOMEM;
}

/* A failed write is reported later, by on_out_event or at the next tick. */
void slp_app_write(slp_app *app, slp_buf *b) {
  if (b->n > 0 && app->out && !slp_app_out_error(app)) {
    int r = slp_out_write(app->out, b);
    /* If `out` accepted bytes and failed to write them later, slp_out_error() returns the error. If `out` had
     * no memory to accept the bytes, they are lost, and only out_error records that. */
    if (r == SLP_ENOMEM) app->out_error = r;
  }
  slp_buf_free(b);
}

size_t slp_app_unwritten(const slp_app *app) {
  return app->out && !slp_app_out_error(app) ? slp_out_waiting_bytes(app->out) : 0;
}

void slp_app_close(slp_app *app) {
  /* The last write may have failed just before. tell_out_failed below reports such a failure, but
   * on_out_failed is not called any more. */
  app->on_out_failed = NULL;
  if (app->out && slp_app_out_error(app)) tell_out_failed(app);
  /* a command that ends by itself may close its consumers and the app within one tick */
  if (app->news.ready) slp_manager_news_stop(&app->news);
  if (app->out) slp_out_close(app->out);
  if (app->signals) slp_signals_close(app->signals);
  if (app->ticker) slp_ticker_close(app->ticker);
  app->out = NULL;
  app->signals = NULL;
  app->ticker = NULL;
}

int slp_app_run(slp_app *app) {
  if (!app->loop) return app->exit_code;
  slp_loop_run(app->loop);
  SLP_CHECK(!app->out); /* slp_app_close must be called before the loop ends */
  SLP_CHECK(slp_loop_free(app->mem, app->loop) == 0);
  app->loop = NULL;
  return app->exit_code;
}
