/* progress_line.h - the progress line that -v prints each second. Its rates are those since the previous
 * line. */
#ifndef SLP_CLI_PROGRESS_LINE_H
#define SLP_CLI_PROGRESS_LINE_H

#include "cli/args.h"
#include "cli/consumer_run.h"

#include <sloop.h>

typedef struct slp_standing { /* the shards that are in the same state */
  size_t n;                   /* how many shards are in this state */
  /* how long the longest-standing of these shards has been in the state; -1: the duration is not known */
  int64_t ms;
  char error[48]; /* the error of the shard that `ms` is about; "": it has none */
} slp_standing;

typedef struct slp_progress {
  /* indexed by the shard's state; what the next line will show */
  slp_standing standing[SLOOP_SHARD_WAITS_FOR_PARENT + 1];
  sloop_stats_t before; /* statistics when the last line was printed */
  /* when the last line was printed. Before the first line: when slp_progress_due was first called; 0: it was
   * not called yet. */
  uint64_t at_us;
} slp_progress;

/* Returns 1 if it is time for a line. The caller then calls slp_progress_look for each consumer, and after
 * that slp_progress_show. */
int slp_progress_due(slp_progress *p, const slp_args *args);
/* Adds the states of the consumer's shards to what the next line will show; s may be NULL. */
void slp_progress_look(slp_progress *p, sloop_t *s);
/* Prints the line from the present statistics, and clears p->standing for the next line. */
void slp_progress_show(slp_progress *p, const sloop_stats_t *now);
/* Does all three steps (due, look, show). For a mode with one consumer, which calls this on each tick. */
void slp_progress_tick(slp_progress *p, slp_cli_consumer *c);
/* Prints the totals, as the last line of -v. */
void slp_progress_end(const slp_args *args, const sloop_stats_t *at_end);
/* Adds the statistics of one consumer to `sum`. Adds only the members that the lines of -v show. */
void slp_progress_add(sloop_stats_t *sum, const sloop_stats_t *one);
/* The same for a consumer that has stopped: adds its counts, but neither its lag nor its number of shards. */
void slp_progress_add_past(sloop_stats_t *sum, const sloop_stats_t *one);

#endif
