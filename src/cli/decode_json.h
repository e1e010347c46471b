/* decode_json.h - the decoders that read JSON. They take bytes from outside: see test/fuzz. */
#ifndef SLP_CLI_DECODE_JSON_H
#define SLP_CLI_DECODE_JSON_H

#include "cli/decoder_table.h"
#include "codec/json.h"
#include "codec/json_write.h"

extern const slp_decoder slp_decoder_ddb_json, slp_decoder_plain_json;

/* Writes one JSON value on one line, without white space between its parts. SLP_EBADDATA. */
int slp_decode_plain_json(slp_buf *ret, slp_str in);
/* Writes DynamoDB's typed JSON ({"S":"x"}) as plain JSON: of a change (its Keys, NewImage and OldImage), of a
 * record that DynamoDB writes to Kinesis (the same under "dynamodb"), or of an item or keys alone. The rest
 * stays as it is; B and BS stay base64. A number that JSON can't have stays a string. SLP_EBADDATA. */
int slp_decode_ddb_json(slp_buf *ret, slp_str in);

/* Copies the value that begins with `token`, whatever it is. SLP_EBADDATA, SLP_ELIMIT: it is too deep. */
int slp_decode_put_value(slp_jw *w, slp_json *j, int token);

#endif
