/* leader.h - what the leader does: it watches which workers come and go, reads the whole table in rounds,
 * compares the stream's shards with the leases in the table (shard sync), and assigns leases to workers. */
#ifndef SLP_LEASE_LEADER_H
#define SLP_LEASE_LEADER_H

#include "lease/members.h"
#include "lease/read.h"

/* whether leases are created before the first listing is complete; leader.c has the table of these states */
/* Whether leases are created while the first listing is under way (leader.c, slp_leader_listed_part).
 *
 *   UNKNOWN   this worker begins to lead; no page has come, or this worker was not alone then   -> LOOKS
 *   LOOKS     all rows of the table are being read                                              -> MAY, NOT
 *   MAY       the table had no lease: the leases of each page are created when it has come      -> NOT
 *   NOT       the first round after the listing creates the leases that are missing
 *
 * Whoever begins to lead again begins with UNKNOWN. */
typedef enum slp_early { SLP_EARLY_UNKNOWN, SLP_EARLY_LOOKS, SLP_EARLY_MAY, SLP_EARLY_NOT } slp_early;

typedef struct slp_leader {
  uint8_t alone;      /* in the last watch no other worker took leases */
  uint8_t others;     /* in the round under way another worker takes leases */
  uint8_t made;       /* this round has created leases, which may cover hash keys that no lease covered */
  uint8_t made_first; /* the leases that this round has created are the first of this fleet */
  uint8_t sync;       /* the round under way compares the stream with the table */
  uint8_t whole;      /* the round under way reads every partition key that may have leases */
  uint8_t early;      /* slp_early; changed by early_move() alone */
  uint64_t since_us;  /* when this worker began to lead */
  /* when the last counting round was, which counts leases that are stuck; 0: there was none */
  uint64_t reviewed_us;
  uint64_t whole_us; /* a round that reads every partition key is not due before this time */
  /* a worker is gone that may have created leases of which no listing has the shard yet */
  uint8_t lost_one;
  uint64_t rest_us; /* reading the table failed; it is not tried again before this time */
  /* when assignments must be made again, and when the next shard sync is due */
  uint64_t assign_at_us, sync_at_us;
  /* a shard sync waits for a listing that was asked for at this time or later; SLP_NEVER: none waits */
  uint64_t sync_from_us;
  /* watch_timer: for the next watch of the workers. timer: for the next round */
  slp_timer watch_timer, timer;
  slp_read read;
} slp_leader;

void slp_leader_init(slp_fleet *f);
void slp_leader_stop(slp_fleet *f);
void slp_leader_free(slp_fleet *f);

/* called by the election: this worker begins (1) or ends (0) to lead */
void slp_leader_leads(slp_fleet *f, int on);
/* reads the list of workers now. This function and those below do nothing unless this worker leads */
void slp_leader_watch(slp_fleet *f);
void slp_leader_assign(slp_fleet *f, uint64_t in_us); /* makes the leader assign within in_us */
/* makes the leader compare the stream with the table within in_us */
void slp_leader_sync(slp_fleet *f, uint64_t in_us);
/* called when the stream's listing has come; ok 0: the listing failed */
void slp_leader_listed(slp_fleet *f, int ok);
void slp_leader_listed_part(slp_fleet *f); /* called when a part of the stream's first listing has come */
/* Called when this worker has created the row of a lease. The leader then reads the partition key of that
 * row too, even if no listing has the shard yet. */
void slp_leader_made(slp_fleet *f, slp_str shard);
/* called after a heartbeat, whose answer shows this worker's own row */
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me);

#endif
