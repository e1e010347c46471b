/* token_file.h - reads files with positions in streams: one token a line, as sloop_token() writes it. A file
 * of one stream is plain JSON of the tool bloop (core/token.h), which may also have several lines. */
#ifndef SLP_CLI_TOKEN_FILE_H
#define SLP_CLI_TOKEN_FILE_H

#include "base/buf.h"

#define SLP_TOKEN_WHY 400 /* bytes for a sentence that says what is wrong, with its NUL */

/* Returns 1 if `arn` is the ARN of what the user calls `stream` (a name, an ARN, dynamodb:TABLE). Returns
 * 0 if it is not, and -1 if the form of `arn` is not known. */
int slp_token_belongs(const char *stream, slp_str arn);
/* Reads the file into `text`. Sets tokens[i] to the token of streams[i], a NUL-ended part of `text`, or to
 * NULL. others: 1 if tokens of other streams are ignored. Returns:
 *  - 0; with `others`, `why` may say which token was ignored;
 *  - SLP_ENOENT: there is no such file;
 *  - SLP_EINVAL and `why`: a line of the file is no token, belongs to none of the streams (unless `others`),
 *    or is the second token of a stream;
 *  - another error and `why`: no descriptor, no memory, or a broken disk. */
int slp_tokens_read(const char *path, const char *const *streams, size_t n, int others, slp_buf *text,
                    const char **tokens, char why[SLP_TOKEN_WHY]);

#endif
