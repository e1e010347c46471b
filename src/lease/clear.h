/* clear.h - the `clear` attribute of a lease's row. It says up to which time the shard is known to have no
 * further record after the lease's position.
 *
 *   MS:NUMBER     MS: that time. NUMBER: the position's sequence number
 *
 * The attribute tells about the stream, so it is true for every worker that reads the row. Programs that
 * do not know the attribute change the position alone. So the attribute is void when its NUMBER is not the
 * one of the position. Pure: no input but the arguments. */
#ifndef SLP_LEASE_CLEAR_H
#define SLP_LEASE_CLEAR_H

#include "core/position.h"

#define SLP_CLEAR_TEXT 160

/* Writes the attribute of position p to out. Returns its length; 0: p has nothing to tell. */
size_t slp_clear_write(const slp_position *p, char out[SLP_CLEAR_TEXT]);
/* sets p->mark.clear_ms from the attribute, unless the attribute is damaged or void */
void slp_clear_read(slp_str text, slp_position *p);

#endif
