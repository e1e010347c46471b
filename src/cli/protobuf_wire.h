/* protobuf_wire.h - the fields of a message in Protobuf's binary encoding, one by one. Offsets instead of
 * pointers, so that an index of them is small.
 *
 * Takes what protobuf's own readers take: a varint has at most 10 bytes, and its bits above the 64th are
 * dropped; a tag has at most 5 bytes and 32 bits; no field has the number 0. */
#ifndef SLP_CLI_PROTOBUF_WIRE_H
#define SLP_CLI_PROTOBUF_WIRE_H

#include "base/base.h"

#define SLP_PB_DEPTH_MAX 100 /* messages within messages, as protobuf's own readers allow */

typedef enum {
  SLP_PB_VARINT = 0,
  SLP_PB_FIXED_64 = 1,
  SLP_PB_BYTES = 2,
  SLP_PB_GROUP = 3,
  SLP_PB_GROUP_END = 4,
  SLP_PB_FIXED_32 = 5
} slp_pb_wire;

typedef struct slp_pb_token { /* one field */
  uint32_t number;
  uint8_t wire;                  /* slp_pb_wire */
  size_t from, value, end, next; /* its tag; its value, without length and end tag; what follows the field */
} slp_pb_token;

/* Each reads from in[*at...], which ends at `end`. 0, or SLP_EBADDATA. */
int slp_pb_varint(slp_str in, size_t *at, size_t end, uint64_t *ret);
int slp_pb_tag(slp_str in, size_t *at, size_t end, uint32_t *ret_number, uint8_t *ret_wire);
/* Reads a field whole; of a group, all that is in it. SLP_EBADDATA also for the end of a group. */
int slp_pb_field_at(slp_str in, size_t at, size_t end, slp_pb_token *ret);
/* The same without what is in a group: `next` is then where its fields begin. */
int slp_pb_head_at(slp_str in, size_t at, size_t end, slp_pb_token *ret);
uint64_t slp_pb_fixed(slp_str in, size_t at, size_t bytes); /* 4 or 8, the lowest byte first */

#endif
