/* json_number.h - writes numbers of binary formats (Avro, Protobuf) as JSON. */
#ifndef SLP_CLI_JSON_NUMBER_H
#define SLP_CLI_JSON_NUMBER_H

#include "base/buf.h"

/* Writes the shortest number that is read back as the same value. JSON has no NaN and no infinities, so they
 * become the strings "NaN", "Infinity" and "-Infinity", as in the JSON of Protobuf. */
void slp_json_put_double(slp_buf *b, double x);
void slp_json_put_float(slp_buf *b, float x);

#define SLP_DECIMAL_BYTES_MAX 128u /* the most bytes that a decimal may have */
/* Writes a decimal with all its digits. `bytes` is a whole number in two's complement, highest byte first, of
 * at most SLP_DECIMAL_BYTES_MAX bytes; no bytes mean 0. The value is that number divided by 10^scale. */
void slp_json_put_decimal(slp_buf *b, slp_str bytes, unsigned scale);

#endif
