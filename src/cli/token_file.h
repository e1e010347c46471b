/* token_file.h - files with positions in streams: one token a line, as sloop_save() writes it; a file of one
 * stream is plain bloop JSON, and such a file is also read when it has several lines. */
#ifndef SLP_CLI_TOKEN_FILE_H
#define SLP_CLI_TOKEN_FILE_H

#include "base/buf.h"

#define SLP_TOKEN_WHY 400

/* Is `arn` what the user calls `stream` (a name, an ARN, dynamodb:TABLE)? 1, 0, or -1: it can't be said. */
int slp_token_belongs(const char *stream, slp_str arn);
/* Reads the file: tokens[i] is that of streams[i], a NUL-ended slice of `text`, or NULL. SLP_ENOENT: there is
 * no file. SLP_EINVAL and `why`: a text is no token, belongs to none of the streams, or a stream comes twice.
 * Another error and `why`: the machine had no descriptor, no memory, or a broken disk. */
int slp_tokens_read(const char *path, const char *const *streams, size_t n, slp_buf *text,
                    const char **tokens, char why[SLP_TOKEN_WHY]);

#endif
