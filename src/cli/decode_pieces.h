/* decode_pieces.h - the loop that the decoders lz4, zstd and brotli share. It reserves memory in a buffer
 * that has a maximum, and bounds the work of a slice. Each decoder brings a function that unpacks one piece
 * with its library. */
#ifndef SLP_CLI_DECODE_PIECES_H
#define SLP_CLI_DECODE_PIECES_H

#include "base/buf.h"
#include "cli/decoder_table.h"

#define SLP_PIECE 65536u /* a slice unpacks about this many bytes */

/* Unpacks one piece: writes at most `room` bytes to `out` and sets *ret_made, which is 0 before, to their
 * number. Returns 1 while more pieces may come, 0 at the end, or an error as slp_decoder.step does. */
typedef int slp_make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]);

/* Unpacks pieces until they have SLP_PIECE bytes together, or until there were many small ones. Returns the
 * same as slp_decoder.step. Returns SLP_ELIMIT only if the text unpacks to at least one byte more than `ret`
 * may hold. */
int slp_decode_pieces(slp_buf *ret, slp_make_piece *make, void *state, char why[SLP_DECODER_WHY]);

#endif
