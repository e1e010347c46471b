/* strategy.h - what a fleet's worker does in another way if its table is shared with another system, as one
 * table of functions: how a worker proves that it lives, which worker decides who reads which shard, and what
 * a write leaves in a row. A schema names its strategy (slp_schema.strategy). NULL means slp_strategy_native,
 * the protocol of PROTOCOL.md. The states of a lease are the same in all strategies.
 *
 * Calls from a lower floor to a higher one (fleet_inside.h) also go through this table: a file for leases,
 * members or the lease deadline calls a function here when something has happened, and does not know which
 * file implements it. */
#ifndef SLP_LEASE_STRATEGY_H
#define SLP_LEASE_STRATEGY_H

#include "lease/members.h"
#include "lease/outcome.h"

typedef struct slp_lease slp_lease;

/* A function may be NULL unless its comment says "Never NULL". Then nothing is done, or the answer is 0,
 * unless the comment says otherwise. "The worker" is the one that runs the strategy. */
struct slp_strategy {
  /* ---- memory and timers: bytes that are allocated after the fleet (slp_fleet.guest) and after each
   * lease (slp_lease.guest), zeroed, and the number of timers that are reserved */
  size_t fleet_bytes, lease_bytes;
  uint32_t timers;
  void (*init)(slp_fleet *f);
  void (*stop)(slp_fleet *f);
  void (*free)(slp_fleet *f);

  /* ---- the proof of life */
  /* bits of operations on which the worker's life depends: sent before all others, with short tries, and
   * never held back */
  uint32_t urgent;
  /* bits of operations: if a write of this kind fails, what was seen of other workers until then proves
   * nothing */
  uint32_t doubtful;
  uint8_t members; /* 1: workers have rows, and a dead worker is evicted by a write on its row */
  /* 1: a lease is taken only when a proof of life was answered that was sent after the lease was seen free */
  uint8_t proves_takes;
  /* 1: the last write of a worker that leaves frees all its leases that have nothing to save */
  uint8_t frees_all;
  /* Begins to join. The strategy calls slp_worker_begins when the worker has joined. Never NULL. */
  void (*join)(slp_fleet *f);
  /* Sends the proofs of life that are due, and sets when the next proof is due (slp_beat_at). Never NULL. */
  void (*beat)(slp_fleet *f);
  /* Returns when the last good proof of life was sent; where each lease has its own proof, the oldest of
   * these times of all open leases. SLP_NEVER: no lease is open. exact 0: the result may be too early, but
   * if it is past the lease deadline, the caller asks again with exact 1. Never NULL. */
  uint64_t (*good_us)(slp_fleet *f, int exact);
  /* returns 1 if the lease itself is proven too, so that its shard may be opened; NULL: the worker's proof
   * is enough */
  int (*may_open)(slp_lease *l);
  /* a write was made that keeps the ownership of the lease */
  void (*wrote)(slp_lease *l, const slp_write *op);
  /* a write that keeps the ownership is about to be sent: adds the lease's load to it */
  void (*tell_load)(slp_lease *l, slp_operation *i);

  /* ---- sharing: which worker reads which shard */
  /* for how many lease times, at least, a worker does not take a lease again that it gave up for lack of
   * progress */
  uint8_t shun_leases;
  /* 1: a child waits while a parent has no row, as long as the stream lists that parent */
  uint8_t missing_blocks;
  uint8_t claims_decide; /* 1: an owner obeys every claim, whether the next owner or a leader wrote it */
  /* 1: an owner gives up a lease as soon as it is not assigned to it, without a claim */
  uint8_t only_own;
  /* 1: rows can't say that a lease is parked, so its owner keeps the lease without reading the shard */
  uint8_t keeps_parked;
  void (*begin)(slp_fleet *f);     /* The worker has joined: begins to look for leases. Never NULL. */
  void (*suspended)(slp_fleet *f); /* the lease deadline has passed, or the worker was evicted */
  /* the worker was suspended, and a proof of its life was answered */
  void (*resumed)(slp_fleet *f);
  /* The row of a lease was read that the worker wants or has claimed: takes the lease, claims it, waits,
   * or forgets it. Never NULL. */
  void (*met)(slp_lease *l, const slp_lease_row *parsed);
  void (*missed)(slp_lease *l);  /* The worker's TAKE of the lease was not made. Never NULL. */
  void (*claimed)(slp_lease *l); /* the worker's CLAIM of the lease was answered */
  /* a lease that the worker wants has no row; returns 1 if the worker no longer wants the lease */
  int (*removed)(slp_lease *l);
  /* returns when the worker decided to take the lease; 0: slp_lease_image.take_us has the time */
  uint64_t (*chosen_us)(const slp_lease *l);
  void (*begun)(slp_lease *l); /* an ownership of the lease has begun */
  /* returns 1 if acknowledgements from before this TAKE are still valid */
  int (*restores)(const slp_lease *l);
  void (*gone)(slp_lease *l);           /* the ownership of the lease is over */
  void (*listed)(slp_fleet *f, int ok); /* The stream's listing has come; ok 0: it has failed. Never NULL. */
  void (*listed_part)(slp_fleet *f);    /* a page of the stream's first listing has come */
  /* A shard has ended, and the stream listed no children of it. Never NULL. */
  void (*unknown_children)(slp_fleet *f);
  /* For layouts whose rows have at most one parent: returns 1 if all parents of a lease that waits for
   * them are known, 0 if they are not known yet. NULL: rows have both parents. */
  int (*knows_parents)(slp_lease *l);
  /* For layouts whose rows have the first sequence number of the shard: returns 1 and that number of a
   * child, if the end of its parent did not show it; 0 if it is not known yet. NULL: rows do not have that
   * number. */
  int (*knows_start)(slp_lease *l, const slp_shard_desc *kid, slp_str *ret);
  /* Returns 1 if the row of a child may be created, 0 if not yet. The worker has read l, a parent of the
   * child, to its end. NULL: it may be created at once. */
  int (*may_make)(slp_lease *l, const slp_shard_desc *kid);
  void (*made)(slp_fleet *f, slp_str kid); /* the worker has created the row of a child */
  void (*leaves)(slp_fleet *f);            /* the worker begins to leave */
  /* The worker leaves and has no leases any more. The strategy calls slp_worker_out, at once or later.
   * Never NULL. */
  void (*part)(slp_fleet *f);
  void (*wants)(slp_fleet *f); /* the worker waits for a lease, so changes should be noticed soon */
  /* the worker has released a lease because the shard made no progress, was refused or is parked */
  void (*gave_up)(slp_fleet *f);
  /* a heartbeat was answered; me: this worker's own row, as the answer showed it; NULL: no memory for it */
  void (*heartbeat)(slp_fleet *f, const slp_member *me);
  void (*evicted_other)(slp_fleet *f); /* the write that evicts another worker was answered */

  /* ---- rows, for workers and for an operator's command; slp_strategy_native has none of these */
  /* See slp_outcome_of. Never NULL in strategies other than slp_strategy_native. */
  slp_outcome (*outcome)(const slp_operation *i, int there, const slp_parsed_row *parsed);
  /* Returns the epoch in the row after a write. serial: number of the last write of this worker. NULL: one
   * more than before. */
  uint64_t (*epoch_after)(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
  /* returns the epoch in the row after a TAKE; NULL: one more than before */
  uint64_t (*take_epoch)(const slp_lease *l);
  /* Returns the sign of life of the owner in the row of a lease. wall_ms and now_us are the same moment on
   * the reader's two clocks; lease_ms is the reader's own lease time. Never NULL in strategies other than
   * slp_strategy_native. */
  slp_sign (*sign)(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t silent_leases; /* after so many lease times of silence an owner is dead */
  /* Returns when a lease of this epoch expires by the wall clock, as a time of the monotonic clock. NULL:
   * leases have no such time. */
  uint64_t (*past_us)(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t counts;  /* 1: the epoch of a lease is a counter that each write of its owner raises by one */
  uint8_t clients; /* 1: workers have rows of another kind, with a time by which they judge each other */
  /* With clients: returns 1 if the shard with this index in the list of shards belongs to the worker with
   * the index `place` in the list of the workers_n living workers. */
  int (*is_share)(size_t shard, size_t place, size_t workers_n);
};

extern const slp_strategy slp_strategy_native;

/* Returns for how long an owner must be silent to be dead, where each lease has its own proof of life.
 * lease_us: the lease time. */
static inline uint64_t slp_strategy_span_us(const slp_strategy *s, uint64_t lease_us) {
  return s->silent_leases * lease_us;
}
/* Returns from when on an owner is dead by its silence. One read is enough: a TAKE is conditional on what
 * was read, so it is refused if the owner has written since. And a wrong TAKE costs the owner this one
 * lease only. */
static inline uint64_t slp_strategy_dead_us(const slp_strategy *s, const slp_silence *silence,
                                            uint64_t lease_us, uint64_t trouble_us) {
  return slp_silence_dead_us(silence, 1, slp_strategy_span_us(s, lease_us), trouble_us);
}

#endif
