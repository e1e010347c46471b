/* row_poll.h - reads the rows of leases and of their owners. One request reads all rows that are due, that
 * is, whose time to be read again has come (due.h). */
#ifndef SLP_LEASE_ROW_POLL_H
#define SLP_LEASE_ROW_POLL_H

#include "host/host.h"
#include "lease/lease_types.h"

void slp_polls_init(slp_fleet *f);
void slp_polls_stop(slp_fleet *f);
void slp_polls_free(slp_fleet *f);
/* Called when the timer of slp_due runs. Makes slp_lease_step run soon for the leases for which something is
 * due, and reads the rows that are due. */
void slp_polls_run(slp_timer *t);
/* Forgets members and leases that were not needed for long, unless their rows are being read. Called in each
 * shard sync, and by followers. leader: the id of the leader, which is kept. */
void slp_polls_forget(slp_fleet *f, slp_str leader);
void slp_polls_forget_leases(slp_fleet *f); /* for fleets without members: forgets leases only */

#endif
