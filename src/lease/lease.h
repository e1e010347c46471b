/* lease.h - one lease as its worker sees it: its life, what is known of its row, its one write at a time.
 * (lease.c, ownership.c, end.c, checkpoint.c)
 *
 * Its life; every state but the first leads to IDLE too, when the row shows another owner or epoch, or the
 * worker is evicted or ends:
 *
 *          wanted           taken           parents ended         end handed out         acknowledged
 *   IDLE --------> WANTED --------> WAITING ---------------> OWNED ---------------> ENDING ------> CLOSING
 *    |             ^    |            ^   |                     |                     |  ^             |
 *    | claimed     |    v claimed    |   |                     | it has to go        |  |             v
 *   EXPECTED ---> CLAIMED -----------+   |                     v                     |  | over       IDLE
 *                                        |                  DRAINING <---------------+  | in time
 *                           it has to go |          too late |  | all given back        |
 *                                        |                   |  v                       |
 *                                        |                   | DRAINED, DRAINING -------+
 *                                        v                   |  |  |
 *              UNRELEASED <---------- RELEASING <------------+--+  +---> PARKED ---> RELEASING
 *               |      |  unchanged      |
 *               v      v                 v
 *           WAITING   IDLE              IDLE
 *
 *   IDLE        Nothing of it concerns this worker.
 *               -> WANTED when it is assigned, inherited or chosen; EXPECTED when a claim stands in its row,
 *               or when this worker is making the row with itself as the owner
 *   EXPECTED    It is not wanted, but such a claim or row may bring it: its row is read.
 *               -> CLAIMED when it is wanted again; IDLE when the row is seen and has no such claim
 *   WANTED      Its row is read: what is free or a dead worker's is taken, a living worker's is claimed.
 *               -> CLAIMED when the claim is written
 *   CLAIMED     The same, and it stays so when it is wanted no more, until its row is read.
 *               -> EXPECTED or IDLE then; WANTED when the row is gone
 *   From these four: -> WAITING when the row is this worker's; UNRELEASED when it is so in an epoch that
 *               this worker has given up; CLAIMED when it was taken and its row has yet to be read
 *   WAITING     The rows of its parents are read.
 *               -> OWNED when they are ended and the processor has it open; RELEASING when the worker
 *               leaves or another one claims it
 *   OWNED       It is read, and checkpoints are written.
 *               -> ENDING when its last record was handed out; DRAINING when it has to go: another worker
 *               claims it, this one leaves, or it made no progress, or nobody is to read it
 *   DRAINING    Nothing more is handed out, and the user's acknowledgements are waited for.
 *               -> DRAINED when all are given; RELEASING when the time for that is over
 *   DRAINED     -> RELEASING
 *   From both:  -> ENDING when everything is acknowledged, to the shard's end; PARKED when nobody is to
 *               read it and the table has no word for that
 *   PARKED      Its counter is renewed, and nobody reads it.
 *               -> RELEASING when the worker leaves
 *   ENDING      The rows of its children are made, and the last acknowledgements waited for.
 *               -> CLOSING when its end is sent; DRAINING when it has to go with records out; RELEASING
 *               when the worker leaves and the time for that is over
 *   CLOSING     Its end is being written.
 *               -> IDLE when it is; ENDING when it was refused and the row is unchanged
 *   RELEASING   The write that gives it up was sent: this ownership never reads again, whatever the answer.
 *               -> IDLE when it is in; UNRELEASED when it was refused and the row is unchanged
 *   UNRELEASED  It is released again; or, when it is wanted, taken anew with a higher epoch, which no late
 *               copy of a release can touch.
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
/* The processor has it open. */
#define SLP_LEASE_OPEN                                                                                     \
  (SLP_LEASE_BIT(SLP_LEASE_OWNED) | SLP_LEASE_BIT(SLP_LEASE_DRAINING) | SLP_LEASE_BIT(SLP_LEASE_DRAINED) | \
   SLP_LEASE_BIT(SLP_LEASE_ENDING) | SLP_LEASE_BIT(SLP_LEASE_CLOSING))
/* The lease is this worker's, and its last write is not sent yet: its row must be kept alive. */
#define SLP_LEASE_HELD                                                  \
  (SLP_LEASE_BIT(SLP_LEASE_WAITING) | SLP_LEASE_BIT(SLP_LEASE_PARKED) | \
   (SLP_LEASE_OPEN & ~SLP_LEASE_BIT(SLP_LEASE_CLOSING)))
/* The lease is this worker's, as far as this worker knows. */
#define SLP_LEASE_MINE                                                                      \
  (SLP_LEASE_HELD | SLP_LEASE_BIT(SLP_LEASE_CLOSING) | SLP_LEASE_BIT(SLP_LEASE_RELEASING) | \
   SLP_LEASE_BIT(SLP_LEASE_UNRELEASED))

/* Why a lease is given up; a later one overrules an earlier one as long as nothing was begun. */
typedef enum slp_release_reason {
  SLP_RELEASE_NONE,
  SLP_RELEASE_HANDOVER, /* another worker has claimed it */
  SLP_RELEASE_LEAVE,    /* the worker stops; or nobody waits for it any more */
  SLP_RELEASE_STALL,    /* no progress: another worker is to try */
  SLP_RELEASE_REFUSED,  /* the service refuses the position: nobody is to try for a while */
  SLP_RELEASE_PARK      /* nobody is to read it until an operator says so */
} slp_release_reason;

/* Why this worker is to have it: lease.c. */
typedef struct slp_lease_want {
  uint8_t assigned;    /* the leader's assignment has it; where nobody assigns, this worker has chosen it */
  uint8_t named;       /* the assignment that is being taken in has it */
  uint8_t inherited;   /* this worker has read its parent to its end */
  uint64_t shunned_us; /* it made no progress here, and is not wanted until then, */
  uint64_t shunned_assignment; /* or until there is a newer assignment than that */
} slp_lease_want;

/* The lease's row, by the last image that was read or written: lease.c. */
typedef struct slp_lease_image {
  slp_instance owner, claim;
  uint64_t owner_us, claim_us; /* when an image first named that owner, that claimant */
  uint64_t epoch, claim_version;
  uint8_t claim_asks; /* the claimant asked; else a leader named it as the next owner */
  int64_t rate_bytes;
  uint32_t refused_n; /* as slp_lease_row has it */
  slp_position position;
  slp_str parents[2];   /* owned */
  uint64_t take_us;     /* this worker first meant to take it as owner and epoch are now, and waits for a
                           proof of life or for its turn; 0: not yet */
  uint8_t ended;        /* it was read to its end, by whatever worker */
  uint64_t ended_epoch; /* the row's then; a greater one was set back by an operator */
} slp_lease_image;

/* When something is to be done about it: poll.c. */
typedef struct slp_lease_poll_times {
  uint64_t row_us;   /* its row is read; SLP_NEVER: no need */
  uint64_t step_us;  /* it is stepped, SLP_NEVER: not by the time */
  uint64_t often_us; /* until then its row is read often */
} slp_lease_poll_times;

/* The ownership that this worker has, or had last: lease.c. */
typedef struct slp_lease_own {
  uint64_t epoch;          /* handed out with the records */
  uint64_t row_epoch;      /* the row's after this worker's last write: the same, or a counter's value */
  uint64_t since_us;       /* what was read before says nothing of it */
  uint64_t released_epoch; /* ownerships of epochs less than this were given up */
  uint64_t made_us;   /* its row was sent to be made with this worker as the owner; 0: no, or it was seen */
  slp_position begin; /* where it began to read */
  slp_position saved; /* the row's position, as far as is known */
  slp_position odd;   /* the same, as long as the row may have it with other zeros in front; else NONE */
  int64_t behind_ms;  /* at the last mark; -1: not known */
  slp_paced takes;    /* a table that forgets who took it is not asked again and again */
} slp_lease_own;

/* WAITING, for its parents: ownership.c. */
typedef enum slp_parent_state {
  SLP_PARENT_UNFINISHED,
  SLP_PARENT_ENDED,
  SLP_PARENT_MISSING
} slp_parent_state;
typedef struct slp_lease_gate {
  uint8_t parents[2];  /* slp_parent_state, by their rows */
  uint32_t wait_ms;    /* between two looks at them */
  uint64_t listing_us; /* a listing was asked for then, because a parent has no row; 0: none */
  uint64_t asked_us;   /* the same, because the row names one parent at most */
  uint8_t known;       /* its parents, by the listing as well */
} slp_lease_gate;

/* Checkpoints: checkpoint.c. */
typedef enum slp_save_request { SLP_SAVE_NONE, SLP_SAVE_ASKED, SLP_SAVE_SENT } slp_save_request;
typedef struct slp_lease_save {
  uint8_t dirty;   /* something was acknowledged since the last checkpoint was sent */
  uint8_t request; /* slp_save_request: the user wants what is acknowledged to be in the table */
  uint64_t at_us;  /* when what is dirty is due; 0: not drawn yet */
} slp_lease_save;

/* The end of the lease's shard, and its children: end.c. */
typedef struct slp_lease_end_part {
  uint8_t reached;      /* its last record was handed out, and these are its children */
  slp_shard_desc *kids; /* owned, one block */
  slp_str *names;       /* of the kids; owned */
  size_t kids_n, made_n;
  uint64_t listing_us; /* a listing was asked for then, because a kid was in none; 0: it was not */
  uint64_t asked_us;   /* stealing: the row of a kid's other parent was asked for; 0: it was not */
} slp_lease_end_part;

/* How it is given up: release.c. */
typedef struct slp_lease_release_part {
  uint8_t why;      /* slp_release_reason */
  uint8_t was_open; /* RELEASING, UNRELEASED: the user was told that it is read, and not yet that it is not */
  uint64_t deadline_us; /* DRAINING: until then acknowledgements are waited for */
  slp_instance to;      /* to whom it is handed over */
} slp_lease_release_part;

/* The worker that gets the lease when this one leaves: leave.c. */
typedef struct slp_lease_succession {
  uint8_t freed; /* the leaving worker made it free: it names a successor */
  slp_member *successor;
} slp_lease_succession;

struct slp_lease {
  slp_list touched; /* in slp_due.touched: to be stepped */
  slp_list turn;    /* in slp_worker_leases.turns: too many writes are under way for its own */
  slp_fleet *f;
  slp_str shard; /* owned */
  slp_lease_state state;
  uint8_t idle_minutes;             /* that it has been nothing to this worker */
  slp_write op;                     /* one write at a time */
  void (*on_answer)(slp_write *op); /* its outcome */
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
  slp_former former;               /* what is kept of those that were something to this worker */
  uint64_t forget_us;              /* when those that are nothing to this worker are counted again */
  size_t writes;                   /* of leases, under way */
  slp_list turns;                  /* leases that are stepped when fewer are, the first one first */
  uint64_t version;                /* of this worker's assignment */
  uint64_t of_fleet;               /* how many the whole fleet has, as its leader tells; 0: it does not */
  uint8_t unknown_kids;            /* a shard ended and the stream did not tell of any children */
} slp_worker_leases;
void slp_leases_init(slp_fleet *f);
void slp_leases_stop(slp_fleet *f);
void slp_leases_free(slp_fleet *f);
slp_lease *slp_lease_each(slp_fleet *f, size_t *at);
uint32_t slp_leases_held(slp_fleet *f); /* how many are SLP_LEASE_HELD */
void slp_leases_of_fleet(slp_fleet *f, uint64_t n);
uint64_t slp_leases_version(const slp_fleet *f); /* of the assignment that was taken in last; 0: none was */
void slp_leases_set_version(slp_fleet *f, uint64_t version);

/* ---- lease.c: what is known of it ---------------------------------------------------------------------- */

slp_lease *slp_lease_get(slp_fleet *f, slp_str shard);  /* NULL: not known */
slp_lease *slp_lease_make(slp_fleet *f, slp_str shard); /* NULL: no memory, or no name of a shard */
void slp_lease_free(slp_lease *l);
/* Leases that have been nothing to this worker for some minutes are reduced to numbers, and after an hour
 * forgotten. It looks at them once a minute, however often it is called. No row may be being read. */
void slp_leases_forget(slp_fleet *f);

/* The only way to another state: one that the table allows. It clears what belonged to the state left. */
void slp_lease_move(slp_lease *l, slp_lease_state to);
void slp_lease_drop_kids(slp_lease *l);
static inline int slp_lease_in(const slp_lease *l, unsigned states) { return states >> l->state & 1; }

int slp_lease_wanted(const slp_lease *l);
/* For fleets without a leader. In turn: this worker's own rule has chosen the lease; no longer chooses it;
 * this worker does not want it. */
void slp_lease_choose(slp_lease *l);
void slp_lease_unchoose(slp_lease *l);
void slp_lease_forget(slp_lease *l);
void slp_lease_shun(slp_lease *l, uint64_t us);
void slp_lease_unwant(slp_lease *l);  /* not assigned, not inherited */
void slp_lease_inherit(slp_lease *l); /* its parent was read to its end by this worker */
/* A new assignment: each lease that it has, then all once. keep: it could not be read whole. */
void slp_lease_assign(slp_lease *l);
void slp_lease_assigned(slp_lease *l, int keep);
void slp_lease_doubt_end(slp_lease *l); /* assigned and ended: its row is read again */

int slp_lease_seen(slp_fleet *f, slp_str shard);    /* an image said that there was a row of it */
void slp_lease_ended(slp_lease *l, uint64_t epoch); /* this worker has written its end */
int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d); /* as it is listed. SLP_ENOMEM */
int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us); /* SLP_ENOMEM */
void slp_lease_note_odd(slp_lease *l, const slp_position *position); /* as this worker's row has it */
void slp_leases_touch_waiting(slp_fleet *f); /* something that they wait for has changed */
void slp_lease_step_at(slp_lease *l, uint64_t at_us);
#define SLP_LEASE_WRITES_MAX 64 /* of leases at once; heartbeats of workers are not counted */
/* 1: not too many of its leases are being written, by what the table grants. */
int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind);
void slp_lease_wait_turn(slp_lease *l); /* it is stepped as soon as slp_lease_may_write */
/* Touches those whose turn it is. Returns 1 if more may be touched at once. */
int slp_leases_next_turns(slp_fleet *f);
/* Sends l->op: of this lease, unless it names another shard. 0: too many are under way, and it is stepped
 * again. */
int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op));

void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position); /* an ownership */
void slp_lease_begin_write(slp_lease *l, const slp_write *op); /* the same, by the write that took it */
void slp_lease_gone(slp_lease *l, slp_shutdown_reason why);    /* its ownership is over, or it is none */

/* ---- checkpoint.c -------------------------------------------------------------------------------------- */

void slp_lease_mark(slp_lease *l, slp_position *ret); /* how far everything is acknowledged */
int slp_lease_clean(slp_lease *l);                    /* nothing is to be saved */
int slp_lease_save_due(slp_lease *l);                 /* 1: a checkpoint was due, and was sent */
void slp_lease_save_now(slp_lease *l);                /* the user wants it saved */
int slp_lease_is_saving(const slp_lease *l);          /* that is not in the table yet */
int slp_lease_put(slp_lease *l);                      /* sends a checkpoint now, due or not; 1: it was sent */

/* ---- release.c ----------------------------------------------------------------------------------------- */

/* The ownership is over whatever the answer; the processor does not read it any more. */
void slp_lease_release(slp_lease *l, slp_release_reason why);
void slp_lease_release_step(slp_lease *l);
/* Releases a lease whose row names this worker in an epoch that was given up. Such an epoch may not be used
 * again. */
void slp_lease_release_again(slp_lease *l, const slp_lease_row *row);

/* ---- end.c --------------------------------------------------------------------------------------------- */

void slp_lease_end(slp_lease *l); /* ENDING: the next of its children, or its end */
int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n); /* SLP_ENOMEM: none are kept */

/* ---- ownership.c --------------------------------------------------------------------------------------- */

void slp_lease_step(slp_lease *l);
/* Notes that the row is about to be made with this worker as the owner. Until this worker sees the row it
 * looks for it: the answer may be lost, and a worker that wants the lease can only ask an owner that knows
 * of it. */
void slp_lease_makes(slp_lease *l);
/* Reads the row now, after assignments have changed, of a lease that is asked for, held, or may come on a
 * claim. */
void slp_lease_alert(slp_lease *l);
void slp_lease_take(slp_lease *l);    /* as its image has it */
void slp_leases_proven(slp_fleet *f); /* a proof of life is answered: takes what waited for it */
void slp_lease_claim(slp_lease *l);   /* the same: asks its owner for it */
void slp_lease_quote_claim(const slp_lease *l, slp_operation *i); /* as the row has it */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row);
/* Takes the answer of a consistent read of the lease's row; row NULL: there is none. */
void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us);
void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row);

#endif
