/* produce_line.h - turns a line of the input (-P) into a record: finds the record's key and payload, or the
 * reason why the line can't become a record. */
#ifndef SLP_CLI_PRODUCE_LINE_H
#define SLP_CLI_PRODUCE_LINE_H

#include "base/buf.h"

/* Limits of PutRecords, by its API reference (botocore 1.44.8, service model kinesis 2013-12-02): a partition
 * key has 1 to 256 characters, and key and payload together have at most 10 MiB. */
#define SLP_PUT_KEY_CHARACTERS 256u
#define SLP_PUT_RECORD_BYTES (10u * 1024 * 1024)
/* The most bytes of a line in the format of -J: it writes each byte of a record as at most six characters
 * (\u0001), and has other members. */
#define SLP_PUT_JSON_LINE_BYTES (6u * SLP_PUT_RECORD_BYTES + 65536u)
#define SLP_PUT_PATH_MAX 16u /* members in the path of --key-from */

typedef struct slp_put_rules { /* how lines become records; the texts are borrowed */
  slp_str key_delimiter;       /* -K; n 0: not given */
  slp_str key;                 /* -k; p NULL: not given */
  slp_str path[SLP_PUT_PATH_MAX];
  size_t path_n; /* --key-from; 0: not given */
  uint8_t json;  /* -J */
} slp_put_rules;

typedef enum {
  SLP_PUT_FINE,
  SLP_PUT_NO_MEMORY,
  SLP_PUT_TOO_LARGE,
  SLP_PUT_KEY_EMPTY,
  SLP_PUT_KEY_LONG,
  SLP_PUT_KEY_BYTES, /* the key is not UTF-8 */
  SLP_PUT_NOT_JSON,  /* the line is not a JSON object, or is damaged */
  /* --key-from: the line does not have the member, or the member is neither a string nor a number */
  SLP_PUT_NO_MEMBER,
  SLP_PUT_NO_PAYLOAD, /* -J: the line has neither payload nor payload_b64 */
  /* -J: the payload is not a string: a decoder has made it (-s), so it is not what the record contained */
  SLP_PUT_NOT_AS_READ,
  SLP_PUT_BAD_BASE64,
  SLP_PUT_BAD_HASH_KEY,
  SLP_PUT_BY_SERVICE, /* the service has refused the record */
  SLP_PUT_REFUSALS    /* number of values above */
} slp_put_refusal;

typedef struct slp_put_line {
  /* They point into the line or into `scratch`. key.p NULL: the line has no key, so the record gets a random
   * one. hash_key.n 0: none. */
  slp_str key, data, hash_key;
  int64_t ts_ms; /* -J: when the record arrived in the stream that it was read from; -1: not known */
} slp_put_line;

/* Finds key and payload of the line. Texts that had to be decoded are put into `scratch`, which is cleared
 * first. Returns SLP_PUT_FINE, or why the line is refused. */
slp_put_refusal slp_put_line_read(const slp_put_rules *rules, slp_str line, slp_buf *scratch,
                                  slp_put_line *ret);
/* Returns the reason of a refusal in words that fit after "line 7: ". */
const char *slp_put_refusal_text(slp_put_refusal r);
/* Parses the value of --key-from, such as ".user.id", into rules->path, which points into `text`. Returns 0
 * or SLP_EINVAL. */
int slp_put_path_read(const char *text, slp_put_rules *rules);

#endif
