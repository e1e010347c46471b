/* refused.h - the back-off of a shard that the service refuses to read.
 *
 * If a position does not exist in the stream, the service refuses it to every worker, for ever. A worker that
 * is refused gives the lease up. It writes into the lease's row, in the attribute `refused`, how many times
 * in a row the service has refused, when, and for which position. No worker of the fleet takes the lease
 * until the back-off is over; the back-off grows with each refusal. The attribute is void if the row has
 * another position by now, for example after an operator's reset. */
#ifndef SLP_LEASE_REFUSED_H
#define SLP_LEASE_REFUSED_H

#include "lease/schema.h"

#define SLP_REFUSED_TEXT 192

/* Writes the attribute `refused` for a RELEASE. Returns its length. */
size_t slp_refused_write(const slp_operation *i, char out[SLP_REFUSED_TEXT]);
/* Sets refused_n and refused_ms of `row` from the attribute `refused`; row->position must be set before. A
 * malformed attribute is ignored. */
void slp_refused_read(slp_str text, slp_lease_row *row);
/* Returns the time before which no worker should try, by the clock of the worker that was refused;
 * INT64_MIN: the position was not refused. */
int64_t slp_refused_until_ms(const slp_lease_row *row);
/* Returns 1 while no worker should take the lease. wall_ms: this worker's clock. If the clocks of two workers
 * differ by more than the back-off, a worker may try too early. That ends when the back-off, which grows, is
 * longer than the difference. */
int slp_refused_waits(const slp_lease_row *row, int64_t wall_ms);

#endif
