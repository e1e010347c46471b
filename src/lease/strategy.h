/* strategy.h - what a fleet's worker does otherwise where its table is another system's, as one table of
 * functions: how it proves that it lives, who decides which worker reads what, and what a write leaves in a
 * row. A schema names its strategy (slp_schema.strategy); NULL is the protocol of PROTOCOL.md, which this
 * room is about (slp_strategy_native). The states of a lease are the same for all.
 *
 * It is also the way upwards: a file of a lower floor (a lease, a member, the lease deadline) tells what has
 * happened through it, and does not know who listens. */
#ifndef SLP_LEASE_STRATEGY_H
#define SLP_LEASE_STRATEGY_H

#include "lease/members.h"
#include "lease/outcome.h"

typedef struct slp_lease slp_lease;

/* Functions may be NULL where nothing is said: then nothing is done, or the answer is 0. */
struct slp_strategy {
  /* ---- what it keeps: so many bytes behind a fleet and behind each lease, zeros at first (slp_fleet.guest,
   * slp_lease.guest), and timers of a fleet */
  size_t fleet_bytes, lease_bytes;
  uint32_t timers;
  void (*init)(slp_fleet *f);
  void (*stop)(slp_fleet *f);
  void (*free)(slp_fleet *f);

  /* ---- the proof of life */
  uint32_t
      urgent; /* bits of operations that its life hangs on: before all else, short tries, no politeness */
  uint32_t doubtful;    /* bits of operations whose failures make doubtful what was seen of others */
  uint8_t members;      /* workers have rows, and dead ones are evicted by name */
  uint8_t proves_takes; /* a lease is taken only with a proof that was sent after it was seen to be free */
  uint8_t frees_all; /* the last write of a worker that leaves frees every lease that has nothing to save */
  void (*join)(slp_fleet *f); /* slp_worker_begins comes, now or later, or never. Never NULL */
  void (*beat)(slp_fleet *f); /* sends what is due, and says when the next is: slp_beat_at. Never NULL */
  /* The sending of the last good proof of life: of all that is open the oldest. SLP_NEVER: nothing is open.
   * Unless it is to be exact, it may be too early as long as it is not past the lease deadline. Never
   * NULL. */
  uint64_t (*good_us)(slp_fleet *f, int exact);
  int (*may_open)(slp_lease *l); /* this lease is proven as well; NULL: by the worker's own proof */
  void (*wrote)(slp_lease *l, const slp_write *op);  /* a write that keeps its ownership is in */
  void (*tell_load)(slp_lease *l, slp_operation *i); /* such a write goes out */

  /* ---- sharing: which worker reads which shard */
  uint8_t shun_leases;    /* a shard given up for lack of progress is left to others for so long, at least */
  uint8_t missing_blocks; /* a parent without a row is waited for as long as the stream lists it */
  uint8_t claims_decide;  /* a claim, of the next owner or by a leader in its name, is always heard */
  uint8_t only_own;       /* what is not assigned to this worker any more is given up, unasked */
  uint8_t keeps_parked;   /* rows can't say that nobody is to read them: their owner keeps them, unread */
  void (*begin)(slp_fleet *f);     /* the worker has joined: finds out what is there for it. Never NULL */
  void (*suspended)(slp_fleet *f); /* the lease deadline passed, or it was evicted */
  void (*resumed)(slp_fleet *f);
  /* The row of a lease that it wants, or once did: take it, ask for it, wait, or forget it. Never NULL. */
  void (*met)(slp_lease *l, const slp_lease_row *parsed);
  void (*missed)(slp_lease *l);  /* its take was refused. Never NULL */
  void (*claimed)(slp_lease *l); /* its claim was answered */
  int (*removed)(slp_lease *l);  /* a lease that it wants has no row. 1: it does not want it any more */
  uint64_t (*chosen_us)(const slp_lease *l); /* when it chose to take it; 0: see slp_lease_image.take_us */
  void (*begun)(slp_lease *l);               /* an ownership begins */
  int (*restores)(const slp_lease *l);  /* 1: what was known as acknowledged before this take still counts */
  void (*gone)(slp_lease *l);           /* its ownership is over */
  void (*listed)(slp_fleet *f, int ok); /* the stream's shards. Never NULL */
  void (*listed_part)(slp_fleet *f);    /* some of them, of the first listing */
  void (*unknown_children)(slp_fleet *f); /* a shard ended and the stream did not tell of any. Never NULL */
  /* Whether all parents of a lease that waits for them are known, where a row names one at most. 0: not
   * yet. NULL: a row names both. */
  int (*knows_parents)(slp_lease *l);
  /* The number with which a child starts, where its row is to say it and the end of its parent did not. 0:
   * not yet. NULL: no row says it. */
  int (*knows_start)(slp_lease *l, const slp_shard_desc *kid, slp_str *ret);
  /* The lease of a child of a shard that I have read to its end; 0: not yet. NULL: always. */
  int (*may_make)(slp_lease *l, const slp_shard_desc *kid);
  void (*made)(slp_fleet *f, slp_str kid); /* its row */
  void (*leaves)(slp_fleet *f);            /* it begins to leave */
  void (*part)(slp_fleet *f);  /* it leaves and holds nothing any more: slp_worker_out, in time. Never NULL */
  void (*wants)(slp_fleet *f); /* it waits for a lease: news matter */
  void (*gave_up)(slp_fleet *f); /* a lease was released for lack of progress: another worker is to have it */
  void (*heartbeat)(slp_fleet *f,
                    const slp_member *me); /* one is in; me: its own row, as the write showed it */
  void (*evicted_other)(slp_fleet *f);     /* the write that evicts another worker is answered */

  /* ---- rows, for workers and for an operator's command; slp_strategy_native has none of these */
  /* As slp_outcome_of. Never NULL elsewhere. */
  slp_outcome (*outcome)(const slp_operation *i, int there, const slp_parsed_row *parsed);
  /* The epoch that a write leaves. serial: of the writes of this worker. NULL: one more than before. */
  uint64_t (*epoch_after)(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
  uint64_t (*take_epoch)(const slp_lease *l); /* the same of a take; NULL: one more than before */
  /* What the row of a lease shows of its owner. wall_ms and now_us are one moment on the reader's two clocks,
   * lease_ms what it takes for a lease of its own. Never NULL elsewhere. */
  slp_sign (*sign)(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t silent_leases; /* an owner is dead when it was silent for so many of them */
  /* When a lease of this epoch has run out, by the clock on the wall. NULL: it has no such time. */
  uint64_t (*past_us)(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
  uint8_t counts;  /* the epoch of a lease is a number that each write of its owner moves by one */
  uint8_t clients; /* workers have rows of another kind, with a time by which they judge each other */
  /* With clients: 1 if a shard of that place in the list of shards is the worker's whose place among those
   * that live is `place`. */
  int (*is_share)(size_t shard, size_t place, size_t workers_n);
};

extern const slp_strategy slp_strategy_native;

/* How long an owner of a lease must be silent to be dead, where a lease of lease_us proves its own life. */
static inline uint64_t slp_strategy_span_us(const slp_strategy *s, uint64_t lease_us) {
  return s->silent_leases * lease_us;
}
/* From when on its silence proves that. One read is enough: the take asks for what was read, so whatever has
 * moved meanwhile refuses it, and it costs its owner this one lease. */
static inline uint64_t slp_strategy_dead_us(const slp_strategy *s, const slp_silence *silence,
                                            uint64_t lease_us, uint64_t trouble_us) {
  return slp_silence_dead_us(silence, 1, slp_strategy_span_us(s, lease_us), trouble_us);
}

#endif
