/* decode_lz4.c - unpacks frames of LZ4 with liblz4. A block of LZ4 without a frame does not contain its
 * unpacked length, so it can't be unpacked. */
#include "cli/decode_lz4.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode_pieces.h"
#include "cli/decoder_table.h"

#if SLP_HAVE_LZ4
#include <lz4frame.h>
#include <stdio.h>

typedef struct lz4_state {
  slp_mem *mem;
  LZ4F_dctx *z;
  slp_str in; /* the part of the text that is not read yet */
} lz4_state;

static void close_lz4(void *state) {
  lz4_state *s = state;
  LZ4F_freeDecompressionContext(s->z);
  slp_free(s->mem, s);
}

static void *open_lz4(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  lz4_state *s = SLP_NEW(mem, lz4_state);
  if (!s) return NULL;
  *s = (lz4_state){.mem = mem, .in = in};
  if (!LZ4F_isError(LZ4F_createDecompressionContext(&s->z, LZ4F_VERSION))) return s;
  slp_free(mem, s);
  return NULL;
}

static int explain_lz4_error(size_t result, char why[SLP_DECODER_WHY]) {
  const char *name = LZ4F_getErrorName(result);
  if (strcmp(name, "ERROR_allocation_failed") == 0) return SLP_ENOMEM;
  if (strcmp(name, "ERROR_contentChecksum_invalid") == 0 || strcmp(name, "ERROR_blockChecksum_invalid") == 0)
    snprintf(why, SLP_DECODER_WHY, "it is damaged: a checksum is wrong");
  return SLP_EBADDATA;
}

/* Unpacks the next piece. The text is a sequence of frames. A frame may be empty or skippable; then it
 * unpacks to no bytes. */
static int make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]) {
  lz4_state *s = state;
  size_t made = room, read = s->in.n;
  size_t result = LZ4F_decompress(s->z, out, &made, s->in.p, &read, NULL);
  if (LZ4F_isError(result)) return explain_lz4_error(result, why);
  *ret_made = made;
  s->in = (slp_str){s->in.p + read, s->in.n - read};
  if (result == 0) return s->in.n > 0;
  /* if all input is read and `out` is not full, the text ends inside a frame */
  return s->in.n == 0 && made < room ? SLP_EBADDATA : 1;
}

static int step_lz4(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  return slp_decode_pieces(ret, make_piece, state, why);
}
#endif

static int is_lz4(slp_str in) { return slp_begins_with(in, "\x04\x22\x4d\x18", 4); }

const slp_decoder slp_decoder_lz4 = {.name = "lz4",
                                     .does = "unpack LZ4 frames",
                                     .damaged = "it is not an LZ4 frame, or it is damaged",
                                     .recognizes = is_lz4,
#if SLP_HAVE_LZ4
                                     .open = open_lz4,
                                     .step = step_lz4,
                                     .close = close_lz4
#else
                                     .needs = "liblz4-dev"
#endif
};
