/* fleet_opts.h - the options of a fleet's worker, the events that it reports, and its figures. */
#ifndef SLP_LEASE_FLEET_OPTS_H
#define SLP_LEASE_FLEET_OPTS_H

#include "base/fail.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/store.h"

typedef enum slp_fleet_event_kind {
  SLP_FLEET_JOINED,    /* the worker has joined the fleet; text: its instance, "id.incarnation" */
  SLP_FLEET_EVICTED,   /* this worker was evicted: every lease is lost, and the worker registers again */
  SLP_FLEET_SUSPENDED, /* the lease deadline has passed, so the worker hands out no records */
  SLP_FLEET_RESUMED,   /* after SUSPENDED, a heartbeat was answered: reading continues with the same leases */
  SLP_FLEET_TAKEN,     /* shard, epoch: this worker reads the shard now */
  SLP_FLEET_LOST,      /* shard, epoch: another worker has taken the lease */
  /* shard, epoch: this worker no longer reads the shard: the lease was given up, handed over or parked (no
   * worker reads it until an operator releases it), or the worker left */
  SLP_FLEET_RELEASED,
  SLP_FLEET_ENDED_SHARD, /* shard, epoch: the shard was read to its end */
  /* this worker has become the leader */
  SLP_FLEET_LEADS,
  SLP_FLEET_FOLLOWS,       /* this worker leads no more */
  SLP_FLEET_EVICTED_OTHER, /* text: the worker that was evicted by this worker */
  /* text: hash keys of the stream that no lease covers, so that no worker reads their records */
  SLP_FLEET_HOLE,
  SLP_FLEET_BAD_ROW, /* text: the key of a row, and why the row can't be used; the row is left as it is */
  SLP_FLEET_TROUBLE, /* text: a failure; the worker goes on trying */
  SLP_FLEET_DRAINED, /* an operator holds the application: this worker reads nothing until UNDRAINED */
  SLP_FLEET_UNDRAINED,
  SLP_FLEET_FAILED, /* text: why the worker can't continue; it gives up every lease */
  SLP_FLEET_LEFT    /* the worker has left; the last event */
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

/* Counts since the worker was created. Members whose names end in _now are present values. */
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
  /* The first four are times in ms; weight is the worker's share of leases, compared with the weights of
   * other workers. Defaults for members that are 0, in order: 10000, 5000, 30000, 750 and 1. */
  uint32_t lease_ms, checkpoint_ms, handover_ms, leader_poll_ms, weight;
  uint32_t list_ms; /* time between two shard syncs, in ms, if this worker does them; 0: 60000 */
  void (*on_event)(void *arg, const slp_fleet_event *ev); /* may be NULL */
  void *arg;
} slp_fleet_opts;

#endif
