/* leave.h - a clean stop: drain and save; then, where a leader assigns, propose successors, notify,
 * resign, go.
 *
 *   NOT -> DRAIN -> LIST -> PROPOSE -> PROPOSING -> NOTIFY -> NOTIFYING -+-> RESIGN -> RESIGNING
 *                     |                                                  |                   |
 *                     +-- nothing to propose ----------------------------+                   v
 *                                                                        +-- if it did not -> GO
 *                                                                            lead             |
 *                                                                                    LEFT <- GOING
 *
 * Each step begins at an event of its own, so NOTIFY is decided and NOTIFYING is under way. A limit ends it
 * from everywhere: UNDONE. Where nobody leads, a worker that has drained is out. */
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
  SLP_LEAVE_UNDONE /* out, and not all that was to be written is known to be */
} slp_leave_phase;

typedef struct slp_leave {
  slp_leave_phase phase;
  uint8_t led; /* when it began to leave */
  slp_timer timer;
} slp_leave;

void slp_leave_init(slp_fleet *f);
void slp_leave_stop(slp_fleet *f);
void slp_leave_step(slp_fleet *f);
void slp_leave_successors(slp_fleet *f); /* drained: names successors, notifies, resigns, goes */
int slp_leave_undone(const slp_fleet *f);

#endif
