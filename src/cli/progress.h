/* progress.h - the line that -v prints each second: what has happened since the line before. */
#ifndef SLP_CLI_PROGRESS_H
#define SLP_CLI_PROGRESS_H

#include "cli/consumer.h"

typedef struct slp_standing { /* the shards that are in one state */
  size_t n;                   /* how many shards */
  /* how long the shard that has been in the state for longest has been in it; -1: not told */
  int64_t ms;
  char error[48]; /* the error of that shard; "": none */
} slp_standing;

typedef struct slp_progress {
  slp_standing standing[SLOOP_SHARD_WAITS_FOR_PARENT + 1]; /* indexed by state; collected for the next line */
  sloop_stats_t before;                                    /* statistics when the last line was printed */
  /* when the last line was printed, or slp_progress_due was first called; 0: neither yet */
  uint64_t at_us;
} slp_progress;

/* Returns 1 if a line is due. The caller then calls slp_progress_look for each consumer and
 * slp_progress_show. */
int slp_progress_due(slp_progress *p, const slp_args *args);
/* Collects what the consumer's shards are doing; s may be NULL. */
void slp_progress_look(slp_progress *p, sloop_t *s);
/* Prints the line from the present statistics, and begins to collect for the next one. */
void slp_progress_show(slp_progress *p, const sloop_stats_t *now);
/* Does all of this on a tick, for a mode with one consumer. */
void slp_progress_tick(slp_progress *p, slp_cli_consumer *c);
/* Prints the last line of -v: totals. */
void slp_progress_end(const slp_args *args, const sloop_stats_t *at_end);
/* Adds the statistics of one consumer to a sum; only members that the lines show. */
void slp_progress_add(sloop_stats_t *sum, const sloop_stats_t *one);

#endif
