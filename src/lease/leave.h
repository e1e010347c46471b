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
 * write is under way. When the time limit is over, every state leads to UNDONE. Where no leader assigns, a
 * worker has left as soon as it has drained. */
#ifndef SLP_LEASE_LEAVE_H
#define SLP_LEASE_LEAVE_H

#include "lease/processor.h"

typedef enum slp_leave_phase {
  SLP_LEAVE_NOT,
  SLP_LEAVE_DRAIN,
  SLP_LEAVE_LIST, /* the rows of all workers are being read, to find successors for the leases */
  SLP_LEAVE_PROPOSE,
  SLP_LEAVE_PROPOSING,
  SLP_LEAVE_NOTIFY,
  SLP_LEAVE_NOTIFYING,
  SLP_LEAVE_RESIGN,
  SLP_LEAVE_RESIGNING,
  SLP_LEAVE_GO,
  SLP_LEAVE_GOING,
  /* the worker has left, and its row says so */
  SLP_LEAVE_LEFT,
  SLP_LEAVE_UNDONE /* 1: the worker has left, but some of its last writes may not be in the table */
} slp_leave_phase;

typedef struct slp_leave {
  slp_leave_phase phase;
  uint8_t led; /* 1: this worker led when it began to leave */
  /* runs when the time limit is over */
  slp_timer timer;
} slp_leave;

void slp_leave_init(slp_fleet *f);
void slp_leave_stop(slp_fleet *f);
/* Does what is due. To be called after every event that may end a phase. */
void slp_leave_step(slp_fleet *f);
/* To be called when the worker has drained: begins to propose successors, notify the leader, resign, and mark
 * the row as left. */
void slp_leave_successors(slp_fleet *f);
/* returns 1 in UNDONE */
int slp_leave_undone(const slp_fleet *f);

#endif
