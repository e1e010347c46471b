/* utf8.h - checks UTF-8, in pieces if the caller wants. Shared by the JSON and CBOR readers. */
#ifndef SLP_CODEC_UTF8_H
#define SLP_CODEC_UTF8_H

#include <stddef.h>

/* Returns the length (1 to 4) of the valid sequence at the start of p[0, n), n >= 1. Returns 0 if there is
 * none: overlong forms, surrogates and code points above U+10FFFF are not valid. */
size_t slp_utf8_length(const char *p, size_t n);
/* Checks whole characters of p[0, n), from the beginning until at least `stop` bytes are checked. Returns how
 * many bytes were checked, or SIZE_MAX if a sequence among them is not valid. */
size_t slp_utf8_run(const char *p, size_t n, size_t stop);

#endif
