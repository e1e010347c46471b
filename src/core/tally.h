/* tally.h - what a consumer counts: its shards and records as they are now, and all that ever happened. Each
 * file counts what it does itself. */
#ifndef SLP_CORE_TALLY_H
#define SLP_CORE_TALLY_H

#include <sloop.h>
#include <stdint.h>

typedef struct slp_tally { /* a consumer's shards, now */
  uint32_t open_n;         /* shards that are being read */
  uint32_t tip_n;          /* open shards that are at their tip */
  uint32_t going_n;        /* shards whose lease is draining: not read any more, and not told lost yet */
  uint32_t waiting_n;      /* shards to be read whose parents are unfinished */
  uint32_t batches_out;
  uint64_t queued_n; /* records taken and not yet handed out, or to be handed out again */
} slp_tally;

typedef struct slp_counts {
#define X(name, unit, meaning) uint64_t name;
  SLOOP_STATS(X)
#undef X
} slp_counts;

#endif
