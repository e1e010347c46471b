/* fleet.h - one worker of a fleet: proves that it lives, takes the leases that are for it, keeps their
 * positions, and gives them up gracefully. Over any store, by a row a
 * worker and a leader's assignment (it leads when nobody else does), or by the strategy of its schema.
 *
 * What keeps two workers from reading one shard:
 *   - a worker that can't prove its life hands out nothing;
 *   - an ownership whose release was sent never reads again;
 *   - a lease is taken only after a conditional write has evicted its owner, or by a write that makes the
 *     owner's next write fail.
 * Where leases are stolen from living workers, two workers may hand out one shard for at most 0.8 of a lease,
 * until the first one's next write is refused. That comes with those protocols; a sink can tell the two by
 * the epoch. */
#ifndef SLP_LEASE_FLEET_H
#define SLP_LEASE_FLEET_H

#include "core/leases.h"
#include "lease/processor.h"

typedef enum slp_fleet_event_kind {
  SLP_FLEET_JOINED,      /* registered; text: the instance */
  SLP_FLEET_EVICTED,     /* other workers evicted it: every lease is lost, and it registers again */
  SLP_FLEET_SUSPENDED,   /* the lease deadline passed */
  SLP_FLEET_RESUMED,     /* a heartbeat was answered: reading goes on with the same leases */
  SLP_FLEET_TAKEN,       /* shard, epoch */
  SLP_FLEET_LOST,        /* shard, epoch: another worker has it */
  SLP_FLEET_RELEASED,    /* shard, epoch: given up, handed over, or left behind at the end */
  SLP_FLEET_ENDED_SHARD, /* shard, epoch */
  SLP_FLEET_LEADS,
  SLP_FLEET_FOLLOWS,       /* no longer leads */
  SLP_FLEET_EVICTED_OTHER, /* text: the worker that this one evicted */
  SLP_FLEET_HOLE,          /* text: the hash keys of the stream that nobody will read */
  SLP_FLEET_BAD_ROW,       /* text: the row and what is wrong with it; the row is left alone */
  SLP_FLEET_TROUBLE,       /* text: a failure; the worker goes on trying */
  SLP_FLEET_FAILED,        /* text: why the worker can't go on; it gives everything up */
  SLP_FLEET_LEFT           /* the last event */
} slp_fleet_event_kind;

typedef struct slp_fleet_event {
  slp_fleet_event_kind kind;
  slp_str shard;
  uint64_t epoch;
  slp_str text;
  const slp_fail *fail; /* TROUBLE: the store's failure; NULL: the store did not fail */
  uint8_t ends;         /* TROUBLE: 1: waiting and trying again will not help */
} slp_fleet_event;

/* counted since the worker began; members ending in _now are present values */
typedef struct slp_fleet_stats {
  uint64_t held_now, assigned_now;
  uint64_t taken, lost, released, ended;
  uint64_t writes, reads, doubts, throttles;
  uint64_t checkpoints, heartbeats, evictions, evicted, assignments, shard_syncs;
  uint64_t beat_age_us_now; /* since the last good heartbeat was sent */
  uint8_t leads_now, suspended_now;
  uint8_t undone; /* the worker has left, and some of its last writes may not be in the table */
  /* 1: the last comparison of stream and table, if this worker does them, found hash keys without a lease */
  uint8_t holes_now;
} slp_fleet_stats;

typedef struct slp_fleet_opts { /* strings are copied */
  slp_host *host;
  slp_store *store;         /* borrowed; its table exists */
  slp_schema *schema;       /* borrowed */
  slp_processor *processor; /* borrowed */
  slp_str worker;           /* its id, at most 64 bytes, without a dot at its end */
  slp_str machine;          /* told in its row; may be empty */
  void *guest;              /* borrowed, for the strategy; NULL: it needs nothing */
  slp_position start;       /* of the fleet, when it is the first: LATEST becomes a time once */
  uint32_t lease_ms, checkpoint_ms, handover_ms, leader_poll_ms, weight; /* 0: 10000, 5000, 30000, 750, 1 */
  uint32_t list_ms; /* between shard syncs of the worker that does them. 0: 60000 */
  void (*on_event)(void *arg, const slp_fleet_event *ev); /* may be NULL */
  void *arg;
} slp_fleet_opts;

/* SLP_ENOMEM, SLP_EINVAL: the id can't be one. */
int slp_fleet_new(slp_fleet **ret, slp_mem *mem, const slp_fleet_opts *o);
void slp_fleet_start(slp_fleet *f);
/* Stops in an orderly way: drains, saves, gives every lease to the others and leaves. SLP_FLEET_LEFT comes at
 * the latest after limit_ms and a few round trips. */
void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms);
/* Stops at once and writes nothing more. Must not be called from inside on_event or a function of the
 * processor. */
void slp_fleet_free(slp_fleet *f);

/* Called before records are handed out; reads the clock. Returns 0 if the worker is suspended and nothing may
 * be handed out. */
int slp_fleet_may_deliver(slp_fleet *f);
/* Called before anything that takes long within a turn; sends a heartbeat if one is due. */
void slp_fleet_beat_first(slp_fleet *f);
/* Saves what is acknowledged now, of one shard or, with {NULL, 0}, of all. on_saved runs once, when that is
 * in the table or the lease is gone. Returns SLP_ENOBUFS while another save is under way. */
int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg);
/* Does the same for all shards for which `wants` returns 1. */
int slp_fleet_save_each(slp_fleet *f, int (*wants)(void *ctx, slp_str shard), void *ctx,
                        void (*on_saved)(void *arg), void *arg);
void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret);
/* Sums up the leases whose shards are not read. Each is passed to `tell`, unless `tell` is NULL. */
void slp_fleet_shut(slp_fleet *f, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
slp_str slp_fleet_instance(const slp_fleet *f); /* "id.incarnation" of the last registration */

#endif
