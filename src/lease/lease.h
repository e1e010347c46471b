/* lease.h - one lease as its worker sees it: its state, the last known contents of its row, and the one write
 * that may be under way. (lease.c, ownership.c, end.c, checkpoint.c, release.c)
 *
 * Words:
 *   its row     the row of the lease in the table
 *   ownership   the time from when this worker takes the lease until it gives the lease up or loses it
 *   epoch       a number in the row that grows with each new owner
 *   processor   what reads the shard and hands its records out (processor.h)
 *   claim       the name of a worker, written into the row: that worker wants the lease from its living owner
 *   wanted      the lease is assigned to this worker, inherited from a parent shard or chosen by the strategy
 *   to step     to do what is due for the lease in its present state (slp_lease_step)
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
 *               -> WANTED when the lease is wanted; EXPECTED when its row has a claim of this worker, or when
 *               this worker is creating the row with itself as the owner
 *   EXPECTED    This worker does not want the lease. But its earlier claim, or the row that it is creating,
 *               may still make this worker the owner, so the worker reads the row.
 *               -> CLAIMED when the lease is wanted again; IDLE when the row is read and has no claim of this
 *               worker
 *   WANTED      The row is read. A lease that is free or belongs to a dead worker is taken; a lease of a
 *               living worker is claimed. -> CLAIMED when the claim is written
 *   CLAIMED     The row is read, and the lease is taken when it is free or its owner is dead.
 *               -> WANTED when the row is gone; EXPECTED or IDLE when the lease is no longer wanted and the
 *               row was read
 *   From these four: -> WAITING when the row says that this worker is the owner; UNRELEASED when the row says
 *               so with an epoch that this worker has given up; CLAIMED when this worker took the lease, but
 *               the answer did not show the row, so the row must be read first
 *   WAITING     This worker owns the lease, and reads the rows of the parent shards.
 *               -> OWNED when the parents are ended and the processor has opened the shard; RELEASING when
 *               the worker leaves, another worker claims the lease, or a hold (hold.h) or a pause begins
 *   OWNED       The shard is read, and checkpoints are written.
 *               -> ENDING when the shard's last record was handed out; DRAINING when the lease must be given
 *               up: another worker claims it, this worker leaves, the shard made no progress, or no worker
 *               should read the shard (slp_release_reason)
 *   DRAINING    No more records are handed out, and the worker waits for the user's acknowledgements.
 *               -> DRAINED when all have come; RELEASING when the time for them is over
 *   DRAINED     The worker waits for the write that is under way.
 *               -> RELEASING
 *   From both:  -> ENDING when everything is acknowledged, to the shard's end; PARKED when no worker should
 *               read the shard, and the layout of the row has no attribute that says so
 *   PARKED      The worker keeps the lease and renews it, so that no other worker reads the shard.
 *               -> RELEASING when the worker leaves
 *   ENDING      The rows of the child shards are created, and the worker waits for the last
 *               acknowledgements.
 *               -> CLOSING when the END is sent; DRAINING when the lease must be given up while the user
 *               still has records; RELEASING when the worker leaves and the time for acknowledgements is
 *               over
 *   CLOSING     The END, the last write of an ended shard, is under way.
 *               -> IDLE when it is in the table; ENDING when it was refused and the row is unchanged
 *   RELEASING   The write that gives the lease up was sent. Whatever the answer is, this worker never reads
 *               the shard again with this epoch.
 *               -> IDLE when the write is in the table; UNRELEASED when it was refused and the row is
 *               unchanged
 *   UNRELEASED  The lease is released again. If the lease is wanted, it is taken with a higher epoch instead;
 *               a late copy of a release can't change a row with a higher epoch.
 *               -> IDLE when it is released; WAITING when it is taken (or CLAIMED, as above) */
#ifndef SLP_LEASE_LEASE_H
#define SLP_LEASE_LEASE_H

#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/write.h"

void slp_leases_init(slp_fleet *f);
void slp_leases_stop(slp_fleet *f);
void slp_leases_free(slp_fleet *f);
slp_lease *slp_lease_each(slp_fleet *f, size_t *at);
uint32_t slp_leases_held(slp_fleet *f); /* returns the number of leases in SLP_LEASE_HELD */
/* Returns the number of leases that the table may name as this worker's: in SLP_LEASE_MINE, with a write that
 * has no answer yet (such as TAKE), or to be freed by this worker's LEAVE. */
uint32_t slp_leases_unreleased(slp_fleet *f);
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

/* The only function that changes the state of a lease. Ends the process if the change is not allowed. Clears
 * the members of the lease that count only in the old state. */
void slp_lease_move(slp_lease *l, slp_lease_state to);
void slp_lease_drop_kids(slp_lease *l);
static inline int slp_lease_in(const slp_lease *l, slp_set states) { return slp_set_has(states, l->state); }

/* returns 1 if the lease is wanted (see above) and may be taken now; 0 also while a hold is on (hold.h) */
int slp_lease_wanted(const slp_lease *l);
/* For fleets without a leader. slp_lease_choose: the strategy has chosen the lease for this worker.
 * slp_lease_unchoose: the strategy no longer chooses the lease. slp_lease_forget: this worker no longer wants
 * the lease, for whatever reason, and the state becomes IDLE. */
void slp_lease_choose(slp_lease *l);
void slp_lease_unchoose(slp_lease *l);
void slp_lease_forget(slp_lease *l);
/* To be called when the shard made no progress here. For the time `us` this worker does not want the lease,
 * unless a newer assignment assigns the lease to it. */
void slp_lease_shun(slp_lease *l, uint64_t us);
void slp_lease_unwant(slp_lease *l); /* marks the lease as neither assigned to this worker nor inherited */
/* to be called when this worker has read the shard's parent to its end */
void slp_lease_inherit(slp_lease *l);
/* To take in a new assignment: call slp_lease_assign for each lease in it, then slp_lease_assigned for every
 * lease that is known. keep, 1: a part of the assignment could not be read, so leases that are not in the
 * other part stay assigned. */
void slp_lease_assign(slp_lease *l);
void slp_lease_assigned(slp_lease *l, int keep);
/* Reads the row of the lease again if the lease is assigned to this worker although its shard is known to
 * have ended. */
void slp_lease_doubt_end(slp_lease *l);

/* returns 1 if a read or write has shown that the lease has a row */
int slp_lease_seen(slp_fleet *f, slp_str shard);
/* to be called when this worker has written the END of the shard with this epoch */
void slp_lease_ended(slp_lease *l, uint64_t epoch);
/* takes the shard's parents from a listing; returns 0 or SLP_ENOMEM */
int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d);
/* Takes the contents of the row, which was read or written at done_us, into l->row. Returns 0 or
 * SLP_ENOMEM. */
int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us);
/* Sets own.odd to the position as the row spells it, if its number has other leading zeros than the canonical
 * text. position: as it was read from the lease's row. */
void slp_lease_note_odd(slp_lease *l, const slp_position *position);
/* Touches all leases in WAITING, so that they are stepped soon. */
void slp_leases_touch_waiting(slp_fleet *f);
/* makes slp_lease_step run for the lease at at_us or earlier */
void slp_lease_step_at(slp_lease *l, uint64_t at_us);
/* at most this many writes on leases are under way at once; heartbeats of workers do not count */
#define SLP_LEASE_WRITES_MAX 64
/* Returns 1 if another write on a lease may be sent now, because few enough are under way for the table's
 * capacity. */
int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind);
/* steps the lease as soon as slp_lease_may_write allows another write */
void slp_lease_wait_turn(slp_lease *l);
/* Touches as many leases of the queue of slp_lease_wait_turn as may write now. Returns 1 if the queue still
 * has leases, and still more writes may be sent. */
int slp_leases_next_turns(slp_fleet *f);
/* Sends l->op. That write is for the row of this lease, unless l->op.i.shard is set to another shard. Returns
 * 0 if too many writes are under way; the lease is then stepped later. */
int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op));

/* begins an ownership of the lease by this worker, with this epoch and from this position */
void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position);
/* begins the ownership of a lease that the write `op` has taken, with the epoch and position of that write */
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

/* Sends the write that gives the lease up. Whatever the answer is, this worker no longer reads the shard with
 * this epoch; the processor closes the shard. */
void slp_lease_release(slp_lease *l, slp_release_reason why);
/* takes the next step of giving the lease up */
void slp_lease_release_step(slp_lease *l);
/* Releases a lease whose row says that this worker owns it, with an epoch that this worker has given up. The
 * worker must not read with that epoch again. */
void slp_lease_release_again(slp_lease *l, const slp_lease_row *row);

/* ---- end.c --------------------------------------------------------------------------------------------- */

/* in ENDING: creates the row of the next child or, if all rows exist, writes the END */
void slp_lease_end(slp_lease *l);
/* keeps a copy of the children; returns 0, or SLP_ENOMEM and keeps no child */
int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n);

/* ---- ownership.c --------------------------------------------------------------------------------------- */

/* does what is due for the lease in its present state */
void slp_lease_step(slp_lease *l);
/* To be called when this worker is about to create the row with itself as the owner. The answer may get lost.
 * Other workers can get the lease only if this worker knows that it is the owner. So it reads the row until
 * the row has been seen. */
void slp_lease_makes(slp_lease *l);
/* Reads the lease's row now, because assignments have changed. Does nothing unless this worker wants the
 * lease, owns it, or has a claim in its row. */
void slp_lease_alert(slp_lease *l);
/* To be called when the hold was switched on or off (hold.h): a lease whose shard is open begins to be given
 * up, or a lease that is wanted is taken. */
void slp_lease_hold(slp_lease *l);
/* Takes the lease: writes this worker as its owner, if the row still has the owner and epoch that were last
 * read. */
void slp_lease_take(slp_lease *l);
/* To be called when a proof of life was answered: takes the leases that waited for it. */
void slp_leases_proven(slp_fleet *f);
/* writes a claim into the row: asks its owner, as it was last read, for the lease */
void slp_lease_claim(slp_lease *l);
/* sets i->claim and i->claim_asks to the claim that was last read, for layouts whose writes need it */
void slp_lease_quote_claim(const slp_lease *l, slp_operation *i);
/* To be called when a list of rows shows the row of a lease that is assigned to this worker: takes the lease,
 * claims it, waits, or forgets it. */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row);
/* To be called when a consistent read of the lease's row was answered. row NULL: the lease has no row. */
void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us);
/* In WAITING: to be called when the row of a parent was read. which: 0 or 1, the parent. row NULL: the parent
 * has no row. */
void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row);

/* The next functions are called by the processor. They copy strings. A call for a shard that is not open is
 * ignored. */
/* To be called when slp_processor_ops.mark would return another position than before. */
void slp_fleet_progressed(slp_fleet *f, slp_str shard);
/* to be called when the user has given back all records of a shard that drains */
void slp_fleet_drained(slp_fleet *f, slp_str shard);
/* To be called when the last record of the shard was handed out. children: its child shards; n 0: the stream
 * lists none. */
void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n);
/* To be called when the shard made no progress although the user did not pause it: another worker should
 * try. */
void slp_fleet_stalled(slp_fleet *f, slp_str shard);
/* To be called when the service refuses the shard's position: no worker should try for a while
 * (refused.h). */
void slp_fleet_refused(slp_fleet *f, slp_str shard);
/* to be called when no worker should read the shard until an operator releases it */
void slp_fleet_park(slp_fleet *f, slp_str shard);

#endif
