/* decode_pieces.h - shared by the decoders that unpack piece by piece. Makes room in a buffer that has a
 * maximum, and bounds the work of a slice. Each decoder gives a function that makes one piece with its
 * library. */
#ifndef SLP_CLI_DECODE_PIECES_H
#define SLP_CLI_DECODE_PIECES_H

#include "cli/decoder_table.h"

#define SLP_PIECE 65536u /* a slice makes about this many bytes */

/* Makes one piece: writes at most `room` bytes to `out` and their number to *ret_made, which is 0 before.
 * Returns 1 while there may be more, 0 at the end, or an error as slp_decoder.step does. */
typedef int slp_make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]);

/* Makes pieces until they are SLP_PIECE bytes together, or until there were many small ones. Returns what
 * slp_decoder.step returns. SLP_ELIMIT comes only if there is a byte more than `ret` may hold. */
int slp_decode_pieces(slp_buf *ret, slp_make_piece *make, void *state, char why[SLP_DECODER_WHY]);

#endif
