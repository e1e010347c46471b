/* leader.h - what the leader does: it watches which workers come and go, reads the whole table in rounds,
 * compares the stream's shards with the leases in the table (shard sync), and assigns leases to workers. */
#ifndef SLP_LEASE_LEADER_H
#define SLP_LEASE_LEADER_H

#include "lease/members.h"
#include "lease/read.h"

/* Whether leases are created while the first listing is under way, page by page
 * (leader.c, slp_leader_listed_part). Only early_move() changes the state.
 *
 *   UNKNOWN   this worker begins to lead; no page has come, or this worker was not alone then   -> LOOKS
 *   LOOKS     all rows of the table are being read                                              -> MAY, NOT
 *   MAY       the table had no lease: the leases of each page are created when it has come      -> NOT
 *   NOT       the first round after the listing creates the leases that are missing
 *
 * A worker that begins to lead begins with UNKNOWN. */
typedef enum slp_early { SLP_EARLY_UNKNOWN, SLP_EARLY_LOOKS, SLP_EARLY_MAY, SLP_EARLY_NOT } slp_early;

typedef struct slp_leader {
  uint8_t alone;  /* 1: in the last watch (slp_leader_watch) no other worker took leases */
  uint8_t others; /* 1: in the round under way another worker takes leases */
  uint8_t made; /* 1: this round has created leases, which may cover hash keys that no lease covered before */
  uint8_t made_first; /* 1: the leases that this round has created are the first ones of this fleet */
  uint8_t sync;       /* 1: the round under way compares the stream with the table (shard sync) */
  uint8_t whole;      /* 1: the round under way reads every partition key that may have leases */
  slp_early early;    /* changed by early_move() alone */
  uint64_t since_us;  /* when this worker began to lead */
  /* when the last counting round was, which counts leases that are stuck (assign.c); 0: there was none */
  uint64_t reviewed_us;
  uint64_t whole_us; /* the next round that reads every partition key is not due before this time */
  /* 1: a worker is gone that may have created leases for shards that no listing has yet */
  uint8_t lost_one;
  uint64_t rest_us; /* the table could not be read; it is not read again before this time */
  /* when leases must be assigned again; when the next shard sync is due */
  uint64_t assign_at_us, sync_at_us;
  /* a shard sync waits for a listing that was asked for at this time or later; SLP_NEVER: none waits */
  uint64_t sync_from_us;
  /* watch_timer: runs at the next watch of the workers. timer: runs at the next round. */
  slp_timer watch_timer, timer;
  slp_read read;
} slp_leader;

void slp_leader_init(slp_fleet *f);
void slp_leader_stop(slp_fleet *f);
void slp_leader_free(slp_fleet *f);

/* called by election.c: this worker begins to lead (1), or ends to lead (0) */
void slp_leader_leads(slp_fleet *f, int on);
/* Reads the list of workers now. This function and those below do nothing unless this worker leads. */
void slp_leader_watch(slp_fleet *f);
void slp_leader_assign(slp_fleet *f, uint64_t in_us); /* makes the leader assign leases within in_us */
/* makes the leader compare the stream with the table within in_us */
void slp_leader_sync(slp_fleet *f, uint64_t in_us);
/* To be called when the listing of the stream has come; ok 0: it failed. */
void slp_leader_listed(slp_fleet *f, int ok);
/* to be called when one page of the stream's first listing has come */
void slp_leader_listed_part(slp_fleet *f);
/* To be called when this worker has created the row of a lease: from now on rounds read the partition key of
 * that row, even if no listing has the shard yet. */
void slp_leader_made(slp_fleet *f, slp_str shard);
/* To be called after a heartbeat. me: this worker's own row, as the answer shows it. */
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me);

#endif
