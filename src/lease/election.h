/* election.h - the role of a worker: whether it leads or follows, what a follower reads regularly, and how
 * the leader is notified of changes. "The row of leadership" says which worker leads, "the leader's row" is
 * that worker's own row. Each worker's row has a change counter, which other workers raise to notify the
 * leader.
 *
 *             joined, resumed        the row of leadership has another owner, which lives
 *   NONE -------------------------> SEEKS -------------------------------> FOLLOWS
 *    ^                              |  ^ ^                                    |
 *    |     elected, or this worker  |  | +------------------------------------+
 *    |     owns the row             |  |    the leader is evicted, or the row must be read again
 *    |                              v  | the row has another owner
 *    +---------------------------- LEADS
 *
 * From every state a worker goes to NONE when it is suspended, is evicted or leaves. */
#ifndef SLP_LEASE_ELECTION_H
#define SLP_LEASE_ELECTION_H

#include "core/position.h"
#include "lease/election_part.h"
#include "lease/lease_types.h"
#include "lease/write.h"

/* leads: called with 1 when this worker begins to lead, with 0 when it stops leading. news: called when this
 * worker leads and another worker has notified it of a change. */
void slp_election_init(slp_fleet *f, void (*leads)(slp_fleet *f, int on), void (*news)(slp_fleet *f));
void slp_election_stop(slp_fleet *f);
void slp_election_free(slp_fleet *f);

/* NONE -> SEEKS: to be called when the worker has joined, or is resumed */
void slp_election_begin(slp_fleet *f);
/* To be called when the leader has read all rows. there: 1 if the row of leadership was among them. */
void slp_election_listed(slp_fleet *f, int there);
/* reads the row of leadership after in_us, and acts on it */
void slp_election_seek(slp_fleet *f, uint64_t in_us);
void slp_election_drop(slp_fleet *f); /* gives up leading or following: the role becomes NONE */
int slp_role_is(const slp_fleet *f, slp_role role);
uint64_t slp_election_epoch(const slp_fleet *f);
/* returns 1 if this worker created the row of leadership, so that no worker led before it */
int slp_election_made(const slp_fleet *f);
/* returns the id of slp_election.leader; empty if there is none */
slp_str slp_election_leader_id(const slp_fleet *f);
/* sets the fleet's start position, as read from the row of leadership */
void slp_election_set_start(slp_fleet *f, const slp_position *start);
/* Writes into the row of leadership that no worker leads any more. To be called by a leader that leaves; done
 * is called with the outcome. */
void slp_election_resign(slp_fleet *f, void (*done)(slp_write *op));

/* To be called when a change is expected: the leader's row is read often for the next for_us, so that the
 * change is noticed soon. */
void slp_election_alert(slp_fleet *f, uint64_t for_us);
void slp_election_alert_soon(slp_fleet *f); /* reads the leader's row often for a few seconds */
/* To be called when the leader's change counter has changed: reads this worker's assignment, and the rows of
 * its leases that may have changed. */
void slp_election_changed(slp_fleet *f);
/* In LEADS: takes in the change counter of this worker's own row. Returns 1 if another worker has raised
 * it. */
int slp_election_heard(slp_fleet *f, uint64_t changes);
/* returns 1 if the leader's change counter, `changes`, has changed since this worker last acted on it */
int slp_election_differs(const slp_fleet *f, uint64_t changes);

/* raises the change counter in the row of the leader, or of the last leader that is known */
void slp_notify_leader(slp_fleet *f);
/* Does the same as slp_notify_leader, and calls done when the write is answered. If no leader is known, calls
 * done at once. */
void slp_notify_leader_then(slp_fleet *f, void (*done)(slp_fleet *f));

#endif
