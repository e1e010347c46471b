/* last_records.h - -n and -o -N: finds where the last N records of all shards begin. To do so it reads
 * windows of time, each from some time until now (search_back.h). Reading then starts at that place, and
 * slp_last_records_has() leaves out records before the last N.
 *
 *   IDLE ---> READS --------------> CLOSES ---> FOUND
 *              ^ +-----> PACES ------^  |
 *              +------------------------+   the window was too short or too dense: another one
 *   READS, PACES, CLOSES ---> ENDED         a consumer failed, or the command ends
 *
 * Memory is bounded by N, because only arrival times are kept. */
#ifndef SLP_CLI_LAST_RECORDS_H
#define SLP_CLI_LAST_RECORDS_H

#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/newest_times.h"
#include "cli/search_back.h"
#include "cli/until.h"

#include <sloop.h>

typedef enum slp_last_state {
  SLP_LAST_IDLE,  /* the user did not give -n or -o -N */
  SLP_LAST_READS, /* the consumers read a window */
  /* the window is read; the next one must wait, because other readers need calls to the shards too */
  SLP_LAST_PACES,
  SLP_LAST_CLOSES, /* the window is read, and its consumers are being closed */
  SLP_LAST_FOUND,  /* it is known where the last N records begin */
  SLP_LAST_ENDED   /* the search failed or was given up */
} slp_last_state;

typedef struct slp_last_reading { /* the reading of one stream in the present window */
  slp_cli_consumer consumer;
  /* finds out which shards have returned a record that arrived after the end of the window */
  slp_until until;
  uint8_t opened;
  uint8_t done; /* 1: all shards are read to the end of the window, or to their newest record */
} slp_last_reading;

typedef struct slp_last_records slp_last_records;
struct slp_last_records {
  slp_app *app; /* borrowed */
  slp_last_state state;
  slp_search_back search;
  slp_newest_times newest;
  uint64_t limit;   /* a window with more records than this is too dense to be read */
  uint8_t more;     /* in PACES and CLOSES; 1: another window is to be read, which `search` has chosen */
  uint8_t answered; /* 1: a window was read, so the service answers */
  uint8_t told;     /* 1: the user was told that the search takes long */
  /* when the search began, and when the present window was opened */
  uint64_t begun_us, opened_us;
  slp_last_reading *each;                    /* owned; one for each stream */
  const char *streams[SLP_ARGS_STREAMS_MAX]; /* the streams that are searched */
  size_t n;
  /* In FOUND. skip: how many records with the arrival time start_ms are not among the last N and must be left
   * out. left: how many of the last N have not been read yet */
  uint64_t skip, left;
  int64_t start_ms;
  /* Set by the caller. on_found: called when the search has succeeded. on_ended: called after the search has
   * failed (the reason was reported) or was given up, when its last consumer is closed. */
  void (*on_found)(slp_last_records *l);
  void (*on_ended)(slp_last_records *l);
  void *user;
};

/* Begins the search in the l->n streams of l->streams. Returns 0, or a negative code; then the reason was
 * reported, and on_ended is called only if slp_last_records_is_open(). */
int slp_last_records_open(slp_last_records *l, slp_app *app);
void slp_last_records_tick(slp_last_records *l);
/* Gives up the search. If consumers are still open, on_ended is called later. */
void slp_last_records_end(slp_last_records *l);
void slp_last_records_free(slp_last_records *l);
/* Returns 1 while a consumer of the search is open. */
int slp_last_records_is_open(const slp_last_records *l);
/* Returns 1 if consumers of the search are open, and all of them are stuck while they close. */
int slp_last_records_is_stuck(const slp_last_records *l);
/* Returns a consumer of the search that waits for its first answer, or NULL if the service has answered. */
slp_cli_consumer *slp_last_records_unanswered(slp_last_records *l);
/* In FOUND: sets *ret to the position from which the streams that were searched must be read. */
void slp_last_records_start(const slp_last_records *l, sloop_position_t *ret);
/* In FOUND: must be called for each record that is read from that position on. Returns 1 if the record is
 * among the last N or came later, 0 if it is older than all of them. */
int slp_last_records_has(slp_last_records *l, const sloop_record_t *r);
/* In FOUND: returns 1 if slp_last_records_has() was called for all of the last N. */
int slp_last_records_over(const slp_last_records *l);

#endif
