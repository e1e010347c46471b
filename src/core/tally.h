/* tally.h - numbers of a consumer: its shards and records as they are now (slp_tally), and what has happened
 * since it was opened (slp_counts). Each file updates the numbers of the things that it does itself. */
#ifndef SLP_CORE_TALLY_H
#define SLP_CORE_TALLY_H

#include <sloop.h>
#include <stdint.h>

typedef struct slp_tally { /* the consumer's shards and records as they are now */
  uint32_t open_n;         /* shards that are being read */
  uint32_t tip_n;          /* shards that are being read and are at their tip */
  /* shards whose lease is being given up: they are not read any more, but the user was not yet notified */
  uint32_t going_n;
  uint32_t waiting_n;   /* shards that wait to be read until their parents are finished */
  uint32_t batches_out; /* batches that the user holds */
  uint64_t queued_n;    /* records that wait to be handed out: fetched and never handed out, or given back */
} slp_tally;

/* What has happened so far: one counter for each row of SLOOP_STATS. */
typedef struct slp_counts {
#define X(name, unit, meaning) uint64_t name;
  SLOOP_STATS(X)
#undef X
} slp_counts;

#endif
