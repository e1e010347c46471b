/* assignment.h - which leases this worker should read, as the leader has written it to this worker's
 * assignment row. The row is a hint: leases change their owner only by writes on their own rows. */
#ifndef SLP_LEASE_ASSIGNMENT_H
#define SLP_LEASE_ASSIGNMENT_H

#include "lease/lease_types.h"
#include "lease/schema.h"

void slp_assignment_init(slp_fleet *f);
void slp_assignment_stop(slp_fleet *f);
void slp_assignment_free(slp_fleet *f);
/* Takes in the assignment row, if its version is newer than the last one. The row came with a read of many
 * rows, or with the answer to a write. */
void slp_assignment_saw(slp_fleet *f, const slp_assignment_row *row);
/* reads the assignment row now; if a read of it is under way, then again after that read */
void slp_assignment_read(slp_fleet *f);
/* To be called whenever rows that are due are read (row_poll.c): reads the assignment row again if its last
 * read failed or was incomplete. */
void slp_assignment_retry(slp_fleet *f);

#endif
