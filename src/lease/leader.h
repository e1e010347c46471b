/* leader.h - what the leader does: watches which workers come and go, reads the whole table when something
 * must be done, compares the stream with it, and assigns leases to workers. */
#ifndef SLP_LEASE_LEADER_H
#define SLP_LEASE_LEADER_H

#include "lease/members.h"
#include "lease/read.h"

typedef enum slp_early { SLP_EARLY_UNKNOWN, SLP_EARLY_LOOKS, SLP_EARLY_MAY, SLP_EARLY_NOT } slp_early;

typedef struct slp_leader {
  uint8_t alone;        /* in the last watch no other worker took leases */
  uint8_t others;       /* in the round under way another worker takes leases */
  uint8_t made;         /* this round has created leases, which may have closed a hole */
  uint8_t made_first;   /* the leases created are the first of this fleet */
  uint8_t sync;         /* the round under way compares the stream with the table, */
  uint8_t whole;        /* and reads every key that may have leases */
  uint8_t early;        /* slp_early: leases are created before the first listing is complete */
  uint64_t since_us;    /* when this worker began to lead */
  uint64_t reviewed_us; /* the last round that counted leases that are stuck; 0: none yet */
  uint64_t whole_us;    /* the next round over all keys is not before */
  uint8_t lost_one;     /* a worker is gone that may have created leases that no listing names yet */
  uint64_t rest_us;     /* reading the table failed; the next try is not before */
  /* when to assign again, and when to do the next shard sync */
  uint64_t assign_at_us, sync_at_us;
  /* a shard sync waits for a listing that comes at this time or later; SLP_NEVER: none waits */
  uint64_t sync_from_us;
  slp_timer watch_timer, timer;
  slp_read read;
} slp_leader;

void slp_leader_init(slp_fleet *f);
void slp_leader_stop(slp_fleet *f);
void slp_leader_free(slp_fleet *f);

void slp_leader_leads(slp_fleet *f, int on); /* called by the election */
/* lists the workers now. This and the functions below do nothing unless this worker leads */
void slp_leader_watch(slp_fleet *f);
void slp_leader_assign(slp_fleet *f, uint64_t in_us); /* assigns again within in_us */
void slp_leader_sync(slp_fleet *f, uint64_t in_us);   /* compares the stream with the table within in_us */
void slp_leader_listed(slp_fleet *f, int ok); /* the stream's listing has come; ok 0: it could not be had */
void slp_leader_listed_part(slp_fleet *f);    /* some of the first listing has come */
/* This worker has created the row of a lease. A leader then also reads the key of that row, even if no
 * listing names the shard yet. */
void slp_leader_made(slp_fleet *f, slp_str shard);
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me);

#endif
