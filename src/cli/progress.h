/* progress.h - the line of -v: what happened since the line before. */
#ifndef SLP_CLI_PROGRESS_H
#define SLP_CLI_PROGRESS_H

#include "cli/consumer.h"

typedef struct slp_progress {
  sloop_stats_t before;
  uint64_t at_us; /* of `before`; 0: not yet */
} slp_progress;

/* Call it at every tick; prints when a line is due. */
void slp_progress_tick(slp_progress *p, slp_cli_consumer *c);
/* The last line: totals. */
void slp_progress_end(slp_cli_consumer *c);

#endif
