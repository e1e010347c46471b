/* watch.c - polls a lease table and shows it. On a terminal, this uses the whole screen, draws over the last
 * frame, reads keys, and restores the terminal however the command ends. A frame for which a slow terminal
 * has no room is dropped; the next poll or key draws another one.
 *
 * The library ncursesw is not used. Its refresh() blocks as long as the terminal takes nothing, and it would
 * add 272 kB in place of some 200 lines (keys.c, watch_style.c). */
#include "cli/watch.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/colour_choice.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/lease_explain.h"
#include "cli/lease_words.h"
#include "cli/people_lines.h"
#include "cli/registered_text.h"
#include "cli/watch_copy.h"
#include "cli/watch_past.h"
#include "cli/watch_style.h"
#include "cli/watch_ui.h"
#include "cli/watch_view.h"
#include "host/terminal.h"
#include "program/keys.h"
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
#define CONSUMERS_EVERY_US (60u * 1000000u) /* how often the stream's registered consumers are requested */

typedef struct watch {
  slp_app app;
  slp_cli_consumer consumer;
  slp_watch_past past;
  /* owned; reports changes of the terminal's size, stop and continue; NULL: the output is not a terminal */
  slp_signals *signals;
  uint64_t begun_us, next_us; /* next_us: when the next poll is due */
  uint64_t polls;             /* how many polls have succeeded */
  slp_keys *keys;             /* owned; NULL: there is no terminal to read keys from */
  slp_watch_ui ui;
  uint8_t escape_ticks; /* ticks since an incomplete key came, such as the Esc of an arrow */
  uint8_t colours;
  /* on a terminal: the result of the last successful poll, and when it came */
  slp_watch_copy copy;
  int64_t polled_wall_ms;
  uint64_t polled_ms;
  char trouble[400];    /* why the last poll failed; "": it succeeded */
  slp_buf why;          /* page WHY: the text of --explain; empty: it has not come */
  char why_shard[129];  /* page WHY: the shard of `why`, or of the request for it */
  uint64_t why_next_us; /* page WHY: when to ask again */
  /* terminal: 1 if the output is a terminal. taken: 1 while the whole screen is in use. utf8: 1 if the
   * terminal shows UTF-8. */
  uint8_t terminal, taken, utf8;
  uint8_t polling;       /* 1: a request to the library has no answer yet; no other one is made meanwhile */
  uint64_t consumers_us; /* when to request the stream's registered consumers again */
  slp_buf retrieval;     /* text that says how the workers get records (push or poll); empty: not known */
} watch;

/* ---- the terminal ----------------------------------------------------------------------------- */

static void write_screen_bytes(const char *text, size_t n, uint32_t wait_ms) {
  /* If the write fails, one frame is lost, and the next frame replaces it. */
  (void)slp_program_write(1, (slp_str){text, n}, wait_ms);
}

static void take_terminal(watch *w) {
  if (!w->terminal) return;
  if (w->taken) {
    /* the command may have come back from the background, where it could not have the keys */
    if (w->keys && !w->ui.has_keys) w->ui.has_keys = (uint8_t)slp_keys_begin(w->keys);
    return;
  }
  w->taken = 1;
  slp_terminal_give_back_on_crash();
  w->ui.has_keys = (uint8_t)(w->keys && slp_keys_begin(w->keys));
  write_screen_bytes(SLP_TERMINAL_TAKE, sizeof SLP_TERMINAL_TAKE - 1, DRAW_WAIT_MS);
}

static void give_back(watch *w) {
  if (!w->taken) return;
  w->taken = 0;
  if (w->keys) slp_keys_end(w->keys);
  write_screen_bytes(SLP_TERMINAL_GIVE_BACK, sizeof SLP_TERMINAL_GIVE_BACK - 1, GIVE_BACK_WAIT_MS);
}

static int speaks_utf8(void) {
  const char *v = getenv("LC_ALL");
  if (!v || !*v) v = getenv("LC_CTYPE");
  if (!v || !*v) v = getenv("LANG");
  return v && (strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") || strstr(v, "utf-8"));
}

static int draw_frame(watch *w, const slp_watch_news *news) {
  uint32_t columns, rows;
  slp_buf screen, frame;
  if (slp_terminal_size(1, &columns, &rows) != 0) return 0;
  slp_buf_init(&screen, w->app.mem, 1 << 22);
  slp_buf_init(&frame, w->app.mem, 1 << 23);
  take_terminal(w);
  int bad = slp_watch_screen(&screen, news, columns, rows, w->utf8);
  if (!bad) bad = slp_watch_add_frame(&frame, slp_buf_str(&screen), w->colours);
  if (!bad && *w->trouble) { /* writes over the last line */
    slp_buf_addf(&frame, "\033[%u;1H", (unsigned)rows);
    slp_watch_trouble(&frame, w->trouble, columns);
    bad = slp_buf_add_z(&frame, "\033[K");
  }
  if (!bad) write_screen_bytes(frame.p, frame.n, DRAW_WAIT_MS);
  slp_buf_free(&screen);
  slp_buf_free(&frame);
  return bad;
}

/* ---- polls ------------------------------------------------------------------------------------ */

static slp_watch_news news_of(watch *w, const sloop_leases_t *leases) {
  const slp_args *a = w->app.args;
  sloop_stats_t st;
  slp_cli_consumer_stats(&w->consumer, &st);
  return (slp_watch_news){.stream = a->stream,
                          .app = a->opts.app,
                          .retrieval = w->retrieval.n ? slp_buf_z(&w->retrieval) : NULL,
                          .leases = leases,
                          .past = &w->past,
                          .wall_ms = w->polled_wall_ms,
                          .local_ms = slp_local_offset_ms(w->polled_wall_ms),
                          .now_ms = w->polled_ms,
                          .throttled = st.store_throttles,
                          .every_ms = a->watch_ms,
                          .ui = w->terminal ? &w->ui : NULL,
                          .why = w->why.n ? slp_buf_z(&w->why) : NULL,
                          .red_ms = a->lag_over ? a->lag_over_ms : 0};
}

/* Draws the last poll again, because a key was typed or the size has changed. Draws nothing before the first
 * poll. */
static void redraw_watch(watch *w) {
  if (!w->terminal || !w->polls || w->consumer.stopping || w->consumer.failed) return;
  slp_watch_news news = news_of(w, &w->copy.all);
  if (draw_frame(w, &news) != 0) slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, "no memory");
}

/* Shows the result of a poll. */
static int show_leases(watch *w, const sloop_leases_t *leases) {
  slp_buf text;
  w->polled_wall_ms = slp_program_wall_ms();
  w->polled_ms = slp_program_mono_us() / 1000;
  w->trouble[0] = 0;
  int bad = slp_watch_past_add(&w->past, leases, w->polled_ms, w->polled_wall_ms);
  if (bad) return bad;
  if (w->terminal) {
    slp_watch_copy_free(&w->copy);
    bad = slp_watch_copy_make(&w->copy, w->app.mem, leases);
    if (!bad) redraw_watch(w);
    return bad;
  }
  slp_watch_news news = news_of(w, leases);
  slp_buf_init(&text, w->app.mem, UINT64_C(1) << 30);
  bad = slp_watch_block(&text, &news);
  slp_app_write(&w->app, &text);
  return bad;
}

/* Shows why a poll failed. On a terminal the text replaces the last line of the screen until a poll
 * succeeds. */
static int show_trouble(watch *w, const char *why) {
  if (!w->terminal) {
    slp_say_if_room("%s", why);
    return 0;
  }
  snprintf(w->trouble, sizeof w->trouble, "%s", why);
  redraw_watch(w);
  return 0;
}

/* Returns 1 if the result of the first poll has nothing of the application. Reports that, which ends the
 * command. */
static int is_unknown(watch *w, const sloop_leases_t *leases) {
  const slp_args *a = w->app.args;
  char line[SLP_LEASE_NOBODY];
  if (!slp_lease_is_nobody(leases, a->opts.app, a->stream, line)) return 0;
  if (a->ret_missing_app) *a->ret_missing_app = a->opts.app;
  slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, line);
  return 1;
}

static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *leases, const sloop_error_t *error,
                      void *arg) {
  watch *w = arg;
  char line[400] = "";
  (void)a;
  w->polling = 0;
  if (w->consumer.stopping || w->consumer.failed) return;
  if (status != 0) slp_cli_consumer_error_line(&w->consumer, status, error, line, sizeof line);
  if (status == 0 && w->polls == 0 && is_unknown(w, leases)) return;
  if (status != 0 && w->polls == 0) {
    slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, line);
    return;
  }
  w->polls += status == 0;
  if ((status ? show_trouble(w, line) : show_leases(w, leases)) != 0)
    slp_cli_consumer_fail(&w->consumer, SLP_EXIT_FAILED, "no memory");
}

static void poll_leases_if_due(watch *w);

/* ---- page WHY --------------------------------------------------------------------------------- */

static void on_explanation(sloop_admin_t *a, int status, const sloop_explanation_t *e,
                           const sloop_error_t *error, void *arg) {
  watch *w = arg;
  char line[400] = "";
  (void)a;
  w->polling = 0;
  if (w->consumer.stopping || w->consumer.failed) return;
  if (w->ui.page != SLP_WATCH_WHY || strcmp(w->why_shard, w->ui.shard) != 0)
    return; /* the page was left, or another shard was chosen */
  slp_buf_clear(&w->why);
  if (status) {
    slp_cli_consumer_error_line(&w->consumer, status, error, line, sizeof line);
    slp_buf_add_z(&w->why, line);
  } else {
    slp_lease_explain(&w->why, e);
  }
  redraw_watch(w);
  poll_leases_if_due(w);
}

/* If page WHY is shown and its text is due, requests the explanation why the chosen shard is read or not, and
 * returns 1. Returns 0 otherwise. */
static int ask_why(watch *w, uint64_t now_us) {
  int is_new = strcmp(w->why_shard, w->ui.shard) != 0;
  if (w->ui.page != SLP_WATCH_WHY || (!is_new && now_us < w->why_next_us)) return 0;
  if (is_new) slp_buf_clear(&w->why);
  snprintf(w->why_shard, sizeof w->why_shard, "%s", w->ui.shard);
  w->why_next_us = now_us + w->app.args->watch_ms * UINT64_C(1000);
  w->polling = sloop_admin_explain(w->consumer.admin, w->why_shard, on_explanation, w) == 0;
  return w->polling;
}

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
  poll_leases_if_due(w);
}

/* If it is time, requests the stream's registered consumers and returns 1. The leases are then requested
 * after the answer. */
static int ask_consumers(watch *w, uint64_t now_us) {
  if (w->app.args->opts.retrieval == SLOOP_RETRIEVAL_POLL || now_us < w->consumers_us) return 0;
  w->consumers_us = now_us + CONSUMERS_EVERY_US;
  w->polling = sloop_admin_registered(w->consumer.admin, on_registered, w) == 0;
  return w->polling;
}

/* Requests what is due next: the text of page WHY, the registered consumers, or the leases. */
static void poll_leases_if_due(watch *w) {
  uint64_t now_us = slp_program_mono_us();
  /* Makes no further block of text while the reader of standard output has not read the last one. */
  if (w->polling || w->consumer.stopping || slp_app_unwritten(&w->app) > 0) return;
  if (ask_why(w, now_us) || now_us < w->next_us) return;
  if (ask_consumers(w, now_us)) return;
  w->next_us = now_us + w->app.args->watch_ms * UINT64_C(1000);
  w->polling = sloop_admin_leases(w->consumer.admin, on_leases, w) == 0;
}

/* ---- the frame -------------------------------------------------------------------------------- */

static void end_watch(watch *w) {
  give_back(w);
  slp_cli_consumer_stop(&w->consumer, 0);
}

static void close_inputs(watch *w) {
  if (w->signals) slp_signals_close(w->signals);
  slp_keys_close(w->keys);
  w->signals = NULL;
  w->keys = NULL;
}

static void on_keys_done(watch *w) {
  if (w->ui.page != SLP_WATCH_WHY) w->why_shard[0] = 0; /* the next Enter requests the text again */
  if (w->ui.quit) {
    end_watch(w);
    return;
  }
  redraw_watch(w);
  poll_leases_if_due(w);
}

static void on_keys(void *arg, const char *p, size_t n) {
  watch *w = arg;
  if (w->consumer.stopping || w->consumer.failed) return;
  w->escape_ticks = 0;
  slp_watch_ui_take(&w->ui, p, n);
  on_keys_done(w);
}

static void leave_if_done(watch *w) {
  if (!w->consumer.closed || !w->app.out || slp_app_unwritten(&w->app) > 0) return;
  close_inputs(w);
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
  close_inputs(w);
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
  if (w->ui.sequence_n && w->escape_ticks++ > 0) { /* nothing has come after an Esc, so it is the key Esc */
    slp_watch_ui_settle(&w->ui);
    on_keys_done(w);
    return;
  }
  poll_leases_if_due(w);
}

static void on_signal(void *arg, int number) {
  watch *w = arg;
  if (number == SIGTSTP) { /* restores the screen before the process is stopped */
    give_back(w);
    slp_terminal_stop_process();
  }
  redraw_watch(w); /* the size has changed, or the process was continued and must draw the whole screen */
  if (number != SIGWINCH) w->next_us = 0;
  poll_leases_if_due(w);
}

int slp_watch_mode_run(slp_mem *mem, const slp_args *args) {
  /* If the process was started with SIGTSTP ignored, the signal stays ignored and is not caught. */
  static const int numbers[] = {SIGWINCH, SIGCONT, SIGTSTP};
  size_t numbers_n = SLP_COUNT(numbers) - (slp_program_ignores_signal(SIGTSTP) ? 1 : 0);
  watch w = {.app = {.mem = mem}};
  sloop_opts_t o = args->opts;
  /* with other retrievals, opening a consumer may register it for enhanced fan-out, which --watch must not
   * do */
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  slp_watch_past_init(&w.past, mem);
  slp_buf_init(&w.retrieval, mem, 4096);
  slp_buf_init(&w.why, mem, 1 << 20);
  w.copy.mem = mem;
  w.app.user = &w;
  w.app.on_interrupt = on_interrupt;
  w.app.on_overdue = on_overdue;
  w.app.on_tick = on_tick;
  w.app.on_written = on_written;
  w.app.on_out_failed = on_out_failed;
  w.begun_us = slp_program_mono_us();
  w.terminal = (uint8_t)slp_is_terminal(1);
  w.utf8 = (uint8_t)speaks_utf8();
  w.colours = (uint8_t)slp_wants_colour(args, w.terminal);
  w.consumer = (slp_cli_consumer){
      .user = &w, .on_closed = on_closed, .on_failing = on_failing, .lasting = 1, .muted = w.terminal};
  if (slp_app_open(&w.app, mem, args) == 0) {
    if (w.terminal) {
      w.signals = slp_signals_new(mem, w.app.loop, numbers, numbers_n, on_signal, &w);
      w.keys = slp_keys_new(mem, w.app.loop, on_keys, &w);
    }
    if (slp_cli_consumer_open_idle(&w.consumer, &w.app, &o) != 0) {
      w.consumer.closed = 1;
      leave_if_done(&w);
    } else {
      poll_leases_if_due(&w);
    }
  }
  int code = slp_app_run(&w.app);
  slp_watch_past_free(&w.past);
  slp_buf_free(&w.retrieval);
  slp_buf_free(&w.why);
  slp_watch_copy_free(&w.copy);
  return code;
}
