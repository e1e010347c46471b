/* assignment.h - which leases this worker should read, from the row of assignments that the leader writes.
 * The row is a hint: a lease moves only by its own row. */
#ifndef SLP_LEASE_ASSIGNMENT_H
#define SLP_LEASE_ASSIGNMENT_H

#include "lease/read.h"

typedef struct slp_assignment {
  uint64_t saw_us; /* when the row was last seen by another way; a read that was sent earlier is repeated */
  slp_read read;
  uint8_t again;    /* read the row again: after the read under way, or at the next poll */
  uint8_t short_of; /* there was no memory for some leases of the row */
} slp_assignment;

void slp_assignment_init(slp_fleet *f);
void slp_assignment_stop(slp_fleet *f);
void slp_assignment_free(slp_fleet *f);
/* Takes a row that was read among others, or that the answer to a write showed. */
void slp_assignment_saw(slp_fleet *f, const slp_assignment_row *row);
void slp_assignment_read(slp_fleet *f);  /* reads it now, or again after the read that is under way */
void slp_assignment_retry(slp_fleet *f); /* at a poll: reads it if the last read failed or was incomplete */

#endif
