/* protobuf_text.h - single values of Protobuf as JSON: numbers, strings, bytes, enums. */
#ifndef SLP_CLI_PROTOBUF_TEXT_H
#define SLP_CLI_PROTOBUF_TEXT_H

#include "cli/protobuf_schema.h"

/* Reads the number at in[*at...], which is there. Returns it as it is stored, cut to the bits of its kind. */
uint64_t slp_pb_number(const slp_pb_field *f, slp_str in, size_t *at, size_t end);
/* Writes a number or an enum; `quoted`: the key of a map. */
int slp_pb_put_number(slp_buf *b, const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored, int quoted);
/* Writes a string or bytes. SLP_EBADDATA and `why`: a string is not UTF-8. */
int slp_pb_put_text(slp_buf *b, const slp_pb_field *f, slp_str text, char why[SLP_PB_WHY]);
/* Returns 1 if it is of a closed enum that has no symbol for it: then it is an unknown field. */
int slp_pb_is_unknown(const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored);
/* Returns 1 if the number is NaN or infinite. */
int slp_pb_is_odd(uint64_t stored);

#endif
