/* fleet_inside.h - a fleet's worker as its parts see it. Each part is a struct of one file, declared in that
 * file's header. Other files do not access the members of that struct; they call the functions of the header.
 *
 * The files are on floors. A file calls functions of its own floor and of lower floors. A file reaches a
 * higher floor in one of three ways: it posts an event, it returns an outcome, or it calls a function pointer
 * that the higher floor has passed in (strategy.h, slp_due_init, slp_worker_init, slp_election_init).
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
 *      shut.c         leases whose shards no worker reads
 *      row_poll.c     reads the rows that are due
 *   2  ownership.c, release.c, end.c, checkpoint.c    the life of one lease
 *      lease.c        what this worker knows of a lease
 *      assignment.c   which leases the leader has assigned to this worker
 *      deadline.c     the lease deadline
 *      members.c      the workers of the fleet, as this worker observes them
 *   1  read.c, spread.c, bulk_write.c, due.c, worker_life.c, shard_listing.c, seen.c, context.c
 *   0  write.c        one write, of a worker or of an operator's command
 *      naming.c       positions that the user wants to be saved, until their outcome is reported
 *      schema.c, store.c, snapshot.c, other_stream.c, outcome.c, silence.c, absence.c, grant.c,
 *                     gate.c, throttling.c, hash_range.c, shard_set.c, former.c, refused.c, clear.c,
 *                     *_rule.c: their results depend on their arguments only */
#ifndef SLP_LEASE_FLEET_INSIDE_H
#define SLP_LEASE_FLEET_INSIDE_H

#include "lease/absence.h"
#include "lease/assign.h"
#include "lease/assignment.h"
#include "lease/bulk_write.h"
#include "lease/clear.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/due.h"
#include "lease/election.h"
#include "lease/leader.h"
#include "lease/lease.h"
#include "lease/leave.h"
#include "lease/members.h"
#include "lease/read.h"
#include "lease/refused.h"
#include "lease/row_poll.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shut.h"
#include "lease/spread.h"
#include "lease/strategy.h"
#include "lease/throttling.h"
#include "lease/worker.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* a save that the user asked for and that is not answered yet; on_saved is NULL if there is none */
typedef struct slp_save {
  void (*on_saved)(void *arg);
  void *arg;
} slp_save;

struct slp_fleet {
  /* members that every part uses */
  slp_mem *mem; /* holds a reference to it */
  slp_host *h;
  slp_store *store;
  slp_schema *schema;
  slp_processor *processor;
  const slp_strategy *strategy;
  slp_fleet_opts o; /* options; the strings point into the next two members */
  char id[SLP_WORKER_ID_MAX + 1], machine[128];
  slp_instance me;
  slp_str incarnation; /* points into `me`; empty until an incarnation is drawn */
  slp_fleet_stats stats;

  /* the parts, each with its own header */
  slp_worker_life life;
  slp_writes writes;
  slp_reads reads;
  slp_throttling throttling;
  uint64_t trouble_us; /* when this worker's own access to the table last failed */
  slp_absence absence;
  slp_timer absence_timer; /* calls slp_absence_note regularly, as long as this worker may judge others */
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
  slp_worker worker;
  slp_election election;
  slp_assign_versions assign;
  slp_leader leader;
  slp_shut shut;
  slp_leave leave;
  slp_save save;
  void *guest; /* memory of the strategy, in the same block, after this struct; NULL: none */
};

#endif
