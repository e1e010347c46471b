/* clear.h - the `clear` attribute of a lease's row: the time clear_ms of the lease's position (core/loss.h).
 * Until that time no record came after the position, or the loss of those that came was reported.
 *   MS:NUMBER    MS: clear_ms, in Unix ms. NUMBER: the position's sequence number
 * The attribute describes the stream, so it is true for every worker that reads the row. Programs that do not
 * know the attribute change the position alone. So the attribute is void if its NUMBER is not that of the
 * position.
 * Pure: no input but the arguments. */
#ifndef SLP_LEASE_CLEAR_H
#define SLP_LEASE_CLEAR_H

#include "core/position.h"

#define SLP_CLEAR_TEXT 160

/* Writes the attribute for position p to out. Returns its length; 0: p has no clear_ms. */
size_t slp_clear_write(const slp_position *p, char out[SLP_CLEAR_TEXT]);
/* Sets p->mark.clear_ms from the attribute, unless the attribute is damaged, or has another number than p. */
void slp_clear_read(slp_str text, slp_position *p);

#endif
