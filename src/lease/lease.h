/* lease.h - one lease as its worker sees it: its state, the last known contents of its row, and the one write
 * that may be under way. (lease.c, ownership.c, end.c, checkpoint.c, release.c)
 *
 * "Its row" is the row of the lease in the table. "The processor" reads the shard (processor.h). "Claim": a
 * worker writes into the row that it wants the lease from a living owner. "Wanted": the lease is assigned to
 * this worker, inherited from a parent shard, or chosen by the strategy (slp_lease_wanted). To "step" a
 * lease: to do what is due for it in its present state (slp_lease_step).
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

#include "base/map.h"
#include "base/repeat.h"
#include "base/states.h"
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
  SLP_RELEASE_LEAVE,    /* the worker stops, or no other worker waits for the lease any more */
  SLP_RELEASE_STALL,    /* the shard made no progress here, so another worker should try */
  SLP_RELEASE_REFUSED,  /* the service refuses the position, so no worker should try for a while */
  SLP_RELEASE_PARK      /* no worker should read the shard until an operator releases it */
} slp_release_reason;

/* The reasons why this worker wants the lease, or does not. lease.c uses them. */
typedef struct slp_lease_want {
  /* 1: the leader assigned the lease to this worker; in a fleet without a leader: this worker chose it */
  uint8_t assigned;
  uint8_t named;     /* 1: the assignment that is just being taken in has the lease */
  uint8_t inherited; /* 1: this worker has read the shard's parent to its end */
  /* The shard made no progress here. Until this time this worker does not want the lease, unless a newer
   * assignment than shunned_assignment has it. 0: there is no such time. */
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
  /* When this worker decided to take the lease from this owner and epoch; it now waits for a proof of its own
   * life, or for its turn to write. 0: it has not decided to. */
  uint64_t take_us;
  uint8_t ended; /* 1: some worker has read the shard to its end */
  /* The row's epoch when the shard ended. If the row's epoch is greater, an operator has set the position
   * back. */
  uint64_t ended_epoch;
} slp_lease_image;

/* The times at which something must be done about the lease. row_poll.c uses them. */
typedef struct slp_lease_poll_times {
  uint64_t row_us;   /* when the lease's row must be read; SLP_NEVER: it need not be read */
  uint64_t step_us;  /* when slp_lease_step must run for the lease; SLP_NEVER: only after an event */
  uint64_t often_us; /* until this time the lease's row is read often */
} slp_lease_poll_times;

/* The ownership that this worker has now, or had last. lease.c begins and ends it. */
typedef struct slp_lease_own {
  uint64_t epoch; /* the epoch of this ownership, which its records carry */
  /* The epoch in the row after this worker's last write. If each lease has a counter (guest layouts), that
   * counter. */
  uint64_t row_epoch;
  /* when this ownership began; a read that was sent before says nothing about it */
  uint64_t since_us;
  uint64_t released_epoch; /* epochs below this are given up: this worker never reads with them again */
  /* When this worker sent the write that creates the row with this worker as its owner. 0: it sent none, or
   * has seen the row since. */
  uint64_t made_us;
  slp_position begin; /* where this ownership began to read the shard */
  slp_position saved; /* the position in the row, as far as this worker knows */
  /* the same position as the row spells it, if the row's number may have other leading zeros; otherwise
   * NONE */
  slp_position odd;
  /* how far the shard was behind its tip when slp_lease_mark was last called, in ms; -1: not known */
  int64_t behind_ms;
  /* least time between two TAKEs of the lease, for a table that forgets which worker took it */
  slp_paced takes;
} slp_lease_own;

/* What this worker knows of the parents of a shard whose lease is in WAITING. ownership.c uses it. */
typedef enum slp_parent_state {
  SLP_PARENT_UNFINISHED,
  SLP_PARENT_ENDED,
  SLP_PARENT_MISSING
} slp_parent_state;
typedef struct slp_lease_gate {
  uint8_t parents[2]; /* what this worker knows of each parent from its row; an slp_parent_state */
  uint32_t wait_ms;   /* after this time, in ms, the parents' rows are read again */
  /* when this worker asked for a listing of the stream because a parent has no row; 0: it has not asked */
  uint64_t listing_us;
  /* when this worker asked for a listing because the row has one parent or none; 0: it has not asked */
  uint64_t asked_us;
  uint8_t known; /* 1: a listing has shown that these are all parents */
} slp_lease_gate;

/* The checkpoints of the lease. checkpoint.c writes them. */
typedef enum slp_save_request { SLP_SAVE_NONE, SLP_SAVE_ASKED, SLP_SAVE_SENT } slp_save_request;
typedef struct slp_lease_save {
  uint8_t dirty; /* 1: records were acknowledged after the last checkpoint was sent */
  /* slp_save_request: whether the user wants a checkpoint now */
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
  /* In RELEASING, UNRELEASED: 1: the user was told that this worker reads the shard, and not yet that it has
   * stopped. */
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
  uint64_t parked_us; /* PARKED: since when */
  /* memory of the strategy for this lease; it follows this struct in the same block; NULL: none */
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
void slp_leases_init(slp_fleet *f);
void slp_leases_stop(slp_fleet *f);
void slp_leases_free(slp_fleet *f);
slp_lease *slp_lease_each(slp_fleet *f, size_t *at);
uint32_t slp_leases_held(slp_fleet *f); /* returns the number of leases in SLP_LEASE_HELD */
/* sets the number of leases of the whole fleet */
void slp_leases_of_fleet(slp_fleet *f, uint64_t n);
/* returns the version of the assignment that was last taken in; 0: none was */
uint64_t slp_leases_version(const slp_fleet *f);
void slp_leases_set_version(slp_fleet *f, uint64_t version);

/* ---- lease.c: what is known of a lease ---------------------------------------------------------------- */

/* returns NULL if this worker does not know the lease */
slp_lease *slp_lease_get(slp_fleet *f, slp_str shard);
/* Returns the lease, and creates it if needed. NULL: no memory, or `shard` is not a valid shard id. */
slp_lease *slp_lease_make(slp_fleet *f, slp_str shard);
void slp_lease_free(slp_lease *l);
/* Replaces leases that have not concerned this worker for some minutes by their numbers (former.h), and
 * forgets the numbers after an hour. To be called every minute, or more often, but not while a read of rows
 * is under way. */
void slp_leases_forget(slp_fleet *f);

/* The only function that changes the state of a lease. Ends the process if the change is not allowed; clears
 * what belongs only to the old state. */
void slp_lease_move(slp_lease *l, slp_lease_state to);
void slp_lease_drop_kids(slp_lease *l);
static inline int slp_lease_in(const slp_lease *l, slp_set states) { return slp_set_has(states, l->state); }

int slp_lease_wanted(const slp_lease *l);
/* For fleets without a leader. slp_lease_choose: this worker's rule has chosen the lease. slp_lease_unchoose:
 * the rule no longer chooses it. slp_lease_forget: this worker does not want the lease, for whatever
 * reason. */
void slp_lease_choose(slp_lease *l);
void slp_lease_unchoose(slp_lease *l);
void slp_lease_forget(slp_lease *l);
/* To be called because the shard made no progress here: this worker does not want the lease for the time
 * `us`, unless a newer assignment has it. */
void slp_lease_shun(slp_lease *l, uint64_t us);
void slp_lease_unwant(slp_lease *l); /* the lease is neither assigned to this worker nor inherited any more */
/* to be called when this worker has read the shard's parent to its end */
void slp_lease_inherit(slp_lease *l);
/* To take in a new assignment: call slp_lease_assign for each lease in it, then slp_lease_assigned for every
 * lease that is known. keep, 1: a part of the assignment could not be read, so leases that are not in the
 * other part stay assigned. */
void slp_lease_assign(slp_lease *l);
void slp_lease_assigned(slp_lease *l, int keep);
/* If the lease is assigned to this worker although its shard is known to have ended: reads its row again. */
void slp_lease_doubt_end(slp_lease *l);

/* returns 1 if a read or write has shown that the lease has a row */
int slp_lease_seen(slp_fleet *f, slp_str shard);
/* to be called when this worker has written the END of the shard with this epoch */
void slp_lease_ended(slp_lease *l, uint64_t epoch);
/* takes the shard's parents from a listing; returns 0 or SLP_ENOMEM */
int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d);
/* Remembers what the row said when it was read or written, at done_us. Returns 0 or SLP_ENOMEM. */
int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us);
/* Sets own.odd: the position as the row spells it, if its number has other leading zeros than the canonical
 * text. position: as it was read from this worker's row. */
void slp_lease_note_odd(slp_lease *l, const slp_position *position);
/* Touches all leases in WAITING, so that they are stepped soon. */
void slp_leases_touch_waiting(slp_fleet *f);
/* makes slp_lease_step run for the lease at at_us or earlier */
void slp_lease_step_at(slp_lease *l, uint64_t at_us);
/* at most this many writes on leases are under way at once; heartbeats of workers do not count */
#define SLP_LEASE_WRITES_MAX 64
/* Returns 1 if another write on a lease may be sent now: as few are under way as the table's capacity
 * allows. */
int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind);
/* steps the lease as soon as slp_lease_may_write allows another write */
void slp_lease_wait_turn(slp_lease *l);
/* Touches the leases in the queue that may write now. Returns 1 if more of them could be touched at once. */
int slp_leases_next_turns(slp_fleet *f);
/* Sends l->op. It is a write on this lease, unless l->op.i.shard is set to another shard. Returns 0 if too
 * many writes are under way; the lease is then stepped later. */
int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op));

/* begins an ownership of the lease by this worker, with this epoch and from this position */
void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position);
/* begins the ownership that the write `op` has taken, with its epoch and position */
void slp_lease_begin_write(slp_lease *l, const slp_write *op);
/* Ends the ownership of the lease, if this worker has one, and moves it to IDLE. why: what the processor and
 * the user are told. */
void slp_lease_gone(slp_lease *l, slp_shutdown_reason why);

/* ---- checkpoint.c -------------------------------------------------------------------------------------- */

/* sets *ret to the position up to which all records are acknowledged */
void slp_lease_mark(slp_lease *l, slp_position *ret);
/* returns 1 if there is nothing that a checkpoint could save */
int slp_lease_clean(slp_lease *l);
int slp_lease_save_due(slp_lease *l); /* sends a checkpoint if one is due; returns 1 if it was sent */
/* asks for a checkpoint now, because the user wants it */
void slp_lease_save_now(slp_lease *l);
/* returns 1 until the checkpoint of slp_lease_save_now is in the table */
int slp_lease_is_saving(const slp_lease *l);
/* sends a checkpoint now, whether it is due or not; returns 1 if it was sent */
int slp_lease_put(slp_lease *l);

/* ---- release.c ----------------------------------------------------------------------------------------- */

/* Sends the write that gives the lease up. Whatever the answer is, this ownership is over, and the processor
 * stops reading the shard. */
void slp_lease_release(slp_lease *l, slp_release_reason why);
/* takes the next step of giving the lease up */
void slp_lease_release_step(slp_lease *l);
/* Releases a lease whose row says that this worker owns it, with an epoch that this worker has given up. That
 * epoch must not be used again. */
void slp_lease_release_again(slp_lease *l, const slp_lease_row *row);

/* ---- end.c --------------------------------------------------------------------------------------------- */

/* in ENDING: creates the row of the next child or, if all rows exist, writes the END */
void slp_lease_end(slp_lease *l);
/* keeps a copy of the children; returns 0, or SLP_ENOMEM and keeps no child */
int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n);

/* ---- ownership.c --------------------------------------------------------------------------------------- */

/* does what is due for the lease in its present state */
void slp_lease_step(slp_lease *l);
/* To be called when this worker is about to create the row with itself as the owner. The answer may get lost,
 * and another worker can ask for the lease only if its owner knows that it owns it. So this worker reads the
 * row until it sees that the row exists. */
void slp_lease_makes(slp_lease *l);
/* Reads the lease's row now, because assignments have changed. Does nothing unless this worker wants the
 * lease, owns it, or has a claim in its row. */
void slp_lease_alert(slp_lease *l);
/* Takes the lease: writes this worker as its owner, if the row still has the owner and epoch that were last
 * read. */
void slp_lease_take(slp_lease *l);
/* To be called when a proof of life was answered: takes the leases that waited for it. */
void slp_leases_proven(slp_fleet *f);
void slp_lease_claim(slp_lease *l); /* writes a claim: asks the owner that was last read for the lease */
/* puts the claim that was last read into the conditions of a write */
void slp_lease_quote_claim(const slp_lease *l, slp_operation *i);
/* To be called when a list of rows shows the row of a lease that is assigned to this worker: takes the lease,
 * asks for it, waits, or forgets it. */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row);
/* To be called when a consistent read of the lease's row was answered. row NULL: the lease has no row. */
void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us);
/* In WAITING: to be called when the row of a parent was read. which: 0 or 1, the parent. row NULL: the parent
 * has no row. */
void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row);

#endif
