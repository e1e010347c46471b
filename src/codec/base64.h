/* base64.h - standard alphabet, with padding. Decoding may run over its own input and picks the
 * fastest code this CPU has (AVX2, SSE4.1, table), once. */
#ifndef SLP_CODEC_BASE64_H
#define SLP_CODEC_BASE64_H

#include "base/buf.h"

/* Decodes n characters of `in` to `out` (may be the same address or before it). n must be a multiple
 * of 4 unless `padless` below. Returns the bytes written or SLP_EBADDATA (alphabet, length, padding
 * in the middle, non-zero bits under the padding are taken). */
int64_t slp_base64_decode(char *out, const char *in, size_t n);
/* One level for tests and benches: 0 table, 1 SSE4.1, 2 AVX2. SLP_ENOENT when this CPU lacks it. */
int64_t slp_base64_decode_with(int level, char *out, const char *in, size_t n);
int slp_base64_level(void); /* what slp_base64_decode uses */
/* Appends the encoding. */
int slp_base64_encode(slp_buf *b, slp_str in);

#endif
