/* base64.h - the standard alphabet, with padding. Decoding may write over its own input, and uses the fastest
 * code that this CPU has (AVX2, SSE4.1, table). */
#ifndef SLP_CODEC_BASE64_H
#define SLP_CODEC_BASE64_H

#include "base/buf.h"

/* Decodes n characters of `in` to `out`, which may be the same address or before it, or else needs room for n
 * / 4 * 3 bytes. Returns the bytes written, or SLP_EBADDATA: a character outside the alphabet, n not a
 * multiple of 4, padding before the end. Bits under the padding may be anything. */
int64_t slp_base64_decode(char *out, const char *in, size_t n);
/* Decodes with one implementation, for tests and benches: 0 table, 1 SSE4.1, 2 AVX2. Returns SLP_ENOENT if
 * this CPU lacks it. */
int64_t slp_base64_decode_with(int level, char *out, const char *in, size_t n);
int slp_base64_level(void); /* the implementation that slp_base64_decode uses */
/* For decoding in pieces: decodes whole groups of four without padding, up to the first that is none. Returns
 * the characters used; 3 bytes were written for each 4 of them. */
size_t slp_base64_decode_groups(char *out, const char *in, size_t n);
/* Decodes a last group of four that ends in = or ==. Returns the bytes written, 1 or 2; 0: it is no such
 * group. Bits under the padding may be anything. */
size_t slp_base64_decode_padded(char *out, const char *in);
/* Encodes decoded groups again in place, for text that turned out not to be base64: groups from `to` down to
 * `from` (3 bytes at text + 3 i become 4 characters at text + 4 i). */
void slp_base64_encode_back(char *text, size_t from, size_t to);
/* Appends the encoding of `in`. Returns 0, or the error of b. */
int slp_base64_encode(slp_buf *b, slp_str in);

#endif
