/* decode_zstd.c - unpacks frames of Zstandard with libzstd. */
#include "cli/decode_zstd.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode_pieces.h"
#include "cli/decoder_table.h"

#if SLP_HAVE_ZSTD
#include <stdio.h>
#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd_state {
  slp_mem *mem;
  ZSTD_DCtx *z;
  ZSTD_inBuffer in;
} zstd_state;

static void close_zstd(void *state) {
  zstd_state *s = state;
  ZSTD_freeDCtx(s->z);
  slp_free(s->mem, s);
}

static void *open_zstd(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  zstd_state *s = SLP_NEW(mem, zstd_state);
  if (!s) return NULL;
  *s = (zstd_state){.mem = mem, .z = ZSTD_createDCtx(), .in = {in.p, in.n, 0}};
  if (s->z) return s;
  slp_free(mem, s);
  return NULL;
}

static int explain_zstd_error(const zstd_state *s, size_t result, char why[SLP_DECODER_WHY]) {
  ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
  if (code == ZSTD_error_memory_allocation) return SLP_ENOMEM;
  unsigned dictionary = ZSTD_getDictID_fromFrame(s->in.src, s->in.size);
  if (dictionary)
    snprintf(why, SLP_DECODER_WHY, "it was compressed with dictionary %u, which is not available",
             dictionary);
  else if (code == ZSTD_error_frameParameter_windowTooLarge)
    snprintf(why, SLP_DECODER_WHY, "its window is larger than 128 MiB (zstd --long)");
  return SLP_EBADDATA;
}

/* Unpacks the next piece. The text is a sequence of frames. A frame may be empty or skippable; then it
 * unpacks to no bytes. */
static int make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]) {
  zstd_state *s = state;
  ZSTD_outBuffer made = {out, room, 0};
  size_t result = ZSTD_decompressStream(s->z, &made, &s->in);
  *ret_made = made.pos;
  if (ZSTD_isError(result)) return explain_zstd_error(s, result, why);
  int all_read = s->in.pos == s->in.size;
  if (result == 0) return !all_read;
  /* if all input is read and the output is not full, the text ends inside a frame */
  return all_read && made.pos < room ? SLP_EBADDATA : 1;
}

static int step_zstd(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  return slp_decode_pieces(ret, make_piece, state, why);
}
#endif

static int is_zstd(slp_str in) { return slp_begins_with(in, "\x28\xb5\x2f\xfd", 4); }

const slp_decoder slp_decoder_zstd = {.name = "zstd",
                                      .does = "unpack Zstandard",
                                      .damaged = "it is not zstd, or it is damaged",
                                      .recognizes = is_zstd,
#if SLP_HAVE_ZSTD
                                      .open = open_zstd,
                                      .step = step_zstd,
                                      .close = close_zstd
#else
                                      .needs = "libzstd-dev"
#endif
};
