/* app.h - the frame every mode runs in: loop, signals, a ticker, standard output, the way out. */
#ifndef SLP_CLI_APP_H
#define SLP_CLI_APP_H

#include "base/buf.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "host/process.h"

#define SLP_APP_TICK_MS 100
#define SLP_APP_GRACE_MS 1500 /* a first Ctrl-C is obeyed within 2 s, whatever is stuck */
/* Of these 2 s, for a standard error that nobody reads, all lines together; and when the grace is over. */
#define SLP_APP_SAY_MS 1000
#define SLP_APP_SAY_LATE_MS 300
#define SLP_APP_STUCK_MS 500   /* from on_overdue on, of ticks: what is not closed then waits for a thread */
#define SLP_APP_LEAVE_MS 10000 /* with leases: they are released by writes, which a slow table may delay */

typedef struct slp_app slp_app;
struct slp_app {
  slp_mem *mem;           /* borrowed */
  const slp_args *args;   /* borrowed */
  struct uv_loop_s *loop; /* owned */
  slp_out *out;           /* owned: standard output */
  slp_signals *signals;   /* owned */
  slp_ticker *ticker;     /* owned; does not keep the loop alive */
  int exit_code;
  uint32_t grace_ms;   /* from a first signal to on_overdue */
  uint8_t interrupted; /* a first signal came */
  uint8_t asked;       /* and one of them was a SIGINT or SIGTERM: the next of these ends the process */
  uint8_t overdue;     /* grace_ms have passed since */
  int out_error;       /* ours: no memory to take what should be written */
  uint8_t out_failed;  /* on_out_failed was called */
  uint64_t interrupted_at_us;
  uint64_t ticks; /* came so far: a process that is stopped, or stands with its machine, gets none */
  uint64_t overdue_tick;
  /* Set by the mode, called from the loop; NULL is fine. */
  void (*on_interrupt)(slp_app *app); /* the first signal */
  void (*on_overdue)(slp_app *app); /* grace_ms after it: go now; what can't is left SLP_APP_STUCK_MS later */
  void (*on_tick)(slp_app *app);    /* every SLP_APP_TICK_MS */
  void (*on_written)(slp_app *app); /* everything given to `out` was written */
  void (*on_out_failed)(slp_app *app); /* once: nothing more can be written; exit_code is set */
  void *user;
};

/* 0, or a negative code after telling why on standard error. */
int slp_app_open(slp_app *app, slp_mem *mem, const slp_args *args);
/* Takes the content of b. Failures arrive by on_out_failed, on a later turn. */
void slp_app_write(slp_app *app, slp_buf *b);
int slp_app_out_error(const slp_app *app);    /* 0, or why nothing more can be written */
size_t slp_app_unwritten(const slp_app *app); /* 0 when writing has failed: nothing is waited for */
/* Closes what slp_app_open opened, so that the loop can end. Again: ignored. */
void slp_app_close(slp_app *app);
/* The time since a tick, without that in which the process stood: what a Ctrl-Z kept from being done is no
 * reason to give it up. */
uint64_t slp_app_ran_ms(const slp_app *app, uint64_t since_tick);
/* Ends the process, for a thread that never returns keeps it from ending. */
void slp_app_leave_stuck(slp_app *app);
/* Runs the loop to its end, frees it, returns the exit code. slp_app_close must come from a callback. */
int slp_app_run(slp_app *app);

#endif
