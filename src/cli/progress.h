/* progress.h - the line of -v: what happened since the line before. */
#ifndef SLP_CLI_PROGRESS_H
#define SLP_CLI_PROGRESS_H

#include "cli/consumer.h"

typedef struct slp_standing { /* shards that make no progress for one reason */
  size_t n;
  int64_t ms;     /* the one that has stood for the longest */
  char error[48]; /* its error, or "" */
} slp_standing;

typedef struct slp_progress {
  slp_standing standing[SLOOP_SHARD_WAITS_FOR_PARENT + 1]; /* by state, for the next line */
  sloop_stats_t before;
  uint64_t at_us; /* of `before`; 0: not yet */
} slp_progress;

/* Is a line due? Then call slp_progress_show with the current statistics. */
int slp_progress_due(slp_progress *p, const slp_args *args);
/* Before it, for each consumer: what its shards are doing. */
void slp_progress_look(slp_progress *p, sloop_t *s);
void slp_progress_show(slp_progress *p, const sloop_stats_t *now);
/* Does both for a mode with one consumer. */
void slp_progress_tick(slp_progress *p, slp_cli_consumer *c);
/* The last line: totals. */
void slp_progress_end(const slp_args *args, const sloop_stats_t *at_end);
/* Adds the statistics of several consumers. */
void slp_progress_add(sloop_stats_t *sum, const sloop_stats_t *one);

#endif
