/* decode_json.h - the decoders of -s that read JSON. The bytes come from outside, so test/fuzz covers these
 * decoders. */
#ifndef SLP_CLI_DECODE_JSON_H
#define SLP_CLI_DECODE_JSON_H

#include "base/buf.h"
#include "cli/decoder_table.h"
#include "codec/json.h"
#include "codec/json_write.h"

extern const slp_decoder slp_decoder_ddb_json, slp_decoder_plain_json;

/* Writes one JSON value on one line, without white space between tokens. Returns 0, SLP_EBADDATA or the error
 * of `ret`. */
int slp_decode_plain_json(slp_buf *ret, slp_str in);
/* Writes DynamoDB's typed JSON, such as {"S":"x"}, as plain JSON. The text may be
 *     a change: its Keys, NewImage and OldImage lose their types;
 *     a record that DynamoDB writes to Kinesis: the change under "dynamodb" loses its types in the same way;
 *     an item, or a map of keys.
 * Everything else stays as it is. B and BS stay base64. A number that is not in JSON's syntax becomes a
 * string. Returns 0, SLP_EBADDATA or the error of `ret`. */
int slp_decode_ddb_json(slp_buf *ret, slp_str in);

/* Copies any JSON value. `token` is its first token, which the caller has read. Returns 0; SLP_EBADDATA; or
 * SLP_ELIMIT if the value is nested too deep. */
int slp_decode_put_value(slp_jw *w, slp_json *j, int token);

#endif
