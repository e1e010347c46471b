/* app.h - runs a mode of the command. An app owns the loop, the signals, the ticker and standard output, and
 * ends the process in an orderly way. A mode fills in the callbacks, calls slp_app_open and slp_app_run, and
 * closes the app from a callback. */
#ifndef SLP_CLI_APP_H
#define SLP_CLI_APP_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/manager_news.h"
#include "program/process.h"

#define SLP_APP_TICK_MS 100
#define SLP_APP_GRACE_MS 1500 /* short enough that the first Ctrl-C ends the program within 2 s */
/* How long all lines for standard error together may wait if the reader of standard error is slow:
 * SLP_APP_SAY_MS from the first signal on, SLP_APP_SAY_LATE_MS from on_overdue on. */
#define SLP_APP_SAY_MS 1000
#define SLP_APP_SAY_LATE_MS 300
/* The process exits if it still runs this long after on_overdue (counted in ticks). By then everything is
 * closed, and only a thread inside a system call that does not return can keep the loop alive. */
#define SLP_APP_STUCK_MS 500
/* How long sloop_stop() may take when leases are used. To release the leases, sloop_stop() writes to the
 * lease table, which may be slow. */
#define SLP_APP_LEAVE_MS 10000

typedef struct slp_app slp_app;
struct slp_app {
  slp_mem *mem;           /* borrowed */
  const slp_args *args;   /* borrowed */
  struct uv_loop_s *loop; /* owned */
  slp_out *out;           /* owned: standard output */
  slp_signals *signals;   /* owned */
  slp_ticker *ticker;     /* owned; does not keep the loop alive */
  int exit_code;
  /* time from the first signal to on_overdue; if it is 0, slp_app_open sets SLP_APP_GRACE_MS */
  uint32_t grace_ms;
  uint8_t interrupted; /* 1: the first signal has come */
  uint8_t asked;   /* 1: a SIGINT or SIGTERM has come; another SIGINT or SIGTERM ends the process at once */
  uint8_t overdue; /* 1: grace_ms have passed since the first signal */
  /* SLP_ENOMEM: some output was lost because there was no memory for it; 0: slp_out_error() returns the error
   * of standard output, if any */
  int out_error;
  uint8_t out_failed; /* 1: on_out_failed was called */
  uint8_t serves;     /* set by a mode without consumers; 1: the command does its work */
  uint8_t goes_on; /* set by the mode; 1: the command does not end when all of its consumers have stopped */
  uint64_t interrupted_at_us;
  /* number of ticks since slp_app_open; no tick comes while the process is stopped or the machine is
   * suspended */
  uint64_t ticks;
  uint64_t overdue_tick; /* the tick at which `overdue` was set */
  slp_manager_news news; /* what the service manager is told */
  /* Callbacks, set by the mode and called from the loop. Any of them may be NULL. */
  void (*on_interrupt)(slp_app *app); /* called at the first signal */
  /* called grace_ms after the first signal: the mode must close the app now. SLP_APP_STUCK_MS later the
   * process exits */
  void (*on_overdue)(slp_app *app);
  void (*on_tick)(slp_app *app);    /* called every SLP_APP_TICK_MS */
  void (*on_written)(slp_app *app); /* called when `out` has written all bytes that it was given */
  /* called once, when nothing more can be written. exit_code is set by then, unless the reader of the output
   * has closed the pipe (EPIPE) */
  void (*on_out_failed)(slp_app *app);
  void *user; /* belongs to the mode */
};

/* Returns 0, or a negative code. After an error the reason is already on standard error, exit_code is set and
 * everything is closed. */
int slp_app_open(slp_app *app, slp_mem *mem, const slp_args *args);
/* Writes b to standard output and frees b. A failure is reported later, by on_out_failed. */
void slp_app_write(slp_app *app, slp_buf *b);
int slp_app_out_error(const slp_app *app); /* returns 0, or why no more output can be written */
/* Returns how many bytes of output are not written yet. Returns 0 after a failure, because nothing more will
 * be written. */
size_t slp_app_unwritten(const slp_app *app);
/* Closes what slp_app_open opened, so that the loop can end. Another call does nothing. */
void slp_app_close(slp_app *app);
/* Returns the time since the tick with the number since_tick. The time during which the process was stopped
 * does not count, so a Ctrl-Z makes nothing look too slow. */
uint64_t slp_app_ran_ms(const slp_app *app, uint64_t since_tick);
/* Ends the process with exit_code, although one of its threads is inside a call that does not return. */
void slp_app_leave_stuck(slp_app *app);
/* Runs the loop to its end, frees it and returns exit_code. The loop ends after a callback has called
 * slp_app_close. */
int slp_app_run(slp_app *app);

#endif
