/* fleet.h - one worker of a fleet. It proves that it lives, takes the leases that are meant for it, saves
 * their positions, and gives the leases up in an orderly way. It works with any store.
 *
 * In the native layout each worker has one row, and a leader, which is one of the workers, assigns leases. A
 * schema may bring another strategy (strategy.h).
 *
 * Three rules keep two workers from reading one shard:
 *   - a worker that can't prove its life hands out no records;
 *   - when the release of a lease was sent, that ownership never reads again;
 *   - a lease is taken only after its owner was evicted by a conditional write, or by a write that makes the
 *     owner's next write fail.
 * Where workers steal leases from living workers, two workers may hand out the same shard for at most 0.8 of
 * a lease, until the next write of the former owner is refused. The protocols of such layouts allow that; the
 * user's own sink can tell the two workers apart by the epoch. */
#ifndef SLP_LEASE_FLEET_H
#define SLP_LEASE_FLEET_H

#include "core/leases.h"
#include "lease/processor.h"

typedef enum slp_fleet_event_kind {
  SLP_FLEET_JOINED,    /* the worker has joined the fleet; text: its instance, "id.incarnation" */
  SLP_FLEET_EVICTED,   /* other workers evicted this worker: every lease is lost, and it registers again */
  SLP_FLEET_SUSPENDED, /* the lease deadline has passed, so the worker hands out no records */
  SLP_FLEET_RESUMED,   /* after SUSPENDED, a heartbeat was answered: reading continues with the same leases */
  SLP_FLEET_TAKEN,     /* shard, epoch: this worker reads the shard now */
  SLP_FLEET_LOST,      /* shard, epoch: another worker has taken the lease */
  /* shard, epoch: this worker no longer reads the shard: the lease was given up, handed over or parked, or
   * the worker left */
  SLP_FLEET_RELEASED,
  SLP_FLEET_ENDED_SHARD, /* shard, epoch: the shard was read to its end */
  /* this worker has become the leader */
  SLP_FLEET_LEADS,
  SLP_FLEET_FOLLOWS,       /* this worker leads no more */
  SLP_FLEET_EVICTED_OTHER, /* text: the worker that was evicted by this worker */
  /* text: hash keys of the stream that no lease covers, so that no worker reads their records */
  SLP_FLEET_HOLE,
  SLP_FLEET_BAD_ROW, /* text: a row, and why it can't be used; the row is left as it is */
  SLP_FLEET_TROUBLE, /* text: a failure; the worker goes on trying */
  SLP_FLEET_FAILED,  /* text: why the worker can't continue; it gives up every lease */
  SLP_FLEET_LEFT     /* the worker has left; the last event */
} slp_fleet_event_kind;

typedef struct slp_fleet_event {
  slp_fleet_event_kind kind;
  slp_str shard;
  uint64_t epoch;
  slp_str text;
  const slp_fail *fail; /* with SLP_FLEET_TROUBLE: the failure of the store; NULL: the store did not fail */
  /* with SLP_FLEET_TROUBLE, 1: waiting and trying again will not help, so the consumer should end */
  uint8_t ends;
} slp_fleet_event;

/* Numbers since the worker was created. Members whose names end in _now are present values. */
typedef struct slp_fleet_stats {
  /* held_now: leases whose shards this worker has open. assigned_now: leases that are assigned to this
   * worker. */
  uint64_t held_now, assigned_now;
  uint64_t taken, lost, released, ended;
  /* doubts: writes whose outcome was uncertain. throttles: requests that the table refused for lack of
   * capacity. */
  uint64_t writes, reads, doubts, throttles;
  uint64_t checkpoints, heartbeats, evictions, evicted, assignments, shard_syncs;
  uint64_t beat_age_us_now; /* time since the last successful heartbeat was sent */
  uint8_t leads_now, suspended_now;
  uint8_t undone; /* 1: the worker has left, but some of its last writes may not be in the table */
  /* 1: this worker compares the stream with the table, and found hash keys that no lease covers */
  uint8_t holes_now;
} slp_fleet_stats;

typedef struct slp_fleet_opts { /* slp_fleet_new copies the strings */
  slp_host *host;
  slp_store *store;         /* borrowed; its table exists */
  slp_schema *schema;       /* borrowed */
  slp_processor *processor; /* borrowed */
  slp_str worker;           /* id of the worker: at most 64 bytes, without a dot at its end */
  slp_str machine;          /* name of the machine, written to the worker's row; may be empty */
  void *guest;              /* passed to the strategy; borrowed; NULL: the strategy needs none */
  /* where a new fleet begins to read; LATEST is replaced by the time at which the fleet begins */
  slp_position start;
  /* the times are in ms; for a member that is 0, these hold, in this order: 10000, 5000, 30000, 750 and 1 */
  uint32_t lease_ms, checkpoint_ms, handover_ms, leader_poll_ms, weight;
  uint32_t list_ms; /* time between two shard syncs, in ms, if this worker does them; 0: 60000 */
  void (*on_event)(void *arg, const slp_fleet_event *ev); /* may be NULL */
  void *arg;
} slp_fleet_opts;

/* Creates a worker; slp_fleet_start lets it join. Returns 0, SLP_ENOMEM, or SLP_EINVAL if o->worker is not
 * a valid id. */
int slp_fleet_new(slp_fleet **ret, slp_mem *mem, const slp_fleet_opts *o);
void slp_fleet_start(slp_fleet *f);
/* Stops in an orderly way: drains the shards, saves their positions, gives every lease to other workers, and
 * leaves. SLP_FLEET_LEFT is reported at the latest after limit_ms and a few round trips. */
void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms);
/* Stops at once, and sends no more writes. Must not be called from on_event, or from a function of the
 * processor. */
void slp_fleet_free(slp_fleet *f);

/* To be called before records are handed out; reads the clock. Returns 1 if records may be handed out; 0 if
 * the worker is suspended or not in the fleet. */
int slp_fleet_may_deliver(slp_fleet *f);
/* To be called before work that takes long in this turn of the event loop. Sends a heartbeat if one is
 * due. */
void slp_fleet_beat_first(slp_fleet *f);
/* Writes the acknowledged position of one shard or, if shard is {NULL, 0}, of all shards. on_saved is called
 * once, when the positions are in the table or their leases are gone. Returns 0, or SLP_ENOBUFS while another
 * save is under way. */
int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg);
/* Does the same as slp_fleet_save for all shards for which wants() returns 1. */
int slp_fleet_save_each(slp_fleet *f, int (*wants)(void *ctx, slp_str shard), void *ctx,
                        void (*on_saved)(void *arg), void *arg);
void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret);
/* Sets *ret to the sums over the leases whose shards no worker reads (shut.h). Calls tell() for each of them;
 * tell may be NULL. */
void slp_fleet_shut(slp_fleet *f, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
slp_str slp_fleet_instance(const slp_fleet *f); /* "id.incarnation" with which this worker last joined */

#endif
