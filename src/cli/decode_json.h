/* decode_json.h - the decoders that read JSON. They take bytes from outside: see test/fuzz. */
#ifndef SLP_CLI_DECODE_JSON_H
#define SLP_CLI_DECODE_JSON_H

#include "cli/decoder_table.h"
#include "codec/json.h"
#include "codec/json_write.h"

extern const slp_decoder slp_decoder_ddb_json, slp_decoder_plain_json;

/* Writes one JSON value on one line, without white space between its parts. Returns 0, SLP_EBADDATA or the
 * error of `ret`. */
int slp_decode_plain_json(slp_buf *ret, slp_str in);
/* Writes DynamoDB's typed JSON, such as {"S":"x"}, as plain JSON. The text is one of
 *     a change: its Keys, NewImage and OldImage lose their types;
 *     a record that DynamoDB writes to Kinesis: the same, under "dynamodb";
 *     an item, or a map of keys.
 * All else stays as it is. B and BS stay base64. A number that JSON can't have becomes a string. Returns 0,
 * SLP_EBADDATA or the error of `ret`. */
int slp_decode_ddb_json(slp_buf *ret, slp_str in);

/* Copies any value. `token`, its first one, was read. SLP_EBADDATA; SLP_ELIMIT: the value is too deep. */
int slp_decode_put_value(slp_jw *w, slp_json *j, int token);

#endif
