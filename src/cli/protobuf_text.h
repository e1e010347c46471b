/* protobuf_text.h - writes single values of Protobuf as JSON: numbers, strings, bytes, enums. */
#ifndef SLP_CLI_PROTOBUF_TEXT_H
#define SLP_CLI_PROTOBUF_TEXT_H

#include "cli/protobuf_schema.h"

/* Reads the number at in[*at...], and moves *at behind it. The number must be whole: the check has read it.
 * Returns its stored bits, cut to the width of its kind. */
uint64_t slp_pb_number(const slp_pb_field *f, slp_str in, size_t *at, size_t end);
/* Appends a number or an enum. `quoted`: it is the key of a map. Returns 0 or why b failed. */
int slp_pb_put_number(slp_buf *b, const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored, int quoted);
/* Appends a string or bytes. Returns 0 or why b failed; SLP_EBADDATA and `why` if a string is not UTF-8. */
int slp_pb_put_text(slp_buf *b, const slp_pb_field *f, slp_str text, char why[SLP_PB_WHY]);
/* Returns 1 if f is of a closed enum that has no symbol for the number. It then counts as an unknown
 * field. */
int slp_pb_is_unknown(const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored);
/* Returns 1 if the number, a double, is NaN or infinite. */
int slp_pb_is_odd(uint64_t stored);

#endif
