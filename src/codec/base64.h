/* base64.h - base64 with the standard alphabet and padding. Decoding may write over its own input, and uses
 * the fastest code that this CPU has (AVX2, SSE4.1, or a table). */
#ifndef SLP_CODEC_BASE64_H
#define SLP_CODEC_BASE64_H

#include "base/buf.h"

/* Decodes n characters of `in` to `out`. `out` may be `in`, or lie before `in` in the same buffer; a separate
 * `out` needs room for n / 4 * 3 bytes. Returns the number of bytes written, or SLP_EBADDATA: a character is
 * outside the alphabet, n is no multiple of 4, or padding comes before the end. The unused bits of the last
 * character before padding are not checked. */
int64_t slp_base64_decode(char *out, const char *in, size_t n);
/* Decodes with one implementation, for tests and benches: 0 table, 1 SSE4.1, 2 AVX2. Returns SLP_ENOENT if
 * this CPU lacks it. */
int64_t slp_base64_decode_with(int level, char *out, const char *in, size_t n);
int slp_base64_level(void); /* returns the level that slp_base64_decode uses: 0 table, 1 SSE4.1, 2 AVX2 */
/* Decodes a piece of a longer text: whole groups of four characters, up to the first group with padding or a
 * character outside the alphabet. Returns the number of characters decoded; `out` then holds 3 bytes for each
 * 4. */
size_t slp_base64_decode_groups(char *out, const char *in, size_t n);
/* Decodes a last group of four characters that ends in = or ==. Returns the number of bytes written, 1 or 2;
 * 0: `in` is no such group. The unused bits of the last character before padding are not checked. */
size_t slp_base64_decode_padded(char *out, const char *in);
/* Undoes decoding in place, for text that turned out not to be base64. Encodes the groups with index `to` - 1
 * down to `from`: the 3 bytes at text + 3 * i become 4 characters at text + 4 * i. */
void slp_base64_encode_back(char *text, size_t from, size_t to);
/* Appends the encoding of `in`. Returns 0, or the buffer's error. */
int slp_base64_encode(slp_buf *b, slp_str in);

#endif
