/* assignment.h - which leases this worker should read. The leader writes that to the assignment row of
 * each worker. The row is a hint: ownership moves only by writes on the row of the lease. */
#ifndef SLP_LEASE_ASSIGNMENT_H
#define SLP_LEASE_ASSIGNMENT_H

#include "lease/read.h"

typedef struct slp_assignment {
  uint64_t saw_us; /* when slp_assignment_saw last took a row in; a read that was sent earlier is repeated */
  slp_read read;
  uint8_t again;    /* the row must be read again: after the read that is under way, or at the next poll */
  uint8_t short_of; /* out of memory for some leases of the row, so the row must be read again */
} slp_assignment;

void slp_assignment_init(slp_fleet *f);
void slp_assignment_stop(slp_fleet *f);
void slp_assignment_free(slp_fleet *f);
/* Takes the row in if its version is newer. For a row that came with a read of many rows, or with the
 * answer to a write. */
void slp_assignment_saw(slp_fleet *f, const slp_assignment_row *row);
void slp_assignment_read(slp_fleet *f); /* reads the row now; if a read is under way, again after it */
/* called at a poll: reads the row again if the last read failed or was incomplete */
void slp_assignment_retry(slp_fleet *f);

#endif
