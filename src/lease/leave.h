/* leave.h - an orderly stop. The worker drains its shards and saves their positions. If the application has
 * a leader, the worker then proposes successors for its leases and notifies the leader. It resigns if it
 * leads itself. At last it marks its own row as left.
 *
 *   NOT -> DRAIN -> LIST -> PROPOSE -> PROPOSING -> NOTIFY -> NOTIFYING -+-> RESIGN -> RESIGNING
 *                     |                                                  |                   |
 *                     +-- nothing to propose ----------------------------+                   v
 *                                                                        +-- not the leader -> GO
 *                                                                                             |
 *                                                                                    LEFT <- GOING
 *
 * A state like NOTIFY means that its work begins at the next event; a state like NOTIFYING means that its
 * write is under way. A worker that is told to leave while its registration is under way waits for the answer
 * in REGISTERS, between NOT and DRAIN. When the time limit is over, every state from DRAIN on leads to
 * UNDONE. In an application without a leader, a worker has left as soon as it has drained. */
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
