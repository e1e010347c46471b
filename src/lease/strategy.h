/* strategy.h - the strategy: one table of functions for what a fleet's worker does in another way if its
 * table is shared with another system. It says how a worker proves that it lives, which worker decides who
 * reads which shard, and what a write leaves in a row. A schema names its strategy (slp_schema.strategy).
 * NULL means slp_strategy_native, the protocol of PROTOCOL.md. The states of a lease are the same in all
 * strategies.
 *
 * The table also carries calls from a lower floor to a higher one (fleet_inside.h): a file for leases,
 * members or the lease deadline calls a function here when something has happened, and does not know which
 * file implements it. */
#ifndef SLP_LEASE_STRATEGY_H
#define SLP_LEASE_STRATEGY_H

#include "base/states.h"
#include "codec/page.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/silence.h"
#include "lease/write.h"

/* A function may be NULL, unless its comment says "Never NULL". Then nothing is done, or the answer is 0,
 * unless the comment says otherwise. "The worker" is the one that runs the strategy. */
struct slp_strategy {
  /* ---- memory and timers */
  /* How many zeroed bytes to allocate for the strategy: once (slp_fleet.guest), with each lease
   * (slp_lease.guest), and with what is remembered of each shard (slp_seen_shard.guest). */
  size_t fleet_bytes, lease_bytes, seen_bytes;
  uint32_t timers; /* how many timers to reserve in the host */
  void (*init)(slp_fleet *f);
  void (*stop)(slp_fleet *f);
  void (*free)(slp_fleet *f);

  /* ---- the proof of life */
  /* kinds of operations on which the worker's life depends: sent before all others, with short tries, and
   * never held back */
  slp_set urgent;
  /* Kinds of operations whose failure shows that this worker has trouble with the table. Silence of other
   * workers before that failure then proves nothing. */
  slp_set doubtful;
  uint8_t members; /* 1: each worker has a row, and a dead worker is evicted by a write on that row */
  /* 1: before the worker takes a lease that it has seen free, it sends a proof of its own life and waits for
   * the answer */
  uint8_t proves_takes;
  /* 1: the last write of a worker that leaves frees all its leases that have no new position to save */
  uint8_t frees_all;
  /* Begins to join. The strategy calls slp_worker_begins when the worker has joined. Never NULL. */
  void (*join)(slp_fleet *f);
  /* Sends the proofs of life that are due, and sets when the next proof is due (slp_beat_at). Never NULL. */
  void (*beat)(slp_fleet *f);
  /* Returns when the last successful proof of life was sent. If each lease has its own proof of life, returns
   * the oldest of these times over all open leases; SLP_NEVER if no lease is open. exact, 0: a quick answer,
   * which may be too early. If it is past the lease deadline, the caller asks again with exact 1. Never
   * NULL. */
  uint64_t (*good_us)(slp_fleet *f, int exact);
  /* Returns 1 if the lease has its own recent proof of life, so that its shard may be opened. NULL: the
   * worker's proof of life is enough. */
  int (*may_open)(slp_lease *l);
  /* to be called when a write that keeps the ownership of the lease is in the table */
  void (*wrote)(slp_lease *l, const slp_write *op);
  /* To be called before a write that keeps the ownership is sent: adds the lease's load to it. */
  void (*tell_load)(slp_lease *l, slp_operation *i);

  /* ---- sharing: which worker reads which shard */
  /* after a worker gave a lease up for lack of progress, it does not take the lease again for at least this
   * many lease times */
  uint8_t shun_leases;
  /* 1: a child is not read while the stream lists a parent of it that has no row */
  uint8_t missing_blocks;
  /* Returns 1 if the owner must give the lease up: to the worker that claims it, or to nobody if no worker
   * does. If it returns 1, the claim is obeyed even if the lease is given up for another reason. NULL: the
   * owner obeys a claim on a lease that is not assigned to it any more. */
  int (*must_give_up)(const slp_lease *l);
  void (*hands_over)(slp_lease *l); /* called when the owner begins to hand the lease over */
  /* Called for a parked lease (nobody is to read its shard until an operator releases it), when all records
   * that were handed out have come back. Keeps the lease, and closes the shard. NULL: the lease is released,
   * by a write that also marks it as parked. */
  void (*park)(slp_lease *l);
  void (*begin)(slp_fleet *f); /* Called when the worker has joined: begins to look for leases. Never NULL. */
  /* called when the lease deadline has passed, or when the worker was evicted */
  void (*suspended)(slp_fleet *f);
  /* called when the worker was suspended, and a proof of its life was answered */
  void (*resumed)(slp_fleet *f);
  /* Called when the row of a lease was read that the worker wants or has claimed. Takes the lease, claims it,
   * waits, or forgets it. Never NULL. */
  void (*met)(slp_lease *l, const slp_lease_row *parsed);
  void (*missed)(slp_lease *l);  /* Called when the worker's TAKE of the lease was not made. Never NULL. */
  void (*claimed)(slp_lease *l); /* called when the worker's CLAIM of the lease was answered */
  /* Called when a lease that the worker wants has no row. Returns 1 if the worker no longer wants it. */
  int (*removed)(slp_lease *l);
  /* Returns when the worker decided to take the lease; 0: slp_lease_image.take_us has that time. */
  uint64_t (*chosen_us)(const slp_lease *l);
  void (*begun)(slp_lease *l); /* called when an ownership of the lease has begun */
  /* Returns 1 if this TAKE resumes the ownership that this worker had before, so that what was acknowledged
   * in that ownership is still valid. */
  int (*restores)(const slp_lease *l);
  void (*gone)(slp_lease *l); /* called when the ownership of the lease is over */
  /* Called when the stream's listing has come; ok 0: it has failed. Never NULL. */
  void (*listed)(slp_fleet *f, int ok);
  void (*listed_part)(slp_fleet *f); /* called when a page of the stream's first listing has come */
  /* Called when a shard has ended and the stream's listing had no children of it. Never NULL. */
  void (*unknown_children)(slp_fleet *f);
  /* For layouts whose rows name at most one parent. Returns 1 if all parents of a lease in WAITING are known,
   * 0 if not yet. NULL: rows name both parents. */
  int (*knows_parents)(slp_lease *l);
  /* For layouts whose rows have the shard's first sequence number. Called for a child if the end of its
   * parent did not show that number. Returns 1 and the number; 0 if it is not known yet. NULL: rows do not
   * have it. */
  int (*knows_start)(slp_lease *l, const slp_shard_desc *kid, slp_str *ret);
  /* Returns 1 if the row of a child may be created now, 0 if not yet. The worker has read l, a parent of the
   * child, to its end. NULL: it may always be created. */
  int (*may_make)(slp_lease *l, const slp_shard_desc *kid);
  void (*made)(slp_fleet *f, slp_str kid); /* called when the worker has created the row of a child */
  void (*leaves)(slp_fleet *f);            /* called when the worker begins to leave */
  /* Called when the worker is leaving and has no leases any more. The strategy calls slp_worker_out, now or
   * later. Never NULL. */
  void (*part)(slp_fleet *f);
  /* called when the worker begins to wait for a lease, so the strategy must soon notice changes of rows */
  void (*wants)(slp_fleet *f);
  /* called when the worker has released a lease because the shard made no progress, because the service
   * refused its position, or because it is parked */
  void (*gave_up)(slp_fleet *f);
  /* Called when a heartbeat was answered. me: this worker's own row, as the answer showed it; NULL: no memory
   * for it. */
  void (*heartbeat)(slp_fleet *f, const slp_member *me);
  void (*evicted_other)(slp_fleet *f); /* called when the write that evicts another worker was answered */

  /* 1: the layout has a hold: the row of leadership says whether an operator has stopped all workers
   * (hold.h) */
  uint8_t holds;

  /* ---- rows: for workers, and for an operator's command. slp_strategy_native has none of these */
  /* Returns the outcome of a refused write, as slp_outcome_of does. Never NULL in strategies other than
   * slp_strategy_native. */
  slp_outcome (*outcome)(const slp_operation *i, int there, const slp_parsed_row *parsed);
  /* Returns the epoch that the row has after a write. serial: the number of the worker's last write. NULL: it
   * is one more than before. */
  uint64_t (*epoch_after)(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
  /* Returns the epoch that the row has after a TAKE. NULL: it is one more than before. */
  uint64_t (*take_epoch)(const slp_lease *l);
  /* Returns the sign of life of the owner in the row of a lease (silence.h). wall_ms and now_us: the same
   * moment on the reader's two clocks. lease_ms: the reader's own lease time. Never NULL in strategies other
   * than slp_strategy_native. */
  slp_sign (*sign)(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t silent_leases; /* an owner is dead after this many lease times of silence */
  /* Returns when a lease of this epoch expires by the wall clock, as a time of the monotonic clock. NULL:
   * leases have no such time. */
  uint64_t (*past_us)(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t counts; /* 1: the epoch of a lease is a counter to which each write of its owner adds one */
  /* 1: workers have rows of a special kind, with a time by which they judge each other
   * (slp_strategy.is_share) */
  uint8_t clients;
  /* With `clients`. Returns 1 if a worker should have a shard. shard: the shard's index in the list of
   * shards. place: the worker's index in the list of the workers_n living workers. */
  int (*is_share)(size_t shard, size_t place, size_t workers_n);
};

extern const slp_strategy slp_strategy_native;

/* For fleets where each lease has its own proof of life: returns how long that proof must not change until
 * the owner counts as dead. lease_us: the lease time. */
static inline uint64_t slp_strategy_span_us(const slp_strategy *s, uint64_t lease_us) {
  return s->silent_leases * lease_us;
}
/* Returns from which time on an owner counts as dead because of its silence. One read is enough. A TAKE has
 * the condition that the row is as it was read, so the table refuses it if the owner has written since. And
 * if a TAKE is wrong, its owner loses only this one lease. */
static inline uint64_t slp_strategy_dead_us(const slp_strategy *s, const slp_silence *silence,
                                            uint64_t lease_us, uint64_t trouble_us) {
  return slp_silence_dead_us(silence, 1, slp_strategy_span_us(s, lease_us), trouble_us);
}

#endif
