/* consumer.h - a sloop_t under the rules of a command: which errors end the command and which are only
 * reported, and an orderly end in every state. */
#ifndef SLP_CLI_CONSUMER_H
#define SLP_CLI_CONSUMER_H

#include "cli/app.h"
#include "cli/told.h"
#include "sloop.h"

typedef struct slp_cli_consumer slp_cli_consumer;
struct slp_cli_consumer {
  slp_app *app; /* borrowed */
  sloop_t *s;   /* owned; NULL before it is opened and after on_closed */
  /* Callbacks, set by the mode. Only on_closed is required. */
  void (*on_batch)(slp_cli_consumer *c, sloop_batch_t *b);
  void (*on_tip)(slp_cli_consumer *c);
  void (*on_shard)(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what);
  /* The consumer was stopped or has failed, and is about to be closed. The mode calls
   * slp_cli_consumer_close() once all its output is written. NULL: the consumer is closed at once. */
  void (*on_ending)(slp_cli_consumer *c);
  void (*on_closed)(slp_cli_consumer *c);  /* the last callback; on a later turn of the loop */
  void (*on_failing)(slp_cli_consumer *c); /* called before the reason of the consumer's end is reported */
  void *user;                              /* the mode's own */
  const char *name;       /* of the stream, for error lines; NULL: there is only one stream */
  const char *token_file; /* path of the file with the token to begin from; or NULL */

  uint8_t stopping; /* slp_cli_consumer_stop was called, or the consumer failed */
  uint8_t closing, closed;
  uint64_t closing_tick;   /* ticks of the app when closing began */
  uint8_t failed;          /* an error ended it; app->exit_code is set */
  uint8_t lasting;         /* set by the mode: only a fatal error ends it, even before the first answer */
  uint8_t muted;           /* set by the mode: errors that may pass are kept in `error` and not reported */
  uint8_t joined;          /* with leases: the worker was registered at least once */
  int stop_status;         /* from sloop_stop(): 0, or what was not done in time */
  uint32_t shards_stopped; /* shards that were given up before their end */
  uint64_t losses;         /* losses reported so far */
  /* --fail-on-loss has seen a loss: no more records are taken, and the command ends in a moment */
  uint8_t lost;
  uint64_t loss_tick, first_loss_tick; /* ticks of the app at the last loss and at the first one */
  /* With leases: when a write of the lease table first failed since a lease was taken, and when it last
   * failed; 0: none failed. At the last failure: the heartbeats answered so far, and whether the error may
   * pass. */
  uint64_t unwritten_us, unwritten_last_us, unwritten_heartbeats;
  uint8_t unwritten_passes;
  char of_error[200]; /* how the last error's message begins; "": no error came since the last lease event */
  sloop_stats_t last; /* statistics when closing began */
  char error[SLP_TOLD_LINE]; /* the last error, worded as a line */
  slp_told told;             /* lines that were reported lately, and lines that are held */
};

/* Opens the consumer and starts it. Overwrites the callbacks of `o`. Returns 0, or a negative code. Then the
 * reason has been reported, app->exit_code is set and on_closed does not come. */
int slp_cli_consumer_open(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Opens it without starting it: for listings, and for streams that are joined before the first of them
 * starts. Returns as slp_cli_consumer_open does. */
int slp_cli_consumer_open_idle(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Starts what was only opened. Returns 0, or a negative code; then the reason has been reported. */
int slp_cli_consumer_start(slp_cli_consumer *c);
/* Call this when a question has failed `tries` times in a row. Returns 1 if asking again may help. It then
 * also reports the error, from the second failure on. */
int slp_cli_consumer_asks_again(slp_cli_consumer *c, const sloop_error_t *e, uint32_t tries);
/* On a tick: reports lines that were held long enough. The other lines are reported when the consumer
 * stops. */
void slp_cli_consumer_tick(slp_cli_consumer *c);
/* Stops it: takes no more batches, and waits up to limit_ms for those that the mode has. Then it is closed,
 * or on_ending comes. A second call does nothing. */
void slp_cli_consumer_stop(slp_cli_consumer *c, uint64_t limit_ms);
/* Closes it at once, without waiting for anything. on_closed comes later. A second call does nothing. */
void slp_cli_consumer_close(slp_cli_consumer *c);
/* Returns 1 if closing has taken so long that a thread must be inside a call that does not return. */
int slp_cli_consumer_is_stuck(const slp_cli_consumer *c);
/* On a tick of a command with one consumer: ends the process if the consumer is stuck and all output is
 * written. While output is left, only an interrupt ends the waiting (app.h). */
void slp_cli_consumer_leave_if_stuck(const slp_cli_consumer *c);
/* For a first Ctrl-C while a command that changes something waits for the outcome. Fails with a line that
 * ends with `more`, so that nobody takes the change for done. */
void slp_cli_consumer_interrupt(slp_cli_consumer *c, const char *more);
/* After a permanent failure: reports `why`, sets exit_code and stops the consumer. */
void slp_cli_consumer_fail(slp_cli_consumer *c, int exit_code, const char *why);
/* Returns 1 if the service has ever given records or an empty page, or, with leases, if the worker was
 * registered. */
int slp_cli_consumer_answered(slp_cli_consumer *c);
/* Returns the present statistics or, once the consumer is closed, those of when closing began. */
void slp_cli_consumer_stats(slp_cli_consumer *c, sloop_stats_t *ret);
/* Returns for how long writes of the lease table have failed; 0: they do not fail, or are answered again.
 * *ret_passes is 1 if the last error may pass by itself. */
uint64_t slp_cli_consumer_unwritten_us(slp_cli_consumer *c, int *ret_passes);
/* Writes the failure that a callback's status tells as one line, with the stream's name if needed. */
void slp_cli_consumer_error_line(slp_cli_consumer *c, int status, const sloop_error_t *error_or_null,
                                 char *line, size_t n);
/* Writes an error as one line: what happened, the codes, and what to do about it. */
void slp_error_line(const sloop_error_t *e, char *line, size_t n);
/* Writes a loss as one line, with the bounds that are known. n must be SLP_TOLD_LINE or more. */
void slp_loss_line(const sloop_loss_t *loss, char *line, size_t n);

#endif
