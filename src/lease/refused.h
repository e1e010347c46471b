/* refused.h - the back-off of a shard that the service refuses to read.
 *
 * A position that is none of the stream is refused to every worker, for ever. The worker that meets it gives
 * the lease up and notes in its row how often that was, when, and for which position. No worker of the fleet
 * takes the lease before the back-off is over, which grows from time to time. The note is void as soon as the
 * row has another position, as after an operator's reset, whoever wrote that. */
#ifndef SLP_LEASE_REFUSED_H
#define SLP_LEASE_REFUSED_H

#include "lease/schema.h"

#define SLP_REFUSED_TEXT 192

/* Writes the note of a release. Returns its length. */
size_t slp_refused_write(const slp_operation *i, char out[SLP_REFUSED_TEXT]);
/* Sets refused_n and refused_ms of `row`, whose position is set. A text that makes no sense is no note. */
void slp_refused_read(slp_str text, slp_lease_row *row);
/* Until when nobody tries again, by the clock of the worker that was refused; INT64_MIN: it was not. */
int64_t slp_refused_until_ms(const slp_lease_row *row);
/* Returns 1 while nobody is to take the lease. Of workers whose clocks differ by more than a span one may try
 * too early, until the span has grown beyond that. */
int slp_refused_waits(const slp_lease_row *row, int64_t wall_ms);

#endif
