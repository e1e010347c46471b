/* fuzz_unpack.c - the decoders of -s that unpack. The first byte picks one: its name's first letter, or w for snappy.
 * What is unpacked is what the format's own library makes of it at once; what the library packs comes out again. */
#include "cli/decode.h"
#include "fuzz.h"
#if SLP_HAVE_ZSTD
#include <zstd.h>
#endif
#if SLP_HAVE_LZ4
#include <lz4frame.h>
#endif
#if SLP_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#if SLP_HAVE_BROTLI
#include <brotli/decode.h>
#endif

enum { LIMIT = 200000 };
static slp_mem *mem;
static char once[LIMIT + 1]; /* what the library made */

/* Returns as slp_decoding_step() does, when it is over. */
static int unpack(const char *decoder, slp_str in, uint64_t limit, slp_buf *ret) {
  slp_decode_chain c;
  slp_decoding d;
  char why[200] = "";
  REQUIRE(slp_decode_parse(decoder, &c, why) == 0);
  slp_decoding_init(&d, mem);
  slp_decoding_begin(&d, &c, in, limit);
  int r;
  do r = slp_decoding_step(&d, why);
  while (r == 1);
  REQUIRE(r == 0 || ((r == SLP_EBADDATA || r == SLP_ELIMIT) && *why));
  if (r == 0) {
    REQUIRE(d.in.n <= limit || d.in.p == in.p);
    REQUIRE(slp_buf_add_str(ret, d.in) == 0);
  }
  slp_decoding_free(&d);
  return r;
}

/* Checks that the decoder makes the n bytes of `once` of the text, or refuses it when n is below 0. */
static void agree(const char *decoder, slp_str in, int64_t n) {
  slp_buf out;
  slp_buf_init(&out, mem, LIMIT);
  int r = unpack(decoder, in, LIMIT, &out);
  if (n >= 0) REQUIRE(r == 0 && out.n == (size_t)n && (n == 0 || memcmp(out.p, once, out.n) == 0));
  if (n < 0) REQUIRE(r != 0);
  slp_buf_free(&out);
}

static void comes_again(const char *decoder, slp_str packed, slp_str text) {
  slp_buf out;
  slp_buf_init(&out, mem, LIMIT);
  REQUIRE(unpack(decoder, packed, text.n, &out) == 0 && slp_str_eq(slp_buf_str(&out), text));
  slp_buf_free(&out);
  if (text.n) REQUIRE(unpack(decoder, packed, text.n - 1, &out) == SLP_ELIMIT);
}

static void only_ends(const char *decoder, slp_str in) {
  slp_buf out;
  slp_buf_init(&out, mem, LIMIT);
  unpack(decoder, in, LIMIT, &out);
  slp_buf_free(&out);
}

#if SLP_HAVE_ZSTD
static void try_zstd(slp_str in) {
  ZSTD_DCtx *z = ZSTD_createDCtx();
  REQUIRE(z != NULL);
  size_t n = ZSTD_decompressDCtx(z, once, LIMIT, in.p, in.n);
  ZSTD_freeDCtx(z);
  /* At once it asks nothing of windows, and knows frames of versions before 0.8. */
  if (ZSTD_isError(n))
    only_ends("zstd", in);
  else if (n <= LIMIT && ZSTD_getFrameContentSize(in.p, in.n) != ZSTD_CONTENTSIZE_ERROR) {
    slp_buf out;
    slp_buf_init(&out, mem, LIMIT);
    if (unpack("zstd", in, LIMIT, &out) == 0) REQUIRE(out.n == n && (n == 0 || memcmp(out.p, once, n) == 0));
    slp_buf_free(&out);
  }
  size_t room = ZSTD_compressBound(in.n);
  char *p = malloc(room);
  REQUIRE(p != NULL);
  size_t packed = ZSTD_compress(p, room, in.p, in.n, 1);
  REQUIRE(!ZSTD_isError(packed));
  comes_again("zstd", (slp_str){p, packed}, in);
  free(p);
}
#endif

#if SLP_HAVE_LZ4
static void try_lz4(slp_str in) {
  only_ends("lz4", in);
  LZ4F_preferences_t how = {.frameInfo = {.blockMode = in.n % 2 ? LZ4F_blockIndependent : LZ4F_blockLinked,
                                          .contentChecksumFlag = LZ4F_contentChecksumEnabled}};
  size_t room = LZ4F_compressFrameBound(in.n, &how);
  char *p = malloc(room);
  REQUIRE(p != NULL);
  size_t packed = LZ4F_compressFrame(p, room, in.p, in.n, &how);
  REQUIRE(!LZ4F_isError(packed));
  comes_again("lz4", (slp_str){p, packed}, in);
  free(p);
}
#endif

#if SLP_HAVE_SNAPPY
static void try_snappy(slp_str in) {
  size_t n = LIMIT;
  if (slp_decoder_that_recognizes(in) == slp_decoder_by_name(SLP_STR("snappy")))
    only_ends("snappy", in);
  else
    agree("snappy", in, snappy_uncompress(in.p, in.n, once, &n) == SNAPPY_OK ? (int64_t)n : -1);
  size_t packed = snappy_max_compressed_length(in.n);
  char *p = malloc(packed);
  REQUIRE(p != NULL);
  REQUIRE(snappy_compress(in.p, in.n, p, &packed) == SNAPPY_OK);
  comes_again("snappy", (slp_str){p, packed}, in);
  free(p);
}
#endif

#if SLP_HAVE_BROTLI
static void try_brotli(slp_str in) {
  size_t left = in.n, room = LIMIT;
  const uint8_t *from = (const uint8_t *)in.p;
  uint8_t *to = (uint8_t *)once;
  BrotliDecoderState *z = BrotliDecoderCreateInstance(NULL, NULL, NULL);
  REQUIRE(z != NULL);
  BrotliDecoderResult r = BrotliDecoderDecompressStream(z, &left, &from, &room, &to, NULL);
  BrotliDecoderDestroyInstance(z);
  agree("brotli", in, r == BROTLI_DECODER_RESULT_SUCCESS && left == 0 ? (int64_t)(LIMIT - room) : -1);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 65536) return 0;
  char *copy = fuzz_copy(data + 1, size - 1);
  slp_str in = {copy, size - 1};
  mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  (void)agree, (void)comes_again, (void)once; /* used where there are libraries */
  switch (data[0]) {
    case 'g': only_ends("gzip", in); break;
    case 'a': only_ends("auto,auto,plain-json", in); break;
#if SLP_HAVE_ZSTD
    case 'z': try_zstd(in); break;
#endif
#if SLP_HAVE_LZ4
    case 'l': try_lz4(in); break;
#endif
#if SLP_HAVE_SNAPPY
    case 'w': try_snappy(in); break;
#endif
#if SLP_HAVE_BROTLI
    case 'b': try_brotli(in); break;
#endif
    default: break;
  }
  REQUIRE(memcmp(copy, data + 1, size - 1) == 0); /* what is read is not ours to change */
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(copy);
  return 0;
}
