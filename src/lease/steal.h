/* steal.h - sharing where nobody leads: every worker reads the whole table in rounds, and takes what it
 * may. (steal.c, common_name.c) */
#ifndef SLP_LEASE_STEAL_H
#define SLP_LEASE_STEAL_H

#include "lease/read.h"

typedef struct slp_stealing {
  uint8_t first;     /* of the living workers, this one compares the stream with the table */
  uint8_t sync;      /* the round under way compares the stream with the table */
  uint64_t next_us;  /* nothing is taken from the living before */
  uint64_t table_us; /* the last complete list of its rows was answered then */
  uint64_t sync_at_us;
  uint64_t sync_from_us; /* a shard sync waits for a listing from then on; SLP_NEVER: none waits */
  slp_timer timer;
  slp_read read;
} slp_stealing;

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
