/* stream_pattern.h - patterns of stream names, such as 'pay*', 'dynamodb:orders-?' or an ARN with a pattern
 * in its name. The characters * ? [ can't be in a name, so a word with one of them is a pattern. Pure. */
#ifndef SLP_CLI_STREAM_PATTERN_H
#define SLP_CLI_STREAM_PATTERN_H

#include "base/buf.h"

typedef struct slp_stream_pattern { /* points into the word that was parsed */
  /* The part before the name: "" for a stream of Kinesis; "dynamodb:"; or the beginning of an ARN, including
   * "stream/" or "table/". */
  slp_str before;
  slp_str glob;     /* the pattern of the name */
  uint8_t of_table; /* 1: names of DynamoDB tables; 0: names of Kinesis streams */
} slp_stream_pattern;

/* Returns 1 if the word of a command line is a pattern. */
int slp_is_stream_pattern(const char *word);
/* Parses a pattern. Returns 0, or SLP_EINVAL and a sentence in `why` that begins with the word. */
int slp_stream_pattern_read(const char *word, slp_stream_pattern *ret, char why[200]);
/* Returns 1 if `name` matches `glob`. * matches any characters, ? one character, [a-z] one of these
 * characters, [!a-z] one other character. */
int slp_glob_matches(slp_str glob, slp_str name);
/* Returns 1 if the pattern matches `listed`, a stream as the listing names it: "orders", "dynamodb:TABLE", or
 * the ARN of an older stream of a table, which no pattern matches. If it matches, appends to ret the name by
 * which a user would give that stream. The caller must check slp_buf_failed(ret). */
int slp_stream_pattern_takes(const slp_stream_pattern *p, const char *listed, slp_buf *ret);
/* Writes the part of the pattern before its first * ? or [, which all matching names have in common. Returns
 * its length, which is less than `size`. */
size_t slp_stream_pattern_stem(const slp_stream_pattern *p, char *out, size_t size);
/* Appends the pattern for a policy of IAM. IAM knows * and ? but no brackets, so a bracket expression becomes
 * a ?. Returns 1 if the pattern then matches more names. */
int slp_stream_pattern_for_iam(slp_str glob, slp_buf *ret);

#endif
