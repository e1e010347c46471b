/* assignment.h - what the leader wants this worker to read, from its row of assignments. A hint: a lease
 * moves only by its own row. */
#ifndef SLP_LEASE_ASSIGNMENT_H
#define SLP_LEASE_ASSIGNMENT_H

#include "lease/read.h"

typedef struct slp_assignment {
  uint64_t saw_us; /* it was last seen elsewhere then: an older read of the row is repeated */
  slp_read read;
  uint8_t again;    /* it is to be read again: after the read that is under way, or at the next poll */
  uint8_t short_of; /* memory, for some of its leases */
} slp_assignment;

void slp_assignment_init(slp_fleet *f);
void slp_assignment_stop(slp_fleet *f);
void slp_assignment_free(slp_fleet *f);
/* It was read among other rows, or a write's answer shows it. */
void slp_assignment_saw(slp_fleet *f, const slp_assignment_row *row);
void slp_assignment_read(slp_fleet *f);  /* now, or again after the read that is under way */
void slp_assignment_retry(slp_fleet *f); /* at a poll: if the last read left something to be asked */

#endif
