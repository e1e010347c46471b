/* protobuf_text.h - writes single values of Protobuf as JSON: numbers, strings, bytes, enums. */
#ifndef SLP_CLI_PROTOBUF_TEXT_H
#define SLP_CLI_PROTOBUF_TEXT_H

#include "base/buf.h"
#include "cli/protobuf_schema.h"

/* Reads the number at in[*at...], and moves *at to the byte after it. The number must be complete;
 * protobuf_check.c has checked this. Returns the number's bits, cut to the width of its kind. */
uint64_t slp_pb_number(const slp_pb_field *f, slp_str in, size_t *at, size_t end);
/* Appends a number or an enum. `quoted`: 1 if the number is the key of a map, which JSON writes in quotes.
 * Returns 0 or the error of b. */
int slp_pb_put_number(slp_buf *b, const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored, int quoted);
/* Appends a string or bytes. Returns 0, the error of b, or SLP_EBADDATA with a message in `why` if a string
 * is not UTF-8. */
int slp_pb_put_text(slp_buf *b, const slp_pb_field *f, slp_str text, char why[SLP_PB_WHY]);
/* Returns 1 if the type of f is a closed enum that has no symbol for the number `stored`. The field then
 * counts as an unknown field. */
int slp_pb_is_unknown(const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored);
/* Returns 1 if the bits in `stored` are those of a double that is NaN or infinite. */
int slp_pb_is_odd(uint64_t stored);

#endif
