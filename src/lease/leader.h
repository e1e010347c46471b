/* leader.h - leading: watch which workers come and go, read the whole table when something is to be done,
 * compare the stream with it, and assign leases to workers. */
#ifndef SLP_LEASE_LEADER_H
#define SLP_LEASE_LEADER_H

#include "lease/members.h"
#include "lease/read.h"

typedef struct slp_leader {
  uint8_t alone;        /* no other worker takes leases, as the watch last saw */
  uint8_t others;       /* another worker takes leases, by the rows of the round under way */
  uint8_t made;         /* leases were made in this round: they may have closed a hole */
  uint8_t made_first;   /* they are this fleet's first */
  uint8_t sync;         /* the round under way compares the stream with the table, */
  uint8_t whole;        /* and reads every key under which leases may lie */
  uint64_t since_us;    /* it leads since then */
  uint64_t reviewed_us; /* the last round that counted what stands still; 0: none yet */
  uint64_t whole_us;    /* the next whole round is not before */
  uint8_t lost_one;     /* a worker is gone that may have made leases of which no listing tells */
  uint64_t rest_us;     /* reading the table failed: not again before */
  uint64_t assign_at_us, sync_at_us;
  uint64_t sync_from_us; /* a shard sync waits for a listing from then on; SLP_NEVER: none waits */
  slp_timer watch_timer, timer;
  slp_read read;
} slp_leader;

void slp_leader_init(slp_fleet *f);
void slp_leader_stop(slp_fleet *f);
void slp_leader_free(slp_fleet *f);

void slp_leader_leads(slp_fleet *f, int on); /* the election's outcome */
void slp_leader_watch(slp_fleet *f); /* lists the workers now; nothing unless it leads, as all that follows */
void slp_leader_assign(slp_fleet *f, uint64_t in_us); /* assigns anew, by then */
void slp_leader_sync(slp_fleet *f, uint64_t in_us);   /* compares the stream with the table, by then */
void slp_leader_listed(slp_fleet *f, int ok);         /* the stream's listing is there, or can't be had */
/* This worker has made the row of a lease: a leader reads under its key, also where no listing names it. */
void slp_leader_made(slp_fleet *f, slp_str shard);
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me);

#endif
