/* leave_part.h - an orderly stop; leave.c owns it, and leave.h draws the phases. */
#ifndef SLP_LEASE_LEAVE_PART_H
#define SLP_LEASE_LEAVE_PART_H

#include "host/host.h"

typedef enum slp_leave_phase {
  SLP_LEAVE_NOT,
  SLP_LEAVE_REGISTERS, /* waits for the answer to its registration, until wait_until_us at the latest */
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
  SLP_LEAVE_UNDONE /* the worker has left, but some of its last writes may not be in the table */
} slp_leave_phase;

typedef struct slp_leave {
  slp_leave_phase phase;
  uint8_t led; /* 1: this worker led when it began to leave */
  uint64_t wait_until_us;
  /* runs when the time limit is over, and at wait_until_us */
  slp_timer timer;
} slp_leave;

#endif
