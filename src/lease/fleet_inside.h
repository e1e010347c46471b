/* fleet_inside.h - a fleet's worker as its parts see it. Each part is a struct of one file, declared in that
 * file's header. Other files do not access the members of that struct; they call the functions of the header.
 * This header includes the headers of all parts. A file must not see the functions of higher floors (below)
 * through it. So each part of a floor above 1 has its struct in a header without functions: leader_part.h has
 * the struct, leader.h the functions. A file that only passes pointers includes lease_types.h.
 *
 * Words that the whole room uses (src/README.md and PROTOCOL.md have more):
 *   instance       one life of a worker: "id.incarnation"; owners of leases are instances
 *   lease time     slp_fleet_opts.lease_ms: a worker that is silent for this time may be evicted
 *   proof          a write by which a worker shows that it lives, mostly a heartbeat; deadline.h
 *   round          the leader reads all rows, then creates missing rows or assigns leases; leader.c
 *   counting round a round in which the leader also counts leases that nobody acts on; assign.c
 *   to step        to do what is due for a lease, slp_lease_step
 *   to touch       to have a lease stepped soon, in a later turn; due.h
 *   to take        to write oneself as the owner of a lease
 *   to claim       to ask a living owner for its lease, by a mark in the lease's row
 *   wanted         the lease is assigned to this worker, inherited or chosen; slp_lease_wanted
 *   strategy       how workers prove their life and share leases; the native one has a leader, strategy.h
 *   parked         a shard that no worker reads until an operator releases it; shut.h
 *   refused        a lease whose position the service refuses: no worker reads it for a while; refused.h
 *   throttled      refused by the table because its capacity is used up
 *   scarce         the table allows this worker only a few units a second; slp_fleet_is_scarce
 *
 * The files are on floors. A file calls functions of its own floor and of lower floors. A file reaches a
 * higher floor in one of three ways: it posts an event, it returns an outcome, or it calls a function pointer
 * that the higher floor has passed in (strategy.h, slp_due_init, slp_hold_init, slp_worker_init,
 * slp_election_init).
 *
 *   6  leased_consumer.c  connects a consumer of core to its leases
 *      requests.c     requests of the user about shards with leases
 *      processor.c    the functions that the fleet calls to have shards read
 *   5  fleet.c        creates, starts and frees a worker
 *      leave.c        an orderly stop
 *      strategy.c     the native strategy: the parts of our own protocol that other systems replace
 *   4  leader.c       watches the workers, and reads the whole table in rounds; assign.c and
 *                     shard_sync.c decide what a round writes
 *      election.c     which worker leads, and what a follower reads regularly
 *   3  worker.c       joins, sends heartbeats, is evicted
 *      shut.c         leases whose shards no worker reads: parked or refused
 *      row_poll.c     reads the rows that are due
 *   2  ownership.c, release.c, end.c, checkpoint.c    the life of one lease
 *      lease.c        what this worker knows of a lease
 *      assignment.c   which leases the leader has assigned to this worker
 *      deadline.c     the lease deadline
 *      members.c      the workers of the fleet, as this worker observes them
 *   1  hold.c         whether an operator holds the application
 *      read.c, spread.c, bulk_write.c, due.c, worker_life.c, shard_listing.c, seen.c, context.c
 *   0  write.c        one write, of a worker or of an operator's command
 *      naming.c       positions that the user wants to be saved, until their outcome is reported
 *      schema.c, store.c, snapshot.c, outcome.c, silence.c, absence.c, grant.c,
 *                     gate.c, throttling.c, hash_range.c, shard_set.c, former.c, refused.c, clear.c,
 *                     *_rule.c: their results depend on their arguments only */
#ifndef SLP_LEASE_FLEET_INSIDE_H
#define SLP_LEASE_FLEET_INSIDE_H

#include "base/mem.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/assign_part.h"
#include "lease/assignment_part.h"
#include "lease/bulk_write.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/election_part.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/instance.h"
#include "lease/leader_part.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/leave_part.h"
#include "lease/members_part.h"
#include "lease/processor.h"
#include "lease/read.h"
#include "lease/row_poll_part.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shut_part.h"
#include "lease/spread.h"
#include "lease/store.h"
#include "lease/throttling.h"
#include "lease/worker_life.h"
#include "lease/worker_part.h"
#include "lease/write.h"

/* a save that the user asked for and that was not answered yet; on_saved NULL: there is none */
typedef struct slp_save {
  void (*on_saved)(void *arg);
  void *arg;
} slp_save;

struct slp_fleet {
  /* the next members are used by every part */
  slp_mem *mem; /* the fleet holds a reference to it */
  slp_host *h;
  slp_store *store;
  slp_schema *schema;
  slp_processor *processor;
  const slp_strategy *strategy;
  slp_fleet_opts o; /* the options; their strings point into the next two members */
  char id[SLP_WORKER_ID_MAX + 1], machine[128];
  slp_instance me;
  slp_str incarnation; /* points into `me`; empty until this worker has drawn an incarnation */
  slp_fleet_stats stats;

  /* the parts; each has its own header */
  slp_worker_life life;
  slp_writes writes;
  slp_reads reads;
  slp_throttling throttling;
  uint64_t trouble_us; /* when a request of this worker to the table last failed */
  slp_absence absence;
  /* calls slp_absence_note regularly while this worker may judge others by their silence */
  slp_timer absence_timer;
  slp_bulk_write bulk;
  slp_fleet_listing listing;
  slp_seen seen;
  slp_due due;
  slp_members members;
  slp_worker_leases leases;
  slp_deadline deadline;
  slp_assignment assignment;
  slp_polls poll;
  slp_spreading spread;
  slp_fleet_hold hold;
  slp_worker worker;
  slp_election election;
  slp_assign_versions assign;
  slp_leader leader;
  slp_shut shut;
  slp_leave leave;
  slp_save save;
  /* the strategy's memory for this fleet, which follows this struct in the same block */
  void *guest;
};

#endif
