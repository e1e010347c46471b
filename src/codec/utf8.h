/* utf8.h - checks UTF-8, in pieces if the caller wants. Shared by the JSON and CBOR readers. */
#ifndef SLP_CODEC_UTF8_H
#define SLP_CODEC_UTF8_H

#include <stddef.h>

/* Returns the length (1 to 4) of the valid sequence at the start of p[0, n), n >= 1. Returns 0 if there is
 * none: overlong forms, surrogates and code points above U+10FFFF are not valid. */
size_t slp_utf8_length(const char *p, size_t n);
/* Checks p[0, n) from its beginning to the end of the character at which `stop` is reached. Returns the place
 * of that end, or SIZE_MAX if a sequence before it is not valid. */
size_t slp_utf8_run(const char *p, size_t n, size_t stop);

#endif
