/* lease_part.h - the members of a lease, and of the set of leases that a worker knows. lease.h draws
 * the states and says what the words mean. */
#ifndef SLP_LEASE_LEASE_PART_H
#define SLP_LEASE_LEASE_PART_H

#include "base/list.h"
#include "base/map.h"
#include "base/repeat.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "lease/former.h"
#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/write.h"

typedef enum slp_lease_state {
  SLP_LEASE_IDLE,
  SLP_LEASE_EXPECTED,
  SLP_LEASE_WANTED,
  SLP_LEASE_CLAIMED,
  SLP_LEASE_WAITING,
  SLP_LEASE_PARKED,
  SLP_LEASE_OWNED,
  SLP_LEASE_DRAINING,
  SLP_LEASE_DRAINED,
  SLP_LEASE_ENDING,
  SLP_LEASE_CLOSING,
  SLP_LEASE_RELEASING,
  SLP_LEASE_UNRELEASED
} slp_lease_state;

/* sets of states, for slp_lease_in */
#define SLP_LEASE_UNSOUGHT (SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_EXPECTED))
#define SLP_LEASE_SOUGHT (SLP_BIT(SLP_LEASE_WANTED) | SLP_BIT(SLP_LEASE_CLAIMED))
/* states in which the processor has the shard open */
#define SLP_LEASE_OPEN                                                                   \
  (SLP_BIT(SLP_LEASE_OWNED) | SLP_BIT(SLP_LEASE_DRAINING) | SLP_BIT(SLP_LEASE_DRAINED) | \
   SLP_BIT(SLP_LEASE_ENDING) | SLP_BIT(SLP_LEASE_CLOSING))
/* States in which this worker owns the lease and has not sent its last write on it. The worker must prove its
 * life, or that of the lease. */
#define SLP_LEASE_HELD \
  (SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_PARKED) | (SLP_LEASE_OPEN & ~SLP_BIT(SLP_LEASE_CLOSING)))
/* states in which this worker owns the lease, as far as this worker knows */
#define SLP_LEASE_MINE \
  (SLP_LEASE_HELD | SLP_BIT(SLP_LEASE_CLOSING) | SLP_BIT(SLP_LEASE_RELEASING) | SLP_BIT(SLP_LEASE_UNRELEASED))

/* Why a lease is given up. If several reasons come before the worker begins to give the lease up, the one
 * furthest down in this list counts. */
typedef enum slp_release_reason {
  SLP_RELEASE_NONE,
  SLP_RELEASE_HANDOVER, /* another worker has claimed the lease */
  SLP_RELEASE_HOLD,     /* an operator holds the application, or has paused the shard */
  /* this worker stops, or the worker that claimed the lease has died, so the lease becomes free */
  SLP_RELEASE_LEAVE,
  SLP_RELEASE_STALL,   /* the shard made no progress here, so another worker should try */
  SLP_RELEASE_REFUSED, /* the service refuses the position, so no worker should try for a while */
  SLP_RELEASE_PARK     /* no worker should read the shard until an operator releases it */
} slp_release_reason;

/* The reasons why this worker wants the lease, or does not. lease.c uses them. */
typedef struct slp_lease_want {
  /* 1: the leader assigned the lease to this worker; in a fleet without a leader: this worker chose it */
  uint8_t assigned;
  uint8_t named;     /* 1: the lease is in the assignment that is being taken in (slp_lease_assign) */
  uint8_t inherited; /* 1: this worker has read the shard's parent to its end */
  /* Until this time this worker does not want the lease, because the shard made no progress here. A newer
   * assignment than shunned_assignment ends that earlier. 0: there is no such time. */
  uint64_t shunned_us;
  /* version of the assignment when shunned_us was set */
  uint64_t shunned_assignment;
} slp_lease_want;

/* What the row of the lease said when it was last read or written. lease.c fills it in. */
typedef struct slp_lease_image {
  slp_instance owner, claim;
  /* when this worker first saw the present owner in the row, and the present claim */
  uint64_t owner_us, claim_us;
  uint64_t epoch, claim_version;
  /* 1: the worker that claims the lease asked for it by itself; 0: a leader chose that worker as the next
   * owner */
  uint8_t claim_asks;
  int64_t rate_bytes;
  uint32_t refused_n; /* how many times in a row the service refused the position, see slp_lease_row */
  slp_position position;
  slp_str parents[2]; /* owned */
  /* When this worker decided to take the lease from this owner and epoch. Since then it waits for a proof of
   * its own life, or for its turn to write. 0: it has not decided to take the lease. */
  uint64_t take_us;
  uint8_t ended;  /* 1: some worker has read the shard to its end */
  uint8_t paused; /* 1: an operator has paused the shard, so its owner has to give it up */
  /* The row's epoch when the shard ended. If the row's epoch is greater, an operator has set the position
   * back. */
  uint64_t ended_epoch;
} slp_lease_image;

/* The times at which something must be done about the lease. row_poll.c uses them. */
/* After a lease begins to be wanted, or its row may have changed, or it is assigned to this worker no more,
 * the row is read often for this long. */
#define SLP_LEASE_ALERT_US 5000000

typedef struct slp_lease_poll_times {
  uint64_t row_us;   /* when the lease's row must be read; SLP_NEVER: it need not be read */
  uint64_t step_us;  /* when slp_lease_step must run for the lease; SLP_NEVER: only after an event */
  uint64_t often_us; /* until this time the lease's row is read often */
} slp_lease_poll_times;

/* The ownership that this worker has now, or had last. lease.c begins and ends it. */
typedef struct slp_lease_own {
  uint64_t epoch; /* the epoch of this ownership, which its records carry */
  /* The epoch in the row after this worker's last write. If each lease has a counter that every write raises
   * (guest layouts): that counter. */
  uint64_t row_epoch;
  /* when this ownership began; a read that was sent before shows nothing about this ownership */
  uint64_t since_us;
  uint64_t released_epoch; /* this worker never again reads the shard with an epoch below this number */
  /* When this worker sent the write that creates the row with this worker as its owner. 0: it sent none, or
   * has seen the row since. */
  uint64_t made_us;
  slp_position begin; /* where this ownership began to read the shard */
  slp_position saved; /* the position in the row, as far as this worker knows */
  /* the position `saved` as the row spells it, if its number may have other leading zeros there; otherwise
   * NONE */
  slp_position odd;
  /* how far the shard was behind its tip when slp_lease_mark was last called, in ms; -1: not known */
  int64_t behind_ms;
  /* Keeps a least time between two TAKEs of the lease. If a table forgets which worker took the lease, this
   * worker would otherwise send TAKEs without a pause. */
  slp_paced takes;
} slp_lease_own;

/* What this worker knows of the parents of a shard whose lease is in WAITING. ownership.c uses it. */
typedef enum slp_parent_state {
  SLP_PARENT_UNFINISHED,
  SLP_PARENT_ENDED,
  SLP_PARENT_MISSING
} slp_parent_state;
typedef struct slp_lease_gate {
  uint8_t parents[2]; /* what this worker knows of each parent of row.parents, as an slp_parent_state */
  uint32_t wait_ms;   /* after this time, in ms, the parents' rows are read again */
  /* when this worker asked for a listing of the stream because a parent has no row; 0: it has not asked */
  uint64_t listing_us;
  /* when this worker asked for a listing because the row has one parent or none; 0: it has not asked */
  uint64_t asked_us;
  uint8_t known; /* 1: a listing has shown that the shard has no parents but those in row.parents */
} slp_lease_gate;

/* The checkpoints of the lease. checkpoint.c writes them. */
typedef enum slp_save_request { SLP_SAVE_NONE, SLP_SAVE_ASKED, SLP_SAVE_SENT } slp_save_request;
typedef struct slp_lease_save {
  uint8_t dirty; /* 1: records were acknowledged after the last checkpoint was sent */
  /* an slp_save_request: whether the user has asked for a checkpoint, and whether it was sent */
  uint8_t request;
  uint64_t at_us; /* when the next checkpoint is due; 0: not set yet */
} slp_lease_save;

/* The end of the shard, and the child shards (kids). end.c writes both. */
typedef struct slp_lease_end_part {
  uint8_t reached;      /* 1: the shard's last record was handed out, and `kids` are its children */
  slp_shard_desc *kids; /* descriptions of the children; owned, one block */
  slp_str *names;       /* ids of the children; owned */
  /* kids_n: number of children. made_n: children whose rows exist */
  size_t kids_n, made_n;
  /* when this worker asked for a listing because no listing had one of the children; 0: it has not asked */
  uint64_t listing_us;
  /* in layouts where workers steal leases: when this worker asked for the row of a child's other parent; 0:
   * it has not asked */
  uint64_t asked_us;
} slp_lease_end_part;

/* How the lease is given up. release.c does it. */
typedef struct slp_lease_release_part {
  uint8_t why; /* slp_release_reason */
  /* In RELEASING and UNRELEASED. 1: the user was told that this worker reads the shard, and was not yet told
   * that it has stopped. */
  uint8_t was_open;
  uint64_t deadline_us; /* in DRAINING: until when the worker waits for acknowledgements */
  slp_instance to;      /* the worker that gets the lease */
} slp_lease_release_part;

/* What is known of the successor, the worker that gets the lease when this worker leaves. leave.c proposes
 * it. */
typedef struct slp_lease_succession {
  uint8_t freed; /* 1: this worker is leaving and has freed the lease; it proposes a successor */
  slp_member *successor;
} slp_lease_succession;

struct slp_lease {
  slp_list touched; /* in slp_due.touched, while the lease is to be stepped soon */
  /* in slp_worker_leases.turns, while the lease waits because too many writes are under way */
  slp_list turn;
  slp_fleet *f;
  slp_str shard; /* owned */
  slp_lease_state state;
  uint8_t idle_minutes; /* for how many minutes in a row the lease has not concerned this worker */
  slp_write op;         /* the lease's one write at a time */
  void (*on_answer)(slp_write *op); /* called when `op` is answered */
  slp_lease_want want;
  slp_lease_image row;
  slp_lease_poll_times poll;
  slp_lease_own own;
  slp_lease_gate gate;
  slp_lease_save save;
  slp_lease_end_part end;
  slp_lease_release_part release;
  slp_lease_succession succession;
  uint64_t parked_us; /* in PARKED: when the lease was parked */
  /* the strategy's memory for this lease, which follows this struct in the same block */
  void *guest;
};

typedef struct slp_worker_leases { /* all leases that this worker knows */
  slp_map all;                     /* slp_lease by shard id */
  slp_former former;               /* numbers of leases that no longer concern this worker (former.h) */
  /* slp_leases_forget does nothing before this time */
  uint64_t forget_us;
  size_t writes; /* how many writes on leases are under way */
  /* leases that wait until fewer writes are under way, the one that has waited longest first */
  slp_list turns;
  uint64_t version; /* version of the assignment that was last taken in */
  /* number of leases of the whole fleet, as its leader says; 0: the leader does not say */
  uint64_t of_fleet;
  uint8_t unknown_kids; /* 1: a shard ended, and the stream's listing had no children of it */
} slp_worker_leases;

#endif
