/* deadline_part.h - the lease deadline of a worker; deadline.c owns it. */
#ifndef SLP_LEASE_DEADLINE_PART_H
#define SLP_LEASE_DEADLINE_PART_H

#include "host/host.h"

typedef enum slp_proof {
  SLP_PROOF_GOOD, /* the last proof is recent enough, or the worker has not joined yet */
  SLP_PROOF_LATE, /* the deadline has passed, so the worker is suspended */
  SLP_PROOF_EVICTED
} slp_proof;

typedef struct slp_deadline {
  slp_proof proof;
  /* When the last successful proof was sent. If each lease has a proof of its own: the oldest of these times
   * over all open leases, or earlier; SLP_NEVER: no lease is open. */
  uint64_t good_us;
  /* when the next proof must be sent */
  uint64_t beat_at_us;
  /* a part of the worker needs a proof that was sent at this time or later; 0: none was ever asked for */
  uint64_t wanted_us;
  /* timer: runs at the deadline. beat_timer: runs when the next proof is due. */
  slp_timer timer, beat_timer;
} slp_deadline;

#endif
