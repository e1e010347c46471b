/* leave.h - an orderly stop. The worker drains its shards and saves their positions. Where a leader assigns,
 * the worker then proposes successors for its leases, notifies the leader, resigns if it leads itself, and
 * marks its own row as left.
 *
 *   NOT -> DRAIN -> LIST -> PROPOSE -> PROPOSING -> NOTIFY -> NOTIFYING -+-> RESIGN -> RESIGNING
 *                     |                                                  |                   |
 *                     +-- nothing to propose ----------------------------+                   v
 *                                                                        +-- not the leader -> GO
 *                                                                                             |
 *                                                                                    LEFT <- GOING
 *
 * A state like NOTIFY means that its work begins at the next event; a state like NOTIFYING means that its
 * write is under way. In NOT, a worker that is told to leave may wait for the answer to its registration.
 * When the time limit is over, every state leads to UNDONE. Where no leader assigns, a
 * worker has left as soon as it has drained. */
#ifndef SLP_LEASE_LEAVE_H
#define SLP_LEASE_LEAVE_H

#include "lease/lease_types.h"

void slp_leave_init(slp_fleet *f);
void slp_leave_stop(slp_fleet *f);
/* Does what is due in the present phase. To be called after every event that may end a phase. */
void slp_leave_step(slp_fleet *f);
/* To be called when the worker has drained: begins to propose successors, notify the leader, resign, and mark
 * the row as left. */
void slp_leave_successors(slp_fleet *f);
/* returns 1 in UNDONE */
int slp_leave_undone(const slp_fleet *f);

#endif
