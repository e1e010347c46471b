/* fleet.h - one worker of a fleet: proves that it lives, takes the leases that are for it, keeps their
 * positions, and gives them up gracefully. Over any store, by a row a
 * worker and a leader's assignment (it leads when nobody else does), or by the strategy of its schema.
 *
 * What keeps it safe: a worker that cannot prove its life hands out nothing; an ownership that has sent its
 * release never goes on; and nobody's lease is taken before one conditional write has evicted its
 * owner, or by a write that its owner's next one would have kept from succeeding. Where leases are stolen
 * from the living, two may hand out one shard until the first is refused its next write, for 0.8 of a lease
 * at most: that is that protocol's, and the user's sink can tell them apart by the epoch. */
#ifndef SLP_LEASE_FLEET_H
#define SLP_LEASE_FLEET_H

#include "core/leases.h"
#include "lease/processor.h"

typedef enum slp_fleet_event_kind {
  SLP_FLEET_JOINED,      /* registered: text is the instance */
  SLP_FLEET_EVICTED,     /* evicted by others: every lease is lost, it registers anew */
  SLP_FLEET_SUSPENDED,   /* the lease deadline passed */
  SLP_FLEET_RESUMED,     /* a fresh heartbeat: the same leases go on */
  SLP_FLEET_TAKEN,       /* shard, epoch */
  SLP_FLEET_LOST,        /* shard, epoch: somebody else has it */
  SLP_FLEET_RELEASED,    /* shard, epoch: given up, handed over or left */
  SLP_FLEET_ENDED_SHARD, /* shard, epoch */
  SLP_FLEET_LEADS,
  SLP_FLEET_FOLLOWS,       /* leads no more */
  SLP_FLEET_EVICTED_OTHER, /* text: the worker this one has evicted */
  SLP_FLEET_HOLE,          /* text: what of the stream nobody is going to read */
  SLP_FLEET_BAD_ROW,       /* text: the row and what is wrong; it is left alone */
  SLP_FLEET_TROUBLE,       /* text: something that keeps being tried */
  SLP_FLEET_FAILED,        /* text: it can't go on; everything is given up */
  SLP_FLEET_LEFT           /* the last event */
} slp_fleet_event_kind;

typedef struct slp_fleet_event {
  slp_fleet_event_kind kind;
  slp_str shard;
  uint64_t epoch;
  slp_str text;
  const slp_fail *fail; /* TROUBLE: what the store said; NULL: it is no failure of the store */
  uint8_t ends;         /* of TROUBLE: nothing will mend it */
} slp_fleet_event;

typedef struct slp_fleet_stats { /* since it began; _now: at present */
  uint64_t held_now, assigned_now;
  uint64_t taken, lost, released, ended;
  uint64_t writes, reads, doubts, throttles;
  uint64_t checkpoints, heartbeats, evictions, evicted, assignments, shard_syncs;
  uint64_t beat_age_us_now; /* since the sending of the last good heartbeat */
  uint8_t leads_now, suspended_now;
  uint8_t undone;    /* it has left, and not all that was to be written is known to be */
  uint8_t holes_now; /* who compares the stream with the table found one when it last did: 1 */
} slp_fleet_stats;

typedef struct slp_fleet_opts { /* strings are copied */
  slp_host *host;
  slp_store *store;         /* borrowed; its table is prepared */
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
/* Drains, saves, gives everything to the others and leaves; FLEET_LEFT tells the end, at the latest after
 * limit_ms and a few round trips. */
void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms);
/* At once: nothing more is written. Not from inside on_event or a function of the processor. */
void slp_fleet_free(slp_fleet *f);

/* Before every hand-out: reads the clock anew. 0: suspended, hand out nothing. */
int slp_fleet_may_deliver(slp_fleet *f);
/* Before anything that takes long in a turn: sends a heartbeat that is due. */
void slp_fleet_beat_first(slp_fleet *f);
/* Saves what is acknowledged now, of one shard or ({NULL, 0}) of all; on_saved comes once when that is in the
 * table or the lease is gone. One at a time: SLP_ENOBUFS while another is under way. */
int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg);
/* The same of all shards that `wants` names. */
int slp_fleet_save_each(slp_fleet *f, int (*wants)(void *ctx, slp_str shard), void *ctx,
                        void (*on_saved)(void *arg), void *arg);
void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret);
/* Leases whose shards are not read: each is handed to `tell`, unless that is NULL. */
void slp_fleet_shut(slp_fleet *f, slp_shut_sum *ret, slp_shut_tell tell, void *arg);
slp_str slp_fleet_instance(const slp_fleet *f); /* "id.incarnation", as registered last */

#endif
