/* app.h - the frame that every mode runs in: loop, signals, ticker, standard output, and the way out. A mode
 * fills in its callbacks, calls slp_app_open and slp_app_run, and closes the app from a callback. */
#ifndef SLP_CLI_APP_H
#define SLP_CLI_APP_H

#include "base/buf.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "program/process.h"

#define SLP_APP_TICK_MS 100
#define SLP_APP_GRACE_MS 1500 /* so that a first Ctrl-C ends the program within 2 s, whatever is stuck */
/* How long all lines together may wait for a standard error that nobody reads: from the first signal on, and
 * once the grace is over. */
#define SLP_APP_SAY_MS 1000
#define SLP_APP_SAY_LATE_MS 300
/* After this many ms of ticks since on_overdue the process exits. Only a thread can still hold it up then. */
#define SLP_APP_STUCK_MS 500
/* With leases sloop_stop() may take this long: leases are released by writes, which a slow table delays. */
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
  uint32_t grace_ms;   /* from the first signal to on_overdue; 0 before slp_app_open: SLP_APP_GRACE_MS */
  uint8_t interrupted; /* a first signal has come */
  uint8_t asked;       /* a SIGINT or SIGTERM has come; the next one ends the process */
  uint8_t overdue;     /* grace_ms have passed since the first signal */
  int out_error; /* SLP_ENOMEM: there was no memory to take what should be written; 0: see slp_out_error() */
  uint8_t out_failed; /* on_out_failed was called */
  uint64_t interrupted_at_us;
  /* ticks that came so far; a process that is stopped, or whose machine is suspended, gets none */
  uint64_t ticks;
  uint64_t overdue_tick; /* the tick at which `overdue` was set */
  /* Callbacks, set by the mode and called from the loop. Any of them may be NULL. */
  void (*on_interrupt)(slp_app *app); /* at the first signal */
  /* grace_ms after the first signal: close now. SLP_APP_STUCK_MS later the process exits */
  void (*on_overdue)(slp_app *app);
  void (*on_tick)(slp_app *app);    /* every SLP_APP_TICK_MS */
  void (*on_written)(slp_app *app); /* everything that was given to `out` is written */
  /* once, when nothing more can be written; exit_code is set, unless the reader left */
  void (*on_out_failed)(slp_app *app);
  void *user; /* the mode's own */
};

/* Returns 0, or a negative code. In that case the function has said why on standard error, has set exit_code
 * and has closed everything. */
int slp_app_open(slp_app *app, slp_mem *mem, const slp_args *args);
/* Writes b to standard output and frees it. A failure is reported later, by on_out_failed. */
void slp_app_write(slp_app *app, slp_buf *b);
int slp_app_out_error(const slp_app *app); /* returns 0, or why nothing more can be written */
/* bytes not written yet; 0 after a failure, because nothing will be written any more */
size_t slp_app_unwritten(const slp_app *app);
/* Closes what slp_app_open opened, so that the loop can end. A second call does nothing. */
void slp_app_close(slp_app *app);
/* Returns the time since a tick, without the time for which the process was stopped. Nothing is given up as
 * too slow because a Ctrl-Z held it up. */
uint64_t slp_app_ran_ms(const slp_app *app, uint64_t since_tick);
/* Ends the process with exit_code, although a thread still runs that never returns. */
void slp_app_leave_stuck(slp_app *app);
/* Runs the loop to its end, frees it and returns exit_code. The loop ends after a callback has called
 * slp_app_close. */
int slp_app_run(slp_app *app);

#endif
