/* leave.h - an orderly stop. The worker drains and saves. If a leader assigns, it then proposes successors
 * for its leases, notifies the leader, resigns if it leads, and marks its row as left.
 *
 *   NOT -> DRAIN -> LIST -> PROPOSE -> PROPOSING -> NOTIFY -> NOTIFYING -+-> RESIGN -> RESIGNING
 *                     |                                                  |                   |
 *                     +-- nothing to propose ----------------------------+                   v
 *                                                                        +-- not the leader -> GO
 *                                                                                             |
 *                                                                                    LEFT <- GOING
 *
 * Each step begins at an event of its own: in NOTIFY it is due, in NOTIFYING it is under way. When the time
 * limit is over, every state leads to UNDONE. Where nobody leads, a worker that has drained is out at
 * once. */
#ifndef SLP_LEASE_LEAVE_H
#define SLP_LEASE_LEAVE_H

#include "lease/processor.h"

typedef enum slp_leave_phase {
  SLP_LEAVE_NOT,
  SLP_LEAVE_DRAIN,
  SLP_LEAVE_LIST, /* the workers are being listed */
  SLP_LEAVE_PROPOSE,
  SLP_LEAVE_PROPOSING,
  SLP_LEAVE_NOTIFY,
  SLP_LEAVE_NOTIFYING,
  SLP_LEAVE_RESIGN,
  SLP_LEAVE_RESIGNING,
  SLP_LEAVE_GO,
  SLP_LEAVE_GOING,
  SLP_LEAVE_LEFT,
  SLP_LEAVE_UNDONE /* out, but some of its last writes may not be in the table */
} slp_leave_phase;

typedef struct slp_leave {
  slp_leave_phase phase;
  uint8_t led; /* this worker led when it began to leave */
  slp_timer timer;
} slp_leave;

void slp_leave_init(slp_fleet *f);
void slp_leave_stop(slp_fleet *f);
void slp_leave_step(slp_fleet *f);
void slp_leave_successors(slp_fleet *f); /* called when drained: names successors, notifies, resigns, goes */
int slp_leave_undone(const slp_fleet *f);

#endif
