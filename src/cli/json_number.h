/* json_number.h - numbers of binary formats as JSON: what Avro and Protobuf share. */
#ifndef SLP_CLI_JSON_NUMBER_H
#define SLP_CLI_JSON_NUMBER_H

#include "base/buf.h"

/* Writes the shortest number that reads as the same. JSON lacks some: "NaN", "Infinity" and "-Infinity" are
 * strings, as in the JSON of Protobuf. */
void slp_json_put_double(slp_buf *b, double x);
void slp_json_put_float(slp_buf *b, float x);

#define SLP_DECIMAL_BYTES_MAX 128u
/* Writes the number of a two's complement, its highest byte first, divided by 10^scale, with all its
 * digits. At most SLP_DECIMAL_BYTES_MAX bytes; none are 0. */
void slp_json_put_decimal(slp_buf *b, slp_str bytes, unsigned scale);

#endif
