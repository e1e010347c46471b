/* decode_pieces.h - what decoders share that unpack piece by piece: room in a buffer that has a maximum, and
 * slices of bounded work. A decoder of a library gives a function that makes one piece. */
#ifndef SLP_CLI_DECODE_PIECES_H
#define SLP_CLI_DECODE_PIECES_H

#include "cli/decoder_table.h"

#define SLP_PIECE 65536u

/* Writes at most `room` bytes to `out`, and their number to *ret_made, which is 0 before. Returns 1 while
 * there may be more, 0 at the end, or an error; see slp_decoder.step. */
typedef int slp_make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]);

/* Has pieces made until they are SLP_PIECE bytes together, or until there were many small ones. Returns what
 * slp_decoder.step returns; SLP_ELIMIT only when a byte would come that `ret` may not hold. */
int slp_decode_pieces(slp_buf *ret, slp_make_piece *make, void *state, char why[SLP_DECODER_WHY]);

#endif
