/* words.h - splits a command line into words, as a POSIX shell and Python's shlex.split do: white space,
 * quotes, backslashes. Nothing is expanded. */
#ifndef SLP_CODEC_WORDS_H
#define SLP_CODEC_WORDS_H

#include "base/buf.h"

/* Appends each word and a NUL. Returns 0, SLP_EBADDATA with *ret_why (static text), or an error of the
 * buf. */
int slp_words_split(slp_str line, slp_buf *into, size_t *ret_n, const char **ret_why);

#endif
