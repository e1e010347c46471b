/* consumer.h - a sloop_t under the rules of a command: which errors end it, which are only told,
 * and an orderly end in every state. */
#ifndef SLP_CLI_CONSUMER_H
#define SLP_CLI_CONSUMER_H

#include "cli/app.h"
#include "cli/told.h"
#include "sloop.h"

typedef struct slp_cli_consumer slp_cli_consumer;
struct slp_cli_consumer {
  slp_app *app; /* borrowed */
  sloop_t *s;   /* owned; NULL before open and after on_closed */
  /* Set by the mode; only on_closed is required. */
  void (*on_batch)(slp_cli_consumer *c, sloop_batch_t *b);
  void (*on_tip)(slp_cli_consumer *c);
  void (*on_shard)(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what);
  /* It was stopped, or has failed, and is about to be closed. The mode calls slp_cli_consumer_close() when
   * all its output is written. NULL: closed at once. */
  void (*on_ending)(slp_cli_consumer *c);
  void (*on_closed)(slp_cli_consumer *c);  /* the last; on a later turn of the loop */
  void (*on_failing)(slp_cli_consumer *c); /* NULL is fine: called before the reason of its end is reported */
  void *user;
  const char *name;       /* of the stream, for lines of errors; NULL: there is only one */
  const char *token_file; /* where the token to begin from lies; or NULL */

  uint8_t stopping; /* slp_cli_consumer_stop was called, or it failed */
  uint8_t closing, closed;
  uint64_t closing_tick;   /* of the app: since when */
  uint8_t failed;          /* ended by an error: app->exit_code is set */
  uint8_t lasting;         /* only a fatal error ends it, also before the first answer */
  uint8_t muted;           /* passing errors are kept in `error` and not reported */
  uint8_t joined;          /* with leases: it was registered once */
  int stop_status;         /* of sloop_stop(): 0, or what was not done in time */
  uint32_t shards_stopped; /* given up before their end */
  uint64_t losses;
  uint8_t lost; /* --fail-on-loss: records were lost, so no more are taken, and it ends in a moment */
  uint64_t loss_tick, first_loss_tick; /* of the app: since the last one, the first one */
  /* With leases: when a write of the lease table failed for the first time since a lease was taken, and the
   * last time; 0: none did. Then: how many heartbeats had been answered, and whether the error may pass. */
  uint64_t unwritten_us, unwritten_last_us, unwritten_heartbeats;
  uint8_t unwritten_passes;
  char of_error[200]; /* how the last error's message begins; "": no error since the last event of leases */
  sloop_stats_t last; /* statistics at the end */
  char error[SLP_TOLD_LINE]; /* the last error, as it would be reported */
  slp_told told;
};

/* Opens and starts. The callbacks of `o` are overwritten. 0, or a negative code after telling why;
 * app->exit_code is set and on_closed does not come. */
int slp_cli_consumer_open(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
/* Opens only: for listings, and for streams that are joined before the first of them starts. */
int slp_cli_consumer_open_idle(slp_cli_consumer *c, slp_app *app, const sloop_opts_t *o);
int slp_cli_consumer_start(slp_cli_consumer *c);
/* A question failed for the tries-th time in a row. Returns 1 if asking again may help; the error was told
 * then, as passing errors are. */
int slp_cli_consumer_asks_again(slp_cli_consumer *c, const sloop_error_t *e, uint32_t tries);
/* On a tick: reports the lines that were held long enough. The others come when it stops. */
void slp_cli_consumer_tick(slp_cli_consumer *c);
/* Stops it: no more batches; waits up to limit_ms for those that are out; then on_closed. Again: ignored. */
void slp_cli_consumer_stop(slp_cli_consumer *c, uint64_t limit_ms);
/* Closes it at once, without waiting for anything: then on_closed. Again: ignored. */
void slp_cli_consumer_close(slp_cli_consumer *c);
/* Has its closing taken so long that a thread must be with something that does not answer? */
int slp_cli_consumer_is_stuck(const slp_cli_consumer *c);
/* On a tick of a command with one consumer: it is not waited for when it is stuck, and all output is written.
 * With some left, an interrupt ends the waiting (app.h). */
void slp_cli_consumer_leave_if_stuck(const slp_cli_consumer *c);
/* A first Ctrl-C while a command that changes something waits for the outcome: nobody may take it for done.
 * `more` is said with it. */
void slp_cli_consumer_interrupt(slp_cli_consumer *c, const char *more);
/* After a permanent failure: reports `why`, sets exit_code and stops it. */
void slp_cli_consumer_fail(slp_cli_consumer *c, int exit_code, const char *why);
/* Has the service ever given records or an empty page, or with leases the table a place among the workers? */
int slp_cli_consumer_answered(slp_cli_consumer *c);
void slp_cli_consumer_stats(slp_cli_consumer *c, sloop_stats_t *ret); /* now, or at the end */
/* Returns for how long writes of the lease table have failed; 0: they do not, or are answered again.
 * *ret_passes is 1 if the last error is one that may pass by itself. */
uint64_t slp_cli_consumer_unwritten_us(slp_cli_consumer *c, int *ret_passes);
/* Words the failure in a callback's status as one line. */
void slp_cli_consumer_error_line(slp_cli_consumer *c, int status, const sloop_error_t *error_or_null,
                                 char *line, size_t n);
/* Words an error as one line: what happened, the codes, and what to do about it. */
void slp_error_line(const sloop_error_t *e, char *line, size_t n);
/* Words a loss as one line, with the bounds that are known. n: SLP_TOLD_LINE or more. */
void slp_loss_line(const sloop_loss_t *loss, char *line, size_t n);

#endif
