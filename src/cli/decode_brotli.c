/* decode_brotli.c - unpacks a stream of Brotli with libbrotlidec. The format has no magic number and no
 * checksum. */
#include "cli/decode_brotli.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode_pieces.h"
#include "cli/decoder_table.h"

#if SLP_HAVE_BROTLI
#include <brotli/decode.h>

typedef struct brotli_state {
  slp_mem *mem;
  BrotliDecoderState *z;
  slp_str in; /* the part of the text that is not read yet */
} brotli_state;

static void *alloc_for_brotli(void *mem, size_t n) { return slp_alloc(mem, n); }
static void free_for_brotli(void *mem, void *p) { slp_free(mem, p); }

static void close_brotli(void *state) {
  brotli_state *s = state;
  BrotliDecoderDestroyInstance(s->z);
  slp_free(s->mem, s);
}

static void *open_brotli(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  brotli_state *s = SLP_NEW(mem, brotli_state);
  if (!s) return NULL;
  *s = (brotli_state){
      .mem = mem, .z = BrotliDecoderCreateInstance(alloc_for_brotli, free_for_brotli, mem), .in = in};
  if (s->z) return s;
  slp_free(mem, s);
  return NULL;
}

static int classify_brotli_error(const brotli_state *s) {
  BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(s->z);
  int of_memory =
      code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
  return of_memory ? SLP_ENOMEM : SLP_EBADDATA;
}

static int make_piece(void *state, char *out, size_t room, size_t *ret_made, char why[SLP_DECODER_WHY]) {
  brotli_state *s = state;
  const uint8_t *in = (const uint8_t *)s->in.p;
  uint8_t *to = (uint8_t *)out;
  size_t left = s->in.n, room_left = room;
  (void)why;
  BrotliDecoderResult r = BrotliDecoderDecompressStream(s->z, &left, &in, &room_left, &to, NULL);
  *ret_made = room - room_left;
  s->in = (slp_str){(const char *)in, left};
  switch (r) {
    /* bytes after the end of the stream are an error */
    case BROTLI_DECODER_RESULT_SUCCESS: return left ? SLP_EBADDATA : 0;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return 1;
    /* the text ends before the stream does */
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return SLP_EBADDATA;
    case BROTLI_DECODER_RESULT_ERROR: break;
  }
  return classify_brotli_error(s);
}

static int step_brotli(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  return slp_decode_pieces(ret, make_piece, state, why);
}
#endif

const slp_decoder slp_decoder_brotli = {.name = "brotli",
                                        .does = "unpack Brotli",
                                        .damaged = "it is not Brotli, or it is damaged",
#if SLP_HAVE_BROTLI
                                        .open = open_brotli,
                                        .step = step_brotli,
                                        .close = close_brotli
#else
                                        .needs = "libbrotli-dev"
#endif
};
