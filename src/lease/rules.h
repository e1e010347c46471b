/* rules.h - what differs from schema to schema, as tables of functions: how a worker proves that it
 * lives, and who decides which worker reads what. The states of a lease are the same for all.
 *
 * They are also the way upwards: a file of a lower floor (a lease, a member, the lease deadline) tells
 * what has happened through them, and does not know who listens. */
#ifndef SLP_LEASE_RULES_H
#define SLP_LEASE_RULES_H

#include "lease/members.h"
#include "lease/seen.h"

typedef struct slp_lease slp_lease;

/* How a worker proves that it lives, and when another's lease is seen to be dead. */
typedef struct slp_liveness_rule {
  uint32_t
      urgent; /* bits of operations that its life hangs on: before all else, short tries, no politeness */
  uint32_t doubtful; /* bits of operations whose failures make doubtful what was seen of others */
  uint8_t grows;     /* the epoch of a lease never goes back: what is less is from before this worker's own */
  uint8_t of_first;  /* the row holds a time: a proof of life counts from its write's first copy */
  uint8_t proves_takes; /* a lease is taken only with a proof that was sent after it was seen to be free */
  uint8_t settles;      /* what was taken is read once a renewal says that nobody has put it back */
  uint32_t
      tick_us; /* a proof of life is due so long after the last, if a third of a lease is longer; 0: no */
  uint8_t frees_all; /* the last write of a worker that leaves frees every lease that has nothing to save */
  void (*begin)(slp_fleet *f); /* to join: slp_worker_begins comes, now or later */
  void (*beat)(slp_fleet *f);  /* sends what is due, and says when the next is: slp_beat_at */
  /* The sending of the last good proof of life: of all that is open the oldest. SLP_NEVER: nothing is open.
   * Unless it is to be exact, it may be too early as long as it is not past the lease deadline. */
  uint64_t (*good_us)(slp_fleet *f, int exact);
  int (*may_open)(slp_lease *l); /* this lease is proven as well; NULL: by the worker's own proof */
  void (*wrote)(slp_lease *l, const slp_write *op);  /* a write that keeps its ownership is in; may be NULL */
  void (*tell_load)(slp_lease *l, slp_operation *i); /* such a write goes out; may be NULL */
  void (*gone)(slp_lease *l);                        /* its ownership is over; may be NULL */
  /* A lease's row in a complete list; and, later, whether its owner has shown no life for that many leases.
   * NULL: dead workers are evicted by name. */
  void (*saw)(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *parsed, uint64_t done_us);
  int (*dead)(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases);
} slp_liveness_rule;

/* Which living workers are asked for a lease. */
typedef enum slp_asks { SLP_ASKS_NOBODY, SLP_ASKS_OURS, SLP_ASKS_ALL } slp_asks;

/* How it is decided which worker reads which shard. All but the first group of functions may be NULL. */
typedef struct slp_sharing_rule {
  uint8_t shun_leases;    /* a shard given up for lack of progress is left to others for so long, at least */
  uint8_t asks;           /* slp_asks: what a living worker has is claimed, and not taken */
  uint8_t missing_blocks; /* a parent without a row is waited for as long as the stream lists it */
  uint8_t claims_decide;  /* a claim, of the next owner or by a leader in its name, is always heard */
  uint8_t only_own;       /* what is not assigned to this worker any more is given up, unasked */
  void (*joins)(slp_fleet *f);     /* looks before it joins: slp_worker_begins comes later, or never. NULL: by
                                      the application's version, as mode.h has it */
  void (*begin)(slp_fleet *f);     /* the worker has joined: finds out what is there for it */
  void (*suspended)(slp_fleet *f); /* the lease deadline passed, or it was evicted; may be NULL, as resumed */
  void (*resumed)(slp_fleet *f);
  /* The row of a lease that it wants, or once did: take it, ask for it, wait, or forget it. */
  void (*met)(slp_lease *l, const slp_lease_row *parsed);
  /* Until when it is kept for the worker that claimed it; 0: it is not. NULL: never. */
  uint64_t (*reserved_until_us)(slp_fleet *f, const slp_lease_row *row);
  void (*missed)(slp_lease *l);           /* its take was refused */
  void (*listed)(slp_fleet *f, int ok);   /* the stream's shards */
  void (*unknown_children)(slp_fleet *f); /* a shard ended and the stream did not tell of any */
  void (*part)(slp_fleet *f);             /* it leaves and holds nothing any more: slp_worker_out, in time */

  void (*leaves)(slp_fleet *f);  /* it begins to leave */
  void (*gone)(slp_lease *l);    /* a lease's ownership is over */
  void (*wants)(slp_fleet *f);   /* it waits for a lease: news matter */
  void (*gave_up)(slp_fleet *f); /* a lease was released for lack of progress: another worker is to have it */
  void (*heartbeat)(slp_fleet *f,
                    const slp_member *me); /* one is in; me: its own row, as the write showed it */
  void (*evicted_other)(slp_fleet *f);     /* the write that evicts another worker is answered */
  /* The lease of a child of a shard that I have read to its end; 0: not yet. NULL: always. */
  int (*may_make)(slp_lease *l, const slp_shard_desc *kid);
  void (*made)(slp_fleet *f, slp_str kid); /* its row; may be NULL */
} slp_sharing_rule;

extern const slp_liveness_rule slp_liveness_by_worker, slp_liveness_by_counter, slp_liveness_by_expiry,
    slp_liveness_by_tick;
extern const slp_sharing_rule slp_sharing_by_assignment, slp_sharing_by_steal, slp_sharing_by_claim,
    slp_sharing_by_index;
/* SLP_EINVAL: rules that do not go together here. */
int slp_fleet_rules(const slp_schema *s, const slp_liveness_rule **ret_life,
                    const slp_sharing_rule **ret_sharing);

#endif
