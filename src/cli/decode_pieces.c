/* decode_pieces.c - unpacks one slice, which consists of several pieces. */
#include "cli/decode_pieces.h"

#include "base/buf.h"
#include "cli/decoder_table.h"

/* the most pieces in a slice; a piece may unpack to 0 bytes, so counting bytes alone would not bound the
 * work */
#define PIECES_A_SLICE 256

int slp_decode_pieces(slp_buf *ret, slp_make_piece *make, void *state, char why[SLP_DECODER_WHY]) {
  size_t from = ret->n;
  for (int i = 0; i < PIECES_A_SLICE && ret->n - from < SLP_PIECE; i++) {
    /* Takes the next byte when `ret` is full. If no byte comes, the text ends exactly at the limit, which is
     * no error. */
    char beyond;
    size_t room = slp_min_u64(ret->max - ret->n, SLP_PIECE), made = 0;
    if (room && slp_buf_reserve(ret, room) != 0) return SLP_ENOMEM;
    int r = make(state, room ? ret->p + ret->n : &beyond, room ? room : 1, &made, why);
    if (!room && made) return SLP_ELIMIT;
    ret->n += made;
    if (r != 1) return r;
  }
  return 1;
}
