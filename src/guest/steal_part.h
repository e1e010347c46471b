/* steal_part.h - the rounds of a worker that steals leases; steal.c owns them. */
#ifndef SLP_GUEST_STEAL_PART_H
#define SLP_GUEST_STEAL_PART_H

#include "host/host.h"
#include "lease/read.h"

typedef struct slp_stealing {
  uint8_t first;   /* 1: of all living workers, this one must compare the stream with the table */
  uint8_t sync;    /* 1: the present round compares the stream with the table (shard sync) */
  uint8_t strange; /* 1: the user was told that a program at this table does not share leases */
  uint8_t made;    /* 1: this worker has created rows since a list of the table last had rows */
  /* how many successive lists of the table had no rows, although rows were created or leases are renewed */
  uint32_t unlisted;
  /* how many successive claims of this worker their owners did not see, up to a maximum */
  uint8_t unheard;
  uint64_t next_us;    /* before this time no lease is taken from a living worker */
  uint64_t table_us;   /* when the last complete list of the table was answered */
  uint64_t sync_at_us; /* when the next shard sync is due; SLP_NEVER: this worker is not running */
  /* a shard sync waits for a listing that is begun after this time; SLP_NEVER: none waits */
  uint64_t sync_from_us;
  slp_timer timer;
  slp_read read;
} slp_stealing;

#endif
