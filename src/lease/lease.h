/* lease.h - one lease as its worker sees it: its state, the last known contents of its row, and the one write
 * that may be under way. (lease.c, ownership.c, end.c, checkpoint.c, release.c)
 *
 * "Its row" is the row of the lease in the table. "The processor" reads the shard (processor.h). "Claim": a
 * worker writes into the row that it wants the lease from a living owner. "Wanted": slp_lease_wanted.
 *
 * The states. Every state but IDLE also leads to IDLE when the row shows another owner or epoch, or when the
 * worker is evicted or ends:
 *
 *          wanted           taken           parents ended         end handed out         acknowledged
 *   IDLE --------> WANTED --------> WAITING ---------------> OWNED ---------------> ENDING ------> CLOSING
 *    |             ^    |            ^   |                     |                     |  ^             |
 *    | claimed     |    v claimed    |   |                     | must be given up    |  |             v
 *   EXPECTED ---> CLAIMED -----------+   |                     v                     |  | over       IDLE
 *                                        |                  DRAINING <---------------+  | in time
 *                      must be given up  |          too late |  | all given back        |
 *                                        |                   |  v                       |
 *                                        |                   | DRAINED, DRAINING -------+
 *                                        v                   |  |  |
 *              UNRELEASED <---------- RELEASING <------------+--+  +---> PARKED ---> RELEASING
 *               |      |  unchanged      |
 *               v      v                 v
 *           WAITING   IDLE              IDLE
 *
 *   IDLE        The lease does not concern this worker.
 *               -> WANTED when the lease is assigned, inherited or chosen; EXPECTED when its row has a claim
 *               of this worker, or when this worker is creating the row with itself as the owner
 *   EXPECTED    This worker does not want the lease. But its earlier claim, or the row that it is creating,
 *               may still make it the owner, so it reads the row.
 *               -> CLAIMED when the lease is wanted again; IDLE when the row is read and has no claim of this
 *               worker
 *   WANTED      The row is read. A lease that is free or belongs to a dead worker is taken; a lease of a
 *               living worker is claimed. -> CLAIMED when the claim is written
 *   CLAIMED     The row is read, and the lease is taken when it can be. If the lease is no longer wanted, it
 *               stays CLAIMED until the row is read.
 *               -> EXPECTED or IDLE then; WANTED when the row is gone
 *   From these four: -> WAITING when the row says that this worker is the owner; UNRELEASED when it says so
 *               with an epoch that this worker has given up; CLAIMED when this worker took the lease and must
 *               read the row first
 *   WAITING     This worker owns the lease, and reads the rows of the parent shards.
 *               -> OWNED when the parents are ended and the processor has opened the shard; RELEASING when
 *               the worker leaves or another worker claims the lease
 *   OWNED       The shard is read, and checkpoints are written.
 *               -> ENDING when the shard's last record was handed out; DRAINING when the lease must be given
 *               up: another worker claims it, this worker leaves, the shard made no progress, or no worker
 *               should read it
 *   DRAINING    No more records are handed out, and the worker waits for the user's acknowledgements.
 *               -> DRAINED when all have come; RELEASING when the time for them is over
 *   DRAINED     The worker waits for the write that is under way.
 *               -> RELEASING
 *   From both:  -> ENDING when everything is acknowledged, to the shard's end; PARKED when no worker should
 *               read the shard and the layout of the row can't say so
 *   PARKED      The worker keeps the lease and renews its counter, so that nobody reads the shard.
 *               -> RELEASING when the worker leaves
 *   ENDING      The rows of the child shards are created, and the worker waits for the last
 *               acknowledgements.
 *               -> CLOSING when the END is sent; DRAINING when the lease must be given up while the user still
 *               has records; RELEASING when the worker leaves and the time for acknowledgements is over
 *   CLOSING     The END, the last write of an ended shard, is under way.
 *               -> IDLE when it is in the table; ENDING when it was refused and the row is unchanged
 *   RELEASING   The write that gives the lease up was sent. Whatever the answer, this ownership never reads
 *               again.
 *               -> IDLE when the write is in the table; UNRELEASED when it was refused and the row is
 *               unchanged
 *   UNRELEASED  The lease is released again. If it is wanted, it is taken with a higher epoch instead, which
 *               no late copy of a release can touch.
 *               -> IDLE when it is released; WAITING when it is taken (or CLAIMED, as above) */
#ifndef SLP_LEASE_LEASE_H
#define SLP_LEASE_LEASE_H

#include "base/repeat.h"
#include "base/map.h"
#include "lease/due.h"
#include "lease/former.h"
#include "lease/members.h"

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

/* Sets of states, for slp_lease_in. */
#define SLP_LEASE_BIT(state) (1u << (state))
#define SLP_LEASE_UNSOUGHT (SLP_LEASE_BIT(SLP_LEASE_IDLE) | SLP_LEASE_BIT(SLP_LEASE_EXPECTED))
#define SLP_LEASE_SOUGHT (SLP_LEASE_BIT(SLP_LEASE_WANTED) | SLP_LEASE_BIT(SLP_LEASE_CLAIMED))
/* The processor has the shard open. */
#define SLP_LEASE_OPEN                                                                                     \
  (SLP_LEASE_BIT(SLP_LEASE_OWNED) | SLP_LEASE_BIT(SLP_LEASE_DRAINING) | SLP_LEASE_BIT(SLP_LEASE_DRAINED) | \
   SLP_LEASE_BIT(SLP_LEASE_ENDING) | SLP_LEASE_BIT(SLP_LEASE_CLOSING))
/* The lease is this worker's, and its last write was not sent yet. Its row must be kept alive. */
#define SLP_LEASE_HELD                                                  \
  (SLP_LEASE_BIT(SLP_LEASE_WAITING) | SLP_LEASE_BIT(SLP_LEASE_PARKED) | \
   (SLP_LEASE_OPEN & ~SLP_LEASE_BIT(SLP_LEASE_CLOSING)))
/* The lease is this worker's, as far as this worker knows. */
#define SLP_LEASE_MINE                                                                      \
  (SLP_LEASE_HELD | SLP_LEASE_BIT(SLP_LEASE_CLOSING) | SLP_LEASE_BIT(SLP_LEASE_RELEASING) | \
   SLP_LEASE_BIT(SLP_LEASE_UNRELEASED))

/* Why a lease is given up. As long as nothing was begun, a later reason replaces an earlier one. */
typedef enum slp_release_reason {
  SLP_RELEASE_NONE,
  SLP_RELEASE_HANDOVER, /* another worker has claimed it */
  SLP_RELEASE_LEAVE,    /* the worker stops, or nobody waits for the lease any more */
  SLP_RELEASE_STALL,    /* no progress; another worker should try */
  SLP_RELEASE_REFUSED,  /* the service refuses the position; nobody should try for a while */
  SLP_RELEASE_PARK      /* nobody should read it until an operator says so */
} slp_release_reason;

/* Why this worker should have the lease: lease.c. */
typedef struct slp_lease_want {
  uint8_t assigned;            /* the leader assigned it; where nobody assigns, this worker has chosen it */
  uint8_t named;               /* the assignment that is being taken in names it */
  uint8_t inherited;           /* this worker has read its parent to the end */
  uint64_t shunned_us;         /* no progress was made here: it is not wanted until this time, */
  uint64_t shunned_assignment; /* or until an assignment is newer than this version */
} slp_lease_want;

/* The row of the lease, as it was last read or written: lease.c. */
typedef struct slp_lease_image {
  slp_instance owner, claim;
  uint64_t owner_us, claim_us; /* when this owner, this claimant was first seen */
  uint64_t epoch, claim_version;
  uint8_t claim_asks; /* 1: the claimant asked by itself; 0: a leader named it as the next owner */
  int64_t rate_bytes;
  uint32_t refused_n; /* as slp_lease_row has it */
  slp_position position;
  slp_str parents[2]; /* owned */
  /* when this worker first meant to take it from this owner and epoch; it now waits for a proof of life or
   * for its turn. 0: not yet */
  uint64_t take_us;
  uint8_t ended;        /* some worker has read the shard to its end */
  uint64_t ended_epoch; /* the row's epoch then; if the row has a greater one, an operator has set it back */
} slp_lease_image;

/* When something must be done about the lease: poll.c. */
typedef struct slp_lease_poll_times {
  uint64_t row_us;   /* when its row is read; SLP_NEVER: not needed */
  uint64_t step_us;  /* when it is stepped; SLP_NEVER: not by time */
  uint64_t often_us; /* its row is read often until then */
} slp_lease_poll_times;

/* The ownership that this worker has, or had last: lease.c. */
typedef struct slp_lease_own {
  uint64_t epoch; /* passed on with the records */
  /* of the row after this worker's last write: the same as epoch, or the value of a counter */
  uint64_t row_epoch;
  uint64_t since_us;       /* when it began; what was read before tells nothing about it */
  uint64_t released_epoch; /* ownerships with a lower epoch were given up */
  /* when the row was sent to be created with this worker as the owner; 0: it was not, or the row was seen */
  uint64_t made_us;
  slp_position begin; /* where it began to read */
  slp_position saved; /* the row's position, as far as is known */
  slp_position odd;   /* the same position if the row may spell it with other leading zeros; otherwise NONE */
  int64_t behind_ms;  /* how far behind its tip the shard was at the last mark; -1: not known */
  slp_paced takes;    /* bounds repeated takes, for a table that forgets who took the lease */
} slp_lease_own;

/* WAITING: what is known of the parents: ownership.c. */
typedef enum slp_parent_state {
  SLP_PARENT_UNFINISHED,
  SLP_PARENT_ENDED,
  SLP_PARENT_MISSING
} slp_parent_state;
typedef struct slp_lease_gate {
  uint8_t parents[2];  /* slp_parent_state of each, from their rows */
  uint32_t wait_ms;    /* time between two reads of their rows */
  uint64_t listing_us; /* when a listing was asked for because a parent has no row; 0: it was not */
  uint64_t asked_us;   /* when a listing was asked for because the row names one parent at most */
  uint8_t known;       /* the parents are known from a listing as well */
} slp_lease_gate;

/* Checkpoints: checkpoint.c. */
typedef enum slp_save_request { SLP_SAVE_NONE, SLP_SAVE_ASKED, SLP_SAVE_SENT } slp_save_request;
typedef struct slp_lease_save {
  uint8_t dirty;   /* records were acknowledged since the last checkpoint was sent */
  uint8_t request; /* slp_save_request: the user wants what is acknowledged to be in the table */
  uint64_t at_us;  /* when the next checkpoint is due; 0: not drawn yet */
} slp_lease_save;

/* The end of the shard, and its children: end.c. */
typedef struct slp_lease_end_part {
  uint8_t reached;      /* its last record was handed out, and `kids` are its children */
  slp_shard_desc *kids; /* owned, one block */
  slp_str *names;       /* ids of the kids; owned */
  size_t kids_n, made_n;
  /* when a listing was asked for because no listing had one of the kids; 0: it was not */
  uint64_t listing_us;
  uint64_t asked_us; /* stealing: when the row of a kid's other parent was asked for; 0: it was not */
} slp_lease_end_part;

/* How the lease is given up: release.c. */
typedef struct slp_lease_release_part {
  uint8_t why; /* slp_release_reason */
  /* RELEASING, UNRELEASED: the user was told that the shard is read, and not yet that it no longer is */
  uint8_t was_open;
  uint64_t deadline_us; /* DRAINING: how long to wait for acknowledgements */
  slp_instance to;      /* the worker that gets it */
} slp_lease_release_part;

/* The worker that gets the lease when this one leaves: leave.c. */
typedef struct slp_lease_succession {
  uint8_t freed; /* the leaving worker has freed it, and names a successor */
  slp_member *successor;
} slp_lease_succession;

struct slp_lease {
  slp_list touched; /* in slp_due.touched: will be stepped */
  slp_list turn;    /* in slp_worker_leases.turns: waits because too many writes are under way */
  slp_fleet *f;
  slp_str shard; /* owned */
  slp_lease_state state;
  uint8_t idle_minutes;             /* for how many minutes it has not concerned this worker */
  slp_write op;                     /* the lease's one write at a time */
  void (*on_answer)(slp_write *op); /* takes the outcome of op */
  slp_lease_want want;
  slp_lease_image row;
  slp_lease_poll_times poll;
  slp_lease_own own;
  slp_lease_gate gate;
  slp_lease_save save;
  slp_lease_end_part end;
  slp_lease_release_part release;
  slp_lease_succession succession;
  uint64_t parked_us; /* PARKED: since when */
  void *guest;        /* what the strategy keeps of it, behind it in its block */
};

typedef struct slp_worker_leases { /* of one worker */
  slp_map all;                     /* slp_lease */
  slp_former former;               /* numbers of leases that no longer concern this worker */
  uint64_t forget_us;              /* when such leases are looked for again */
  size_t writes;                   /* writes of leases that are under way */
  slp_list turns;                  /* leases that wait until fewer writes are under way, oldest first */
  uint64_t version;                /* of the assignment that was taken in last */
  uint64_t of_fleet;               /* leases of the whole fleet, as its leader says; 0: it does not say */
  uint8_t unknown_kids;            /* a shard ended and the stream named no children */
} slp_worker_leases;
void slp_leases_init(slp_fleet *f);
void slp_leases_stop(slp_fleet *f);
void slp_leases_free(slp_fleet *f);
slp_lease *slp_lease_each(slp_fleet *f, size_t *at);
uint32_t slp_leases_held(slp_fleet *f); /* leases in SLP_LEASE_HELD */
void slp_leases_of_fleet(slp_fleet *f, uint64_t n);
uint64_t slp_leases_version(const slp_fleet *f); /* of the assignment that was taken in last; 0: none was */
void slp_leases_set_version(slp_fleet *f, uint64_t version);

/* ---- lease.c: what is known of a lease ---------------------------------------------------------------- */

slp_lease *slp_lease_get(slp_fleet *f, slp_str shard);  /* NULL: not known */
slp_lease *slp_lease_make(slp_fleet *f, slp_str shard); /* NULL: no memory, or not a valid shard id */
void slp_lease_free(slp_lease *l);
/* Reduces leases that have not concerned this worker for some minutes to their numbers, and forgets these
 * after an hour. Does so once a minute, however often it is called. No read of rows may be under way. */
void slp_leases_forget(slp_fleet *f);

/* Changes the state; only this does. Checks that the change is allowed, and clears what belongs to the old
 * state alone. */
void slp_lease_move(slp_lease *l, slp_lease_state to);
void slp_lease_drop_kids(slp_lease *l);
static inline int slp_lease_in(const slp_lease *l, unsigned states) { return states >> l->state & 1; }

int slp_lease_wanted(const slp_lease *l);
/* For fleets without a leader. choose: this worker's own rule has chosen the lease. unchoose: the rule no
 * longer chooses it. forget: this worker does not want it. */
void slp_lease_choose(slp_lease *l);
void slp_lease_unchoose(slp_lease *l);
void slp_lease_forget(slp_lease *l);
void slp_lease_shun(slp_lease *l, uint64_t us);
void slp_lease_unwant(slp_lease *l);  /* neither assigned nor inherited any more */
void slp_lease_inherit(slp_lease *l); /* this worker has read its parent to the end */
/* Take in a new assignment: slp_lease_assign for each lease that it names, then slp_lease_assigned once for
 * every lease. keep: the assignment could not be read whole, so leases it does not name stay assigned. */
void slp_lease_assign(slp_lease *l);
void slp_lease_assigned(slp_lease *l, int keep);
void slp_lease_doubt_end(slp_lease *l); /* if it is assigned and ended, its row is read again */

int slp_lease_seen(slp_fleet *f, slp_str shard);    /* a read or write has shown that there is a row */
void slp_lease_ended(slp_lease *l, uint64_t epoch); /* this worker has written its end */
/* takes the parents from a listing; returns 0 or SLP_ENOMEM */
int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d);
/* returns 0 or SLP_ENOMEM */
int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us);
/* position: as this worker's row spells it */
void slp_lease_note_odd(slp_lease *l, const slp_position *position);
void slp_leases_touch_waiting(slp_fleet *f); /* something that these leases wait for has changed */
void slp_lease_step_at(slp_lease *l, uint64_t at_us);
#define SLP_LEASE_WRITES_MAX 64 /* writes of leases at once; heartbeats of workers do not count */
/* Returns 1 if one more lease may be written now, by what the table grants. */
int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind);
void slp_lease_wait_turn(slp_lease *l); /* steps it as soon as slp_lease_may_write allows */
/* Touches leases whose turn it is. Returns 1 if even more may be touched now. */
int slp_leases_next_turns(slp_fleet *f);
/* Sends l->op, a write of this lease unless l->op names another shard. Returns 0 if too many writes are under
 * way; the lease is then stepped later. */
int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op));

void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position); /* an ownership begins */
/* the same, with the numbers of the write that took it */
void slp_lease_begin_write(slp_lease *l, const slp_write *op);
void slp_lease_gone(slp_lease *l, slp_shutdown_reason why); /* its ownership is over, or there was none */

/* ---- checkpoint.c -------------------------------------------------------------------------------------- */

void slp_lease_mark(slp_lease *l, slp_position *ret); /* how far everything is acknowledged */
int slp_lease_clean(slp_lease *l);                    /* returns 1 if there is nothing to save */
int slp_lease_save_due(slp_lease *l);                 /* returns 1 if a checkpoint was due and was sent */
void slp_lease_save_now(slp_lease *l);                /* the user wants it saved */
int slp_lease_is_saving(const slp_lease *l);          /* that is not in the table yet */
int slp_lease_put(slp_lease *l); /* sends a checkpoint now, due or not; returns 1 if it was sent */

/* ---- release.c ----------------------------------------------------------------------------------------- */

/* Gives the lease up. The ownership is over whatever the answer, and the processor stops reading. */
void slp_lease_release(slp_lease *l, slp_release_reason why);
void slp_lease_release_step(slp_lease *l);
/* Releases a lease whose row names this worker in an epoch that was given up. Such an epoch may not be used
 * again. */
void slp_lease_release_again(slp_lease *l, const slp_lease_row *row);

/* ---- end.c --------------------------------------------------------------------------------------------- */

void slp_lease_end(slp_lease *l); /* ENDING: creates the row of the next child, or writes the end */
/* SLP_ENOMEM: no child is kept */
int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n);

/* ---- ownership.c --------------------------------------------------------------------------------------- */

void slp_lease_step(slp_lease *l);
/* Notes that the row is about to be created with this worker as the owner. The answer may be lost, and a
 * worker that wants the lease can only ask an owner that knows that it is one. So this worker reads the row
 * until it sees it. */
void slp_lease_makes(slp_lease *l);
/* Reads the row now, because assignments have changed. Only for a lease that is asked for, held, or may come
 * by a claim. */
void slp_lease_alert(slp_lease *l);
void slp_lease_take(slp_lease *l);    /* takes it from the owner and epoch last read */
void slp_leases_proven(slp_fleet *f); /* a proof of life was answered: takes what waited for it */
void slp_lease_claim(slp_lease *l);   /* asks the owner last read for it */
/* puts the claim last read into a write's condition */
void slp_lease_quote_claim(const slp_lease *l, slp_operation *i);
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row);
/* Takes the answer of a consistent read of the lease's row. row is NULL if there is none. */
void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us);
void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row);

#endif
