/* base64.h - standard alphabet, with padding. Decoding may run over its own input and picks the
 * fastest code this CPU has (AVX2, SSE4.1, table), once. */
#ifndef SLP_CODEC_BASE64_H
#define SLP_CODEC_BASE64_H

#include "base/buf.h"

/* Decodes n characters of `in` to `out` (may be the same address or before it; else room for n / 4 * 3
 * bytes). Returns the bytes written or SLP_EBADDATA (a character outside the alphabet, n not a multiple
 * of 4, padding before the end). Bits under the padding may be anything. */
int64_t slp_base64_decode(char *out, const char *in, size_t n);
/* Decodes with one implementation, for tests and benches: 0 table, 1 SSE4.1, 2 AVX2. SLP_ENOENT when this CPU
 * lacks it. */
int64_t slp_base64_decode_with(int level, char *out, const char *in, size_t n);
int slp_base64_level(void); /* the one that slp_base64_decode uses */
/* For decoding in pieces: whole groups of four without padding, up to the first that is not such.
 * Returns the characters used; 3 bytes were written for each 4 of them. */
size_t slp_base64_decode_groups(char *out, const char *in, size_t n);
/* A last group of four that ends in = or ==. Returns 1 or 2 bytes, or 0. Bits under the padding may be
 * anything. */
size_t slp_base64_decode_padded(char *out, const char *in);
/* Undoes the former in place, for text that turned out not to be base64 after all: groups from `to` down to
 * `from` (3 bytes at text + 3 i become 4 characters at text + 4 i). */
void slp_base64_encode_back(char *text, size_t from, size_t to);
/* Appends the encoding. */
int slp_base64_encode(slp_buf *b, slp_str in);

#endif
