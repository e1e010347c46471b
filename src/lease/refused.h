/* refused.h - the back-off of a shard that the service refuses to read.
 *
 * If a position does not exist in the stream, the service refuses it to every worker, for ever. The worker
 * that meets this gives the lease up, and notes in its row how often the service refused, when, and for which
 * position. No worker of the fleet takes the lease until the back-off is over; it grows with each refusal.
 * The note is void when the row has another position, for example after an operator's reset. */
#ifndef SLP_LEASE_REFUSED_H
#define SLP_LEASE_REFUSED_H

#include "lease/schema.h"

#define SLP_REFUSED_TEXT 192

/* Writes the note for a release. Returns its length. */
size_t slp_refused_write(const slp_operation *i, char out[SLP_REFUSED_TEXT]);
/* Sets refused_n and refused_ms of `row` from the note; the row's position must be set. A malformed note is
 * ignored. */
void slp_refused_read(slp_str text, slp_lease_row *row);
/* Returns until when nobody should try, by the clock of the worker that was refused; INT64_MIN: it was not
 * refused. */
int64_t slp_refused_until_ms(const slp_lease_row *row);
/* Returns 1 while nobody should take the lease. If workers' clocks differ by more than the back-off, one may
 * try too early, until the back-off has grown beyond that. */
int slp_refused_waits(const slp_lease_row *row, int64_t wall_ms);

#endif
