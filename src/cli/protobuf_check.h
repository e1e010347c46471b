/* protobuf_check.h - checks in slices that bytes are a valid message of a type, including all messages inside
 * it. If a field is given twice, protobuf_value.h reads only the last value. This check reads every value, so
 * that it finds damage anywhere, as protobuf's own readers do. */
#ifndef SLP_CLI_PROTOBUF_CHECK_H
#define SLP_CLI_PROTOBUF_CHECK_H

#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"

/* The most bytes of a group or of a FieldMask. Both are read in one go; everything else is read in slices. */
#define SLP_PB_AT_ONCE (1u << 20)

typedef struct slp_pb_check_frame { /* an open message, group or packed field */
  uint32_t type;                    /* the message's type; SLP_PB_NONE: an unknown group */
  uint32_t group;                   /* number of the group's field, if this frame is a group; otherwise 0 */
  size_t from, end;                 /* offsets in slp_pb_check.in */
  uint8_t packed;                   /* 1: this is a packed field of varints */
} slp_pb_check_frame;

typedef struct slp_pb_check {
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  size_t at; /* offset of the field that is checked next */
  uint32_t depth;
  /* open[0] is the outermost message; packed fields do not count for SLP_PB_DEPTH_MAX */
  slp_pb_check_frame open[SLP_PB_DEPTH_MAX + 2];
} slp_pb_check;

/* Begins to check the message of `type` that is in in[at...end). `schema` and `in` must live until the check
 * is finished. */
void slp_pb_check_begin(slp_pb_check *c, const slp_pb_schema *schema, uint32_t type, slp_str in, size_t at,
                        size_t end);
/* Checks at most `fields` fields. Returns 1 if there are fields left, 0 if the whole message is valid, or
 * SLP_EBADDATA with a message in `why`. */
int slp_pb_check_step(slp_pb_check *c, int fields, char why[SLP_PB_WHY]);

#endif
