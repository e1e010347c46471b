/* clear.h - a note in the row of a lease: until when the shard is known to have no further record after the
 * lease's position.
 *
 *   MS:NUMBER     NUMBER: the position's sequence number
 *
 * The note is about the stream, so it is true for every worker that reads the row. It is void once the row's
 * position has another number, because programs that do not know the note change the position alone. Pure. */
#ifndef SLP_LEASE_CLEAR_H
#define SLP_LEASE_CLEAR_H

#include "core/position.h"

#define SLP_CLEAR_TEXT 160

/* Writes the note into out. Returns its length; 0: there is nothing to note. */
size_t slp_clear_write(const slp_position *p, char out[SLP_CLEAR_TEXT]);
void slp_clear_read(slp_str text, slp_position *p);

#endif
