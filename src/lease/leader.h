/* leader.h - what the leader does: it watches which workers come and go, reads the whole table in rounds,
 * compares the stream's shards with the leases in the table (shard sync), and assigns leases to workers. */
#ifndef SLP_LEASE_LEADER_H
#define SLP_LEASE_LEADER_H

#include "base/base.h"
#include "lease/lease_types.h"

void slp_leader_init(slp_fleet *f);
void slp_leader_stop(slp_fleet *f);
void slp_leader_free(slp_fleet *f);

/* called by election.c when this worker begins to lead (on 1) or stops leading (on 0) */
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
/* To be called when this worker has created the row of a lease. From now on rounds read the partition key
 * that has the row, even if no listing has the shard yet. */
void slp_leader_made(slp_fleet *f, slp_str shard);
/* To be called after a heartbeat. me: this worker's own row, as the answer shows it. */
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me);

#endif
