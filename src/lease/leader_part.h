/* leader_part.h - the rounds of a leader; leader.c owns them. */
#ifndef SLP_LEASE_LEADER_PART_H
#define SLP_LEASE_LEADER_PART_H

#include "host/host.h"
#include "lease/read.h"

/* Whether leases are created while the first listing is under way, page by page
 * (leader.c, slp_leader_listed_part). Only early_move() changes the state.
 *
 *   UNKNOWN   no page has come since this worker began to lead, or it was not alone when one came -> LOOKS
 *   LOOKS     all rows of the table are being read                                              -> MAY, NOT
 *   MAY       the table had no lease: the leases of each page are created when it has come      -> NOT
 *   NOT       the first round after the listing creates the leases that are missing
 *
 * A worker that begins to lead begins with UNKNOWN. */
typedef enum slp_early { SLP_EARLY_UNKNOWN, SLP_EARLY_LOOKS, SLP_EARLY_MAY, SLP_EARLY_NOT } slp_early;

typedef struct slp_leader {
  /* 1: when the list of workers was last read (slp_leader_watch), no other worker took leases */
  uint8_t alone;
  uint8_t others; /* 1: by the rows that the last round has read, another worker takes leases */
  uint8_t made; /* 1: this round has created leases, which may cover hash keys that no lease covered before */
  uint8_t made_first; /* 1: the leases that this round has created are the first ones of this fleet */
  /* how many leases the last shard sync has created with this worker as the owner */
  uint32_t owned_n;
  uint8_t sync;      /* 1: the round under way compares the stream with the table (shard sync) */
  uint8_t whole;     /* 1: the round under way reads every partition key that may have leases */
  slp_early early;   /* changed by early_move() alone */
  uint64_t round_us; /* when the present round began to read */
  uint64_t since_us; /* when this worker began to lead */
  /* when the last counting round was, which looks for stuck leases (assign.c); 0: there was none */
  uint64_t reviewed_us;
  uint64_t whole_us; /* the next round that reads every partition key is not due before this time */
  /* 1: a worker is gone that may have created leases for shards that no listing has yet */
  uint8_t lost_one;
  uint64_t rest_us; /* after a failed read of the table: the table is not read again before this time */
  /* when leases must be assigned again; when the next shard sync is due */
  uint64_t assign_at_us, sync_at_us;
  /* a shard sync is due, and waits for a listing that is asked for at this time or later; SLP_NEVER: no shard
   * sync waits */
  uint64_t sync_from_us;
  /* watch_timer: runs when the list of workers must be read again (slp_leader_watch). timer: runs when the
   * next round may begin. */
  slp_timer watch_timer, timer;
  slp_read read;
} slp_leader;

#endif
