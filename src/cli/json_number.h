/* json_number.h - writes numbers of binary formats as JSON, for Avro and Protobuf. */
#ifndef SLP_CLI_JSON_NUMBER_H
#define SLP_CLI_JSON_NUMBER_H

#include "base/buf.h"

/* Writes the shortest number that reads as the same value. JSON lacks NaN and infinities: they become the
 * strings "NaN", "Infinity" and "-Infinity", as in the JSON of Protobuf. */
void slp_json_put_double(slp_buf *b, double x);
void slp_json_put_float(slp_buf *b, float x);

#define SLP_DECIMAL_BYTES_MAX 128u /* the longest decimal */
/* Writes a decimal with all its digits: the number in two's complement, highest byte first, divided by
 * 10^scale. It has at most SLP_DECIMAL_BYTES_MAX bytes; no bytes are 0. */
void slp_json_put_decimal(slp_buf *b, slp_str bytes, unsigned scale);

#endif
