/* clear.h - the note of a lease that says until when what came behind its position is accounted for:
 *
 *   MS:NUMBER     NUMBER: the position's sequence number
 *
 * It tells of the stream, not of its reader, so it is true whoever reads the row. It is void once the
 * position has another number: programs that do not know it move that alone. Pure. */
#ifndef SLP_LEASE_CLEAR_H
#define SLP_LEASE_CLEAR_H

#include "core/position.h"

#define SLP_CLEAR_TEXT 160

/* Returns how many bytes it has; 0: there is nothing to say. */
size_t slp_clear_write(const slp_position *p, char out[SLP_CLEAR_TEXT]);
void slp_clear_read(slp_str text, slp_position *p);

#endif
