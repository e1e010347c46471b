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
 *               -> CLOSING when the END is sent; DRAINING when the lease must be given up while the user
 *               still has records; RELEASING when the worker leaves and the time for acknowledgements is
 *               over
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
/* states in which the processor has the shard open */
#define SLP_LEASE_OPEN                                                                                     \
  (SLP_LEASE_BIT(SLP_LEASE_OWNED) | SLP_LEASE_BIT(SLP_LEASE_DRAINING) | SLP_LEASE_BIT(SLP_LEASE_DRAINED) | \
   SLP_LEASE_BIT(SLP_LEASE_ENDING) | SLP_LEASE_BIT(SLP_LEASE_CLOSING))
/* States in which this worker owns the lease and has not sent its last write. The worker must keep the row
 * alive. */
#define SLP_LEASE_HELD                                                  \
  (SLP_LEASE_BIT(SLP_LEASE_WAITING) | SLP_LEASE_BIT(SLP_LEASE_PARKED) | \
   (SLP_LEASE_OPEN & ~SLP_LEASE_BIT(SLP_LEASE_CLOSING)))
/* states in which this worker owns the lease, as far as this worker knows */
#define SLP_LEASE_MINE                                                                      \
  (SLP_LEASE_HELD | SLP_LEASE_BIT(SLP_LEASE_CLOSING) | SLP_LEASE_BIT(SLP_LEASE_RELEASING) | \
   SLP_LEASE_BIT(SLP_LEASE_UNRELEASED))

/* Why a lease is given up. Until the worker starts to give it up, a reason further down this list replaces
 * a reason above it. */
typedef enum slp_release_reason {
  SLP_RELEASE_NONE,
  SLP_RELEASE_HANDOVER, /* another worker has claimed the lease */
  SLP_RELEASE_LEAVE,    /* the worker stops, or nobody waits for the lease any more */
  SLP_RELEASE_STALL,    /* the shard made no progress here; another worker should try */
  SLP_RELEASE_REFUSED,  /* the service refuses the position; no worker should try for a while */
  SLP_RELEASE_PARK      /* no worker should read the shard until an operator releases it */
} slp_release_reason;

/* The reasons why this worker wants the lease, or does not. lease.c uses them. */
typedef struct slp_lease_want {
  /* the leader assigned the lease; in a fleet without a leader: this worker chose it */
  uint8_t assigned;
  uint8_t named;     /* the assignment that is being taken in contains the lease */
  uint8_t inherited; /* this worker has read the shard's parent to the end */
  /* the shard made no progress here: until this time the lease is not wanted, unless the assignment has
   * another version than shunned_assignment; 0: it is not shunned */
  uint64_t shunned_us;
  /* version of the assignment when shunned_us was set; another version ends the shunning */
  uint64_t shunned_assignment;
} slp_lease_want;

/* What the row of the lease said when it was last read or written. lease.c fills it in. */
typedef struct slp_lease_image {
  slp_instance owner, claim;
  uint64_t owner_us, claim_us; /* when this worker first saw this owner, and this claim */
  uint64_t epoch, claim_version;
  /* 1: the claimant asked for the lease by itself; 0: a leader chose the claimant as the next owner */
  uint8_t claim_asks;
  int64_t rate_bytes;
  uint32_t refused_n; /* how often in a row the service refused the position, as in slp_lease_row */
  slp_position position;
  slp_str parents[2]; /* owned */
  /* when this worker first meant to take the lease from this owner and epoch; it now waits for a proof of
   * life or for its turn. 0: it does not mean to */
  uint64_t take_us;
  uint8_t ended; /* some worker has read the shard to its end */
  /* the row's epoch when the shard ended; if the row has a greater epoch, an operator has set the position
   * back */
  uint64_t ended_epoch;
} slp_lease_image;

/* The times at which something must be done about the lease. row_poll.c uses them. */
typedef struct slp_lease_poll_times {
  uint64_t row_us;   /* when the lease's row must be read; SLP_NEVER: it need not be */
  uint64_t step_us;  /* when the lease must be stepped (slp_lease_step); SLP_NEVER: at no certain time */
  uint64_t often_us; /* until this time the lease's row is read often */
} slp_lease_poll_times;

/* The ownership that this worker has now, or had last. lease.c begins and ends it. */
typedef struct slp_lease_own {
  uint64_t epoch; /* the epoch that the records carry */
  /* the epoch in the row after this worker's last write; where each lease has a counter, the value of the
   * counter */
  uint64_t row_epoch;
  /* when this ownership began; a read that was sent earlier proves nothing about it */
  uint64_t since_us;
  uint64_t released_epoch; /* this worker has given up every ownership with a lower epoch */
  /* when this worker sent the write that creates the row with this worker as the owner; 0: it sent none,
   * or has seen the row since */
  uint64_t made_us;
  slp_position begin; /* where this ownership began to read */
  slp_position saved; /* the position in the row, as far as this worker knows */
  /* `saved`, as the row spells it, if the row may have other leading zeros; otherwise NONE */
  slp_position odd;
  /* how far behind the shard's tip reading was when slp_lease_mark was last called; -1: not known */
  int64_t behind_ms;
  /* bounds how often the lease is taken again, for a table that forgets who took it */
  slp_paced takes;
} slp_lease_own;

/* What this worker knows of the parents of a shard whose lease is in WAITING. ownership.c uses it. */
typedef enum slp_parent_state {
  SLP_PARENT_UNFINISHED,
  SLP_PARENT_ENDED,
  SLP_PARENT_MISSING
} slp_parent_state;
typedef struct slp_lease_gate {
  uint8_t parents[2]; /* slp_parent_state of each parent, from the parents' rows */
  uint32_t wait_ms;   /* time until the parents' rows are read again */
  /* when this worker asked for a listing of the stream because a parent has no row; 0: it did not */
  uint64_t listing_us;
  /* when this worker asked for a listing because the row has at most one parent */
  uint64_t asked_us;
  uint8_t known; /* a listing has confirmed the parents */
} slp_lease_gate;

/* The checkpoints of the lease. checkpoint.c writes them. */
typedef enum slp_save_request { SLP_SAVE_NONE, SLP_SAVE_ASKED, SLP_SAVE_SENT } slp_save_request;
typedef struct slp_lease_save {
  uint8_t dirty; /* records were acknowledged after the last checkpoint was sent */
  /* slp_save_request: whether the user wants a checkpoint now */
  uint8_t request;
  uint64_t at_us; /* when the next checkpoint is due; 0: no time is drawn yet */
} slp_lease_save;

/* The end of the shard, and the child shards (kids). end.c writes both. */
typedef struct slp_lease_end_part {
  uint8_t reached;      /* the shard's last record was handed out, and `kids` are the child shards */
  slp_shard_desc *kids; /* descriptions of the children; owned, one block */
  slp_str *names;       /* ids of the children; owned */
  /* kids_n: number of children. made_n: children whose rows exist */
  size_t kids_n, made_n;
  /* when this worker asked for a listing because no listing had one of the children; 0: it did not */
  uint64_t listing_us;
  /* where workers steal leases: when this worker asked for the row of a child's other parent; 0: it did
   * not */
  uint64_t asked_us;
} slp_lease_end_part;

/* How the lease is given up. release.c does it. */
typedef struct slp_lease_release_part {
  uint8_t why; /* slp_release_reason */
  /* RELEASING, UNRELEASED: the user was told that this worker reads the shard, and not yet that it has
   * stopped */
  uint8_t was_open;
  uint64_t deadline_us; /* DRAINING: when the wait for acknowledgements ends */
  slp_instance to;      /* the worker that gets the lease */
} slp_lease_release_part;

/* The successor that gets the lease when this worker leaves. leave.c proposes it. */
typedef struct slp_lease_succession {
  uint8_t freed; /* this worker is leaving; it has freed the lease, and proposes a successor for it */
  slp_member *successor;
} slp_lease_succession;

struct slp_lease {
  slp_list touched; /* link in slp_due.touched: the lease will be stepped */
  /* link in slp_worker_leases.turns: the lease waits because too many writes are under way */
  slp_list turn;
  slp_fleet *f;
  slp_str shard; /* owned */
  slp_lease_state state;
  uint8_t idle_minutes;             /* for how many minutes the lease has not concerned this worker */
  slp_write op;                     /* the lease's one write at a time */
  void (*on_answer)(slp_write *op); /* called with the outcome of op */
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
  /* memory of the strategy for this lease, in the same block, after this struct; NULL: none */
  void *guest;
};

typedef struct slp_worker_leases { /* all leases that one worker knows */
  slp_map all;                     /* of slp_lease, by shard id */
  slp_former former;               /* numbers of leases that no longer concern this worker */
  /* when slp_leases_forget next looks for leases that no longer concern this worker */
  uint64_t forget_us;
  size_t writes;    /* writes on leases that are under way */
  slp_list turns;   /* leases that wait until fewer writes are under way, the oldest first */
  uint64_t version; /* version of the assignment that was last taken in */
  /* number of leases of the whole fleet, as its leader says; 0: the leader does not say */
  uint64_t of_fleet;
  uint8_t unknown_kids; /* a shard ended, and the stream listed no children of it */
} slp_worker_leases;
void slp_leases_init(slp_fleet *f);
void slp_leases_stop(slp_fleet *f);
void slp_leases_free(slp_fleet *f);
slp_lease *slp_lease_each(slp_fleet *f, size_t *at);
uint32_t slp_leases_held(slp_fleet *f); /* returns the number of leases in SLP_LEASE_HELD */
/* sets the number of leases of the whole fleet */
void slp_leases_of_fleet(slp_fleet *f, uint64_t n);
/* version of the assignment that was last taken in; 0: none was */
uint64_t slp_leases_version(const slp_fleet *f);
void slp_leases_set_version(slp_fleet *f, uint64_t version);

/* ---- lease.c: what is known of a lease ---------------------------------------------------------------- */

slp_lease *slp_lease_get(slp_fleet *f, slp_str shard); /* NULL: this worker does not know the lease */
/* returns the lease, creating it if needed. NULL: no memory, or `shard` is not a valid shard id */
slp_lease *slp_lease_make(slp_fleet *f, slp_str shard);
void slp_lease_free(slp_lease *l);
/* Reduces leases that have not concerned this worker for some minutes to their numbers, and forgets the
 * numbers after an hour. Acts once a minute, however often it is called. No read of rows may be under way. */
void slp_leases_forget(slp_fleet *f);

/* Changes the state; no other function does. Checks that the change is allowed, and clears what belongs to
 * the old state alone. */
void slp_lease_move(slp_lease *l, slp_lease_state to);
void slp_lease_drop_kids(slp_lease *l);
static inline int slp_lease_in(const slp_lease *l, unsigned states) { return states >> l->state & 1; }

int slp_lease_wanted(const slp_lease *l);
/* For fleets without a leader. choose: this worker's own rule has chosen the lease. unchoose: the rule no
 * longer chooses it. forget: this worker does not want the lease, for any reason. */
void slp_lease_choose(slp_lease *l);
void slp_lease_unchoose(slp_lease *l);
void slp_lease_forget(slp_lease *l);
/* The shard made no progress here: this worker does not want the lease for `us`, or until a newer
 * assignment. */
void slp_lease_shun(slp_lease *l, uint64_t us);
void slp_lease_unwant(slp_lease *l);  /* the lease is no longer assigned, nor inherited */
void slp_lease_inherit(slp_lease *l); /* this worker has read the shard's parent to the end */
/* Takes in a new assignment: call slp_lease_assign for each lease in it, then slp_lease_assigned once for
 * every lease that is known. keep: a part of the assignment could not be read, so leases that are not in
 * the readable part stay assigned. */
void slp_lease_assign(slp_lease *l);
void slp_lease_assigned(slp_lease *l, int keep);
/* reads the row again if the lease is assigned although its shard is known to have ended */
void slp_lease_doubt_end(slp_lease *l);

/* returns 1 if a read or write has shown that the lease has a row */
int slp_lease_seen(slp_fleet *f, slp_str shard);
void slp_lease_ended(slp_lease *l, uint64_t epoch); /* this worker has written the END, with this epoch */
/* takes the shard's parents from a listing; returns 0 or SLP_ENOMEM */
int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d);
/* remembers the contents of the row, read or written at done_us; returns 0 or SLP_ENOMEM */
int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us);
/* sets own.odd, if the row spells the position with other leading zeros. position: as read from this
 * worker's row */
void slp_lease_note_odd(slp_lease *l, const slp_position *position);
/* touches the leases in WAITING, because something that they wait for has changed */
void slp_leases_touch_waiting(slp_fleet *f);
/* makes slp_lease_step run at at_us or earlier */
void slp_lease_step_at(slp_lease *l, uint64_t at_us);
/* writes on leases under way at once; heartbeats of workers are not included */
#define SLP_LEASE_WRITES_MAX 64
/* Returns 1 if one more write on a lease may be sent now: not too many are under way for the table's
 * capacity. */
int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind);
void slp_lease_wait_turn(slp_lease *l); /* steps the lease as soon as slp_lease_may_write allows a write */
/* Touches leases whose turn to write it is. Returns 1 if even more may be touched now. */
int slp_leases_next_turns(slp_fleet *f);
/* Sends l->op, a write on this lease, unless l->op.i has the id of another shard. Returns 0 if too many
 * writes are under way; the lease is then stepped later. */
int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op));

/* begins an ownership of this worker, with this epoch, from this position */
void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position);
/* begins an ownership with the epoch and position of `op`, the write that took the lease */
void slp_lease_begin_write(slp_lease *l, const slp_write *op);
/* ends what this worker has of the lease: the ownership is over, or there was none */
void slp_lease_gone(slp_lease *l, slp_shutdown_reason why);

/* ---- checkpoint.c -------------------------------------------------------------------------------------- */

/* sets *ret to the position up to which everything is acknowledged */
void slp_lease_mark(slp_lease *l, slp_position *ret);
/* returns 1 if a checkpoint would have nothing to save */
int slp_lease_clean(slp_lease *l);
int slp_lease_save_due(slp_lease *l); /* returns 1 if a checkpoint was due and was sent */
/* asks for a checkpoint now, because the user wants it */
void slp_lease_save_now(slp_lease *l);
/* returns 1 until the checkpoint of slp_lease_save_now is in the table */
int slp_lease_is_saving(const slp_lease *l);
int slp_lease_put(slp_lease *l); /* sends a checkpoint now, due or not; returns 1 if it was sent */

/* ---- release.c ----------------------------------------------------------------------------------------- */

/* Sends the write that gives the lease up. Whatever the answer, this ownership is over and the processor
 * stops reading. */
void slp_lease_release(slp_lease *l, slp_release_reason why);
/* takes the next step of giving the lease up */
void slp_lease_release_step(slp_lease *l);
/* Releases a lease whose row says that this worker owns it, with an epoch that this worker has given up.
 * Such an epoch may not be used again. */
void slp_lease_release_again(slp_lease *l, const slp_lease_row *row);

/* ---- end.c --------------------------------------------------------------------------------------------- */

void slp_lease_end(slp_lease *l); /* ENDING: creates the row of the next child, or writes the END */
/* keeps a copy of the children; returns 0, or SLP_ENOMEM and keeps no child */
int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n);

/* ---- ownership.c --------------------------------------------------------------------------------------- */

/* does what is due for the lease in its present state */
void slp_lease_step(slp_lease *l);
/* Notes that this worker is about to create the row with itself as the owner. The answer may be lost, and
 * another worker can only ask an owner that knows of its ownership. So this worker reads the row until it
 * sees that it exists. */
void slp_lease_makes(slp_lease *l);
/* Reads the row now, because assignments have changed. Only for a lease that this worker wants or holds,
 * or that its claim may still bring to it. */
void slp_lease_alert(slp_lease *l);
/* writes this worker as the owner, if the row still has the owner and epoch last read */
void slp_lease_take(slp_lease *l);
/* called when a proof of life was answered: takes the leases that waited for the proof */
void slp_leases_proven(slp_fleet *f);
void slp_lease_claim(slp_lease *l); /* asks the owner that was last read for the lease */
/* puts the claim that was last read into the conditions of a write */
void slp_lease_quote_claim(const slp_lease *l, slp_operation *i);
/* the row that shows that the lease is assigned to this worker was read with the rows of others */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row);
/* Takes the answer of a consistent read of the lease's row. row is NULL if the lease has no row. */
void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us);
/* WAITING: takes the answer of a read of the row of parent `which`. row is NULL if the parent has no row. */
void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row);

#endif
