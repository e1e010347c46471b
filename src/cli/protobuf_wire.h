/* protobuf_wire.h - reads the fields of a message in Protobuf's binary encoding, one by one. Results are
 * offsets, not pointers, because offsets need less memory in the index of protobuf_value.h.
 *
 * The reader accepts what protobuf's own readers accept: a varint has at most 10 bytes, and its bits above
 * the 64th are dropped; a tag has at most 5 bytes and 32 bits; no field has the number 0. */
#ifndef SLP_CLI_PROTOBUF_WIRE_H
#define SLP_CLI_PROTOBUF_WIRE_H

#include "base/base.h"

#define SLP_PB_DEPTH_MAX 100 /* how deep messages may be nested, as in protobuf's own readers */

typedef enum {
  SLP_PB_VARINT = 0,
  SLP_PB_FIXED_64 = 1,
  SLP_PB_BYTES = 2,
  SLP_PB_GROUP = 3,
  SLP_PB_GROUP_END = 4,
  SLP_PB_FIXED_32 = 5
} slp_pb_wire;

typedef struct slp_pb_token { /* one field of a message; all offsets are in the encoded message */
  uint32_t number;
  uint8_t wire; /* how the value is encoded: a value of slp_pb_wire */
  /* from: where the tag begins. value, end: the value, without its length and its end tag. next: where the
   * next field begins */
  size_t from, value, end, next;
} slp_pb_token;

/* Reads a varint at in[*at], at most up to `end`, and moves *at to the byte after it. Returns 0 or
 * SLP_EBADDATA. */
int slp_pb_varint(slp_str in, size_t *at, size_t end, uint64_t *ret);
/* Reads the whole field at in[at]. A group is one field with everything inside it. Returns 0; or
 * SLP_EBADDATA, also if the field at in[at] is the end tag of a group. */
int slp_pb_field_at(slp_str in, size_t at, size_t end, slp_pb_token *ret);
/* Reads a field like slp_pb_field_at, with two differences. Of a group, only the tag is read, so `next` is
 * where the group's first field begins. And the end tag of a group is a field of its own. Returns 0 or
 * SLP_EBADDATA. */
int slp_pb_head_at(slp_str in, size_t at, size_t end, slp_pb_token *ret);
/* Reads a fixed-width number of 4 or 8 bytes, lowest byte first. All its bytes must be in `in`. */
uint64_t slp_pb_fixed(slp_str in, size_t at, size_t bytes);

#endif
