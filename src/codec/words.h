/* words.h - splits a command line into words, as a POSIX shell and Python's shlex.split do: at white space,
 * with quotes and backslashes. No variable or pattern is expanded. */
#ifndef SLP_CODEC_WORDS_H
#define SLP_CODEC_WORDS_H

#include "base/buf.h"

/* Appends each word and a NUL behind it. *ret_n is the number of words. Returns 0, SLP_EBADDATA with *ret_why
 * set to static text, or an error of the buffer. */
int slp_words_split(slp_str line, slp_buf *into, size_t *ret_n, const char **ret_why);

#endif
