/* consumer_run.h - a sloop_t, or an operator's handle, as a command uses it. This file decides which errors
 * end the command and which errors are only reported, and it ends the consumer in an orderly way in every
 * state. */
#ifndef SLP_CLI_CONSUMER_RUN_H
#define SLP_CLI_CONSUMER_RUN_H

#include "base/fail.h"
#include "cli/app.h"
#include "cli/trouble_lines.h"

#include <sloop.h>
#include <sloop_admin.h>

typedef struct slp_cli_consumer slp_cli_consumer;
struct slp_cli_consumer {
  slp_app *app; /* borrowed */
  sloop_t *s; /* owned; NULL before the consumer is opened and after on_closed, and if only `admin` is open */
  /* the operator's handle: part of `s`, or owned if `s` is NULL. NULL: nothing is open */
  sloop_admin_t *admin;
  /* Callbacks, set by the mode. Only on_closed must be set. */
  void (*on_batch)(slp_cli_consumer *c, sloop_batch_t *b);
  void (*on_tip)(slp_cli_consumer *c);
  void (*on_shard)(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what);
  /* Called when the consumer was stopped or has failed. The mode must call slp_cli_consumer_close() once its
   * output is written. NULL: the consumer is closed at once. */
  void (*on_ending)(slp_cli_consumer *c);
  /* the last callback; the loop calls it some time after slp_cli_consumer_close() has returned */
  void (*on_closed)(slp_cli_consumer *c);
  void (*on_failing)(slp_cli_consumer *c); /* called just before the reason of a failure is reported */
  void *user;                              /* belongs to the mode */
  /* 1: a pattern found the stream, so similar names are not suggested when the stream is gone */
  uint8_t by_pattern;
  const char *name;       /* name of the stream for error lines; NULL: the command has only one stream */
  const char *token_file; /* path of the file with the token to start from; NULL: no such file */

  uint8_t stopping; /* 1: slp_cli_consumer_stop was called, or the consumer failed */
  uint8_t started;  /* 1: slp_cli_consumer_start was called, without an error */
  uint8_t closing, closed;
  uint64_t closing_tick; /* value of app->ticks when closing began */
  uint8_t failed;        /* 1: an error ended the consumer, and app->exit_code is set */
  uint64_t missing_us;   /* when the service last answered that the stream does not exist; 0: never */
  int failed_by;         /* code of the error that ended the consumer; 0: the command itself has ended it */
  /* set by the mode; 1: only a fatal error ends the consumer, even before the first answer */
  uint8_t lasting;
  uint8_t muted;           /* set by the mode; 1: an error that may pass is kept in `error` and not printed */
  uint8_t joined;          /* 1: leases are used, and the worker was registered at least once */
  int stop_status;         /* status with which sloop_stop() ended: 0, or why not all was done in time */
  uint32_t shards_stopped; /* number of shards whose reading was given up before their end */
  uint64_t losses;         /* number of losses reported so far */
  /* 1: records were lost and --fail-on-loss is given. Later batches are not printed, and the command ends
   * soon */
  uint8_t lost;
  uint64_t loss_tick, first_loss_tick; /* values of app->ticks at the last loss and at the first loss */
  /* About failed writes of the lease table.
   *     unwritten_us: the first failure since a lease was taken; 0: no write failed;
   *     unwritten_last_us: the last failure;
   *     unwritten_heartbeats: how many heartbeats had succeeded at the last failure;
   *     unwritten_passes: 1 if the error of the last failure may pass. */
  uint64_t unwritten_us, unwritten_last_us, unwritten_heartbeats;
  uint8_t unwritten_passes;
  /* the beginning of the message of the last error; "": no error has come since the last lease event */
  char of_error[200];
  sloop_stats_t last;        /* statistics at the time when closing began */
  char error[SLP_TOLD_LINE]; /* the last error as a line for people */
  /* remembers which lines were printed lately, and holds back repetitions (trouble_lines.h) */
  slp_told told;
};

/* Opens the consumer and starts it. Replaces the callbacks of `o`. Returns 0, or a negative code. After an
 * error the reason has been reported, app->exit_code is set and on_closed is not called. */
int slp_cli_consumer_open(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Opens the consumer without starting it: for listings, and for several consumers that must be joined (`join`
 * of sloop_opts_t) before the first of them starts. Returns the same as slp_cli_consumer_open. */
int slp_cli_consumer_open_idle(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Opens an operator's handle without a consumer, for commands that only read or change leases. Its errors and
 * log lines are handled as those of a consumer. slp_cli_consumer_stop, slp_cli_consumer_close and
 * slp_cli_consumer_fail work for the handle too. Returns the same as slp_cli_consumer_open. */
int slp_cli_consumer_open_admin(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Starts a consumer that slp_cli_consumer_open_idle has opened. Returns 0, or a negative code if the start
 * failed; the reason has been reported. */
int slp_cli_consumer_start(slp_cli_consumer *c);
/* Must be called when a call of the same kind (a listing, a reading of the lease table) has failed `tries`
 * times in a row. Returns 1 if the call may succeed when it is repeated; then the error is printed from the
 * second failure on. */
int slp_cli_consumer_asks_again(slp_cli_consumer *c, const sloop_error_t *e, uint32_t tries);
/* Must be called on each tick. Prints the held-back lines (trouble_lines.h) that are due, and tells app->news
 * how the consumer is doing. Ends the command some time after a loss if --fail-on-loss is given. When the
 * consumer fails or is closed, all lines that are still held back are printed. */
void slp_cli_consumer_tick(slp_cli_consumer *c);
/* Stops the consumer: it takes no more batches, and waits up to limit_ms for batches that the mode still has.
 * Then on_ending is called, or the consumer is closed. Another call does nothing. */
void slp_cli_consumer_stop(slp_cli_consumer *c, uint64_t limit_ms);
/* Closes the consumer at once, without waiting for anything. on_closed is called later. Another call does
 * nothing. */
void slp_cli_consumer_close(slp_cli_consumer *c);
/* Returns 1 if closing takes so long that a thread must be inside a system call that does not return. */
int slp_cli_consumer_is_stuck(const slp_cli_consumer *c);
/* Must be called on each tick of a command with one consumer. Ends the process if the consumer is stuck and
 * all output is written. While output is not written yet, only an interrupt ends the process (app.h). */
void slp_cli_consumer_leave_if_stuck(const slp_cli_consumer *c);
struct slp_read_span;
/* Prints, at the end of a command with leases, whether the leases were released, and what was read. joined: 1
 * if the worker had joined the application. late: 1 if there was not enough time to release all leases. */
void slp_cli_tell_left(const slp_app *app, int joined, int late, const struct slp_read_span *read);
/* Must be called at the first Ctrl-C while a command that changes something waits for the outcome. Fails with
 * a line that ends with `more`, so that nobody believes that the change was done. */
void slp_cli_consumer_interrupt(slp_cli_consumer *c, const char *more);
/* The same for a command about several streams, one after the other, `left` of whose parts come after those
 * that are done: fails also while c only closes, before the next stream is opened. */
void slp_cli_consumer_interrupt_between(slp_cli_consumer *c, size_t left, const char *more);
/* Ends the command because of a failure that will not pass: reports `why`, sets exit_code and stops the
 * consumer. */
void slp_cli_consumer_fail(slp_cli_consumer *c, int exit_code, const char *why);
/* Returns 1 if the service has ever answered with records or an empty page. With leases, also returns 1 if
 * the worker was ever registered. */
int slp_cli_consumer_answered(slp_cli_consumer *c);
/* Sets *ret to the present statistics. Once the consumer is closed, sets *ret to the statistics of the time
 * when closing began. */
void slp_cli_consumer_stats(slp_cli_consumer *c, sloop_stats_t *ret);
/* Returns for how long writes of the lease table have been failing, or 0 if they succeed. Sets *ret_passes to
 * 1 if the last error may pass by itself. */
uint64_t slp_cli_consumer_unwritten_us(slp_cli_consumer *c, int *ret_passes);
/* Writes as one line why a call to a service failed. `status` and the error are those that the callback of
 * the call was given. The line begins with the stream's name if the command has several streams. */
void slp_cli_consumer_error_line(slp_cli_consumer *c, int status, const sloop_error_t *error_or_null,
                                 char *line, size_t n);
/* Converts `f`, the failure of a call that the command itself made, to the kind of error that the library
 * passes to callbacks. The texts of the error live as long as `f`. */
sloop_error_t slp_error_of_fail(const slp_fail *f);
/* Writes an error as one line: what happened, the codes, and what the user can do about it. */
void slp_error_line(const sloop_error_t *e, char *line, size_t n);

#endif
