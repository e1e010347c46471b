/* watch.c - polls a lease table and shows it. On a terminal this takes the whole screen, draws over the
 * last frame, and restores the screen however the command ends. A frame for which a slow terminal has no
 * room is dropped; the next poll draws another one. */
#include "cli/watch.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/people_lines.h"
#include "cli/registered_text.h"
#include "cli/watch_past.h"
#include "cli/watch_view.h"
#include "host/terminal.h"
#include "program/local.h"
#include "program/process.h"
#include "program/program.h"

#include <signal.h>
#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>

#define DRAW_WAIT_MS 100                    /* how long writing a frame may wait for a slow terminal */
#define GIVE_BACK_WAIT_MS 500               /* how long restoring the screen may wait for a slow terminal */
#define CONSUMERS_EVERY_US (60u * 1000000u) /* how often the stream's registered consumers are asked for */

typedef struct watch {
  slp_app app;
  slp_cli_consumer consumer;
  slp_watch_past past;
  /* owned, on a terminal only: changes of its size, stop and continue; otherwise NULL */
  slp_signals *signals;
  uint64_t begun_us, next_us; /* next_us: when the next poll is due */
  uint64_t polls;             /* how many polls have succeeded */
  /* terminal: the output is a terminal. taken: the whole screen is in use. utf8: the terminal shows UTF-8 */
  uint8_t terminal, taken, utf8;
  uint8_t polling;       /* 1: the lease table was asked for, and the answer has not come */
  uint64_t consumers_us; /* when the stream's registered consumers are asked for next */
  slp_buf retrieval;     /* the text to show about how the workers get records */
} watch;

/* ---- the terminal ----------------------------------------------------------------------------- */

static void send(const char *text, size_t n, uint32_t wait_ms) {
  /* A write that fails loses one frame, and the next frame replaces it. */
  (void)slp_program_write(1, (slp_str){text, n}, wait_ms);
}

static void take(watch *w) {
  if (!w->terminal || w->taken) return;
  w->taken = 1;
  slp_terminal_give_back_on_crash();
  send(SLP_TERMINAL_TAKE, sizeof SLP_TERMINAL_TAKE - 1, DRAW_WAIT_MS);
}

static void give_back(watch *w) {
  if (!w->taken) return;
  w->taken = 0;
  send(SLP_TERMINAL_GIVE_BACK, sizeof SLP_TERMINAL_GIVE_BACK - 1, GIVE_BACK_WAIT_MS);
}

static int speaks_utf8(void) {
  const char *v = getenv("LC_ALL");
  if (!v || !*v) v = getenv("LC_CTYPE");
  if (!v || !*v) v = getenv("LANG");
  return v && (strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") || strstr(v, "utf-8"));
}

/* Appends a screen with the control sequences of a terminal. Each line first erases what the last frame
 * had to its right. */
static int add_frame(slp_buf *frame, slp_str screen) {
  slp_buf_add_z(frame, "\033[H");
  for (size_t i = 0; i < screen.n; i++) {
    if (screen.p[i] == '\n') slp_buf_add_z(frame, "\033[K\r");
    slp_buf_add_char(frame, screen.p[i]);
  }
  return slp_buf_add_z(frame, "\033[K\033[J");
}

static int draw(watch *w, const slp_watch_news *news) {
  uint32_t columns, rows;
  slp_buf screen, frame;
  if (slp_terminal_size(1, &columns, &rows) != 0) return 0;
  slp_buf_init(&screen, w->app.mem, 1 << 22);
  slp_buf_init(&frame, w->app.mem, 1 << 23);
  int bad = slp_watch_screen(&screen, news, columns, rows, w->utf8);
  if (!bad) bad = add_frame(&frame, slp_buf_str(&screen));
  if (!bad) take(w);
  if (!bad) send(frame.p, frame.n, DRAW_WAIT_MS);
  slp_buf_free(&screen);
  slp_buf_free(&frame);
  return bad;
}

/* ---- polls ------------------------------------------------------------------------------------ */

static int show(watch *w, const sloop_leases_t *leases) {
  const slp_args *a = w->app.args;
  sloop_stats_t st;
  slp_buf text;
  slp_cli_consumer_stats(&w->consumer, &st);
  slp_watch_news news = {.stream = a->stream,
                         .app = a->opts.app,
                         .retrieval = w->retrieval.n ? slp_buf_z(&w->retrieval) : NULL,
                         .leases = leases,
                         .past = &w->past,
                         .wall_ms = slp_program_wall_ms(),
                         .now_ms = slp_program_mono_us() / 1000,
                         .throttled = st.store_throttles,
                         .every_ms = a->watch_ms};
  news.local_ms = slp_local_offset_ms(news.wall_ms);
  int bad = slp_watch_past_add(&w->past, leases, news.now_ms, news.wall_ms);
  if (bad || w->terminal) return bad ? bad : draw(w, &news);
  slp_buf_init(&text, w->app.mem, UINT64_C(1) << 30);
  bad = slp_watch_block(&text, &news);
  slp_app_write(&w->app, &text);
  return bad;
}

/* Shows why a poll failed. The text replaces the last line of the last frame. */
static int show_trouble(watch *w, const char *why) {
  uint32_t columns, rows;
  slp_buf text;
  if (!w->terminal) {
    slp_say_if_room("%s", why);
    return 0;
  }
  if (!w->taken || slp_terminal_size(1, &columns, &rows) != 0) return 0;
  slp_buf_init(&text, w->app.mem, 1 << 16);
  slp_buf_addf(&text, "\033[%u;1H", (unsigned)rows);
  slp_watch_trouble(&text, why, columns);
  int bad = slp_buf_add_z(&text, "\033[K");
  if (!bad) send(text.p, text.n, DRAW_WAIT_MS);
  slp_buf_free(&text);
  return bad;
}

static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *leases, const sloop_error_t *error,
                      void *arg) {
  watch *w = arg;
  char line[400] = "";
  (void)a;
  w->polling = 0;
  if (w->consumer.stopping || w->consumer.failed) return;
  if (status != 0) slp_cli_consumer_error_line(&w->consumer, status, error, line, sizeof line);
  if (status != 0 && w->polls == 0) {
    slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, line);
    return;
  }
  w->polls += status == 0;
  if ((status ? show_trouble(w, line) : show(w, leases)) != 0)
    slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, "no memory");
}

static void look(watch *w);

static void on_registered(sloop_admin_t *a, int status, const sloop_registered_t *const *all, size_t n,
                          const sloop_error_t *error, void *arg) {
  watch *w = arg;
  char line[400] = "";
  (void)a;
  w->polling = 0;
  if (w->consumer.stopping || w->consumer.failed) return;
  if (status) slp_cli_consumer_error_line(&w->consumer, status, error, line, sizeof line);
  slp_buf_clear(&w->retrieval);
  if (slp_consumers_explain(&w->retrieval, w->app.args, all, status ? 0 : n, status ? line : NULL))
    slp_buf_clear(&w->retrieval);
  look(w);
}

/* If it is time, asks for the stream's registered consumers and returns 1. The leases are then asked for
 * after the answer. */
static int ask_consumers(watch *w, uint64_t now_us) {
  if (w->app.args->opts.retrieval == SLOOP_RETRIEVAL_POLL || now_us < w->consumers_us) return 0;
  w->consumers_us = now_us + CONSUMERS_EVERY_US;
  w->polling = sloop_admin_registered(w->consumer.admin, on_registered, w) == 0;
  return w->polling;
}

/* Asks for the leases if a poll is due. */
static void look(watch *w) {
  uint64_t now_us = slp_program_mono_us();
  /* While the reader of standard output does not read, no further block of text is made. */
  if (w->polling || w->consumer.stopping || now_us < w->next_us || slp_app_unwritten(&w->app) > 0) return;
  if (ask_consumers(w, now_us)) return;
  w->next_us = now_us + w->app.args->watch_ms * UINT64_C(1000);
  w->polling = sloop_admin_leases(w->consumer.admin, on_leases, w) == 0;
}

/* ---- the frame -------------------------------------------------------------------------------- */

static void end_watch(watch *w) {
  give_back(w);
  slp_cli_consumer_stop(&w->consumer, 0);
}

static void leave_if_done(watch *w) {
  if (!w->consumer.closed || !w->app.out || slp_app_unwritten(&w->app) > 0) return;
  if (w->signals) slp_signals_close(w->signals);
  w->signals = NULL;
  slp_app_close(&w->app);
}

static void on_failing(slp_cli_consumer *c) { give_back(c->user); }
static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }
static void on_written(slp_app *app) { leave_if_done(app->user); }
static void on_interrupt(slp_app *app) { end_watch(app->user); }

static void on_out_failed(slp_app *app) {
  end_watch(app->user);
  leave_if_done(app->user);
}

static void on_overdue(slp_app *app) {
  watch *w = app->user;
  if (!w->consumer.closed) return;
  if (w->signals) slp_signals_close(w->signals);
  w->signals = NULL;
  slp_app_close(app);
}

static void on_tick(slp_app *app) {
  watch *w = app->user;
  slp_cli_consumer_leave_if_stuck(&w->consumer);
  slp_cli_consumer_tick(&w->consumer);
  uint64_t limit_us = (app->args->contact_ms ? app->args->contact_ms : app->args->timeout_ms) * 1000u;
  if (w->polls == 0 && limit_us && !w->consumer.stopping && slp_program_mono_us() - w->begun_us >= limit_us) {
    char line[480];
    snprintf(line, sizeof line, "the lease table has not %s in %llu s%s%s",
             *w->consumer.error ? "returned its rows" : "answered", (unsigned long long)(limit_us / 1000000u),
             *w->consumer.error ? "; the last error: " : "", w->consumer.error);
    slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, line);
    return;
  }
  look(w);
}

static void on_signal(void *arg, int number) {
  watch *w = arg;
  if (number == SIGTSTP) { /* restores the screen for as long as the process is stopped */
    give_back(w);
    slp_terminal_stop_process();
  }
  w->next_us = 0; /* draws now, because the size has changed or the process was continued */
  look(w);
}

int slp_watch_mode_run(slp_mem *mem, const slp_args *args) {
  /* If the process was started with SIGTSTP ignored, SIGTSTP stays ignored and is not caught. */
  static const int numbers[] = {SIGWINCH, SIGCONT, SIGTSTP};
  size_t numbers_n = SLP_COUNT(numbers) - (slp_program_ignores_signal(SIGTSTP) ? 1 : 0);
  watch w = {.app = {.mem = mem}};
  sloop_opts_t o = args->opts;
  o.retrieval = SLOOP_RETRIEVAL_POLL; /* --watch must not register a consumer, as another retrieval would */
  slp_watch_past_init(&w.past, mem);
  slp_buf_init(&w.retrieval, mem, 4096);
  w.app.user = &w;
  w.app.on_interrupt = on_interrupt;
  w.app.on_overdue = on_overdue;
  w.app.on_tick = on_tick;
  w.app.on_written = on_written;
  w.app.on_out_failed = on_out_failed;
  w.begun_us = slp_program_mono_us();
  w.terminal = (uint8_t)slp_is_terminal(1);
  w.utf8 = (uint8_t)speaks_utf8();
  w.consumer = (slp_cli_consumer){
      .user = &w, .on_closed = on_closed, .on_failing = on_failing, .lasting = 1, .muted = w.terminal};
  if (slp_app_open(&w.app, mem, args) == 0) {
    if (w.terminal) w.signals = slp_signals_new(mem, w.app.loop, numbers, numbers_n, on_signal, &w);
    if (slp_cli_consumer_open_idle(&w.consumer, &w.app, &o) != 0) {
      w.consumer.closed = 1;
      leave_if_done(&w);
    } else {
      look(&w);
    }
  }
  int code = slp_app_run(&w.app);
  slp_watch_past_free(&w.past);
  slp_buf_free(&w.retrieval);
  return code;
}
