/* decode_json.h - the decoders that read JSON. They take bytes from outside: see test/fuzz. */
#ifndef SLP_CLI_DECODE_JSON_H
#define SLP_CLI_DECODE_JSON_H

#include "base/buf.h"

/* Writes one JSON value on one line, without white space between its parts. SLP_EBADDATA. */
int slp_decode_plain_json(slp_buf *ret, slp_str in);
/* Writes DynamoDB's typed JSON ({"S":"x"}) as plain JSON: of a change (its Keys, NewImage and OldImage), of a
 * record that DynamoDB writes to Kinesis (the same under "dynamodb"), or of an item or keys alone. The rest
 * stays as it is; B and BS stay base64. A number that JSON can't have stays a string. SLP_EBADDATA. */
int slp_decode_ddb_json(slp_buf *ret, slp_str in);

typedef struct slp_log_event { /* of a CloudWatch Logs subscription */
  slp_str group, stream, owner, id;
  int64_t ts_ms; /* -1: not given */
  slp_str message;
} slp_log_event;

/* Calls fn for each event of a record of such a subscription (gzip or plain JSON); a control message has
 * none. Slices live until fn returns. 0, what fn returned, SLP_EBADDATA, SLP_ELIMIT or SLP_ENOMEM. */
int slp_decode_cwlogs(slp_mem *mem, slp_str in, int (*fn)(void *arg, const slp_log_event *event), void *arg);

#endif
