/* protobuf_check.h - checks in slices that bytes are a message of a type, including all messages inside. The
 * writer of JSON reads only what it writes; of a field given twice, for example, only the last value. This
 * check reads everything, so that damage elsewhere is found too, as protobuf's own readers find it. */
#ifndef SLP_CLI_PROTOBUF_CHECK_H
#define SLP_CLI_PROTOBUF_CHECK_H

#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"

/* The most bytes of a group and of a FieldMask, because they are read in one go. Everything else is read in
 * slices. */
#define SLP_PB_AT_ONCE (1u << 20)

typedef struct slp_pb_check_frame { /* something that is open: a message, a group or a packed field */
  uint32_t type;                    /* the message's type; SLP_PB_NONE: an unknown group */
  uint32_t group;                   /* a group: the number of its field; else 0 */
  size_t from, end;                 /* offsets in `in` */
  uint8_t packed;                   /* 1: a packed field of varints */
} slp_pb_check_frame;

typedef struct slp_pb_check {
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  size_t at; /* offset of the next field */
  uint32_t depth;
  /* open[0] is the outermost; packed fields do not count for SLP_PB_DEPTH_MAX */
  slp_pb_check_frame open[SLP_PB_DEPTH_MAX + 2];
} slp_pb_check;

/* Begins to check the message of `type` in in[at...end). `schema` and `in` must live until the check is
 * done. */
void slp_pb_check_begin(slp_pb_check *c, const slp_pb_schema *schema, uint32_t type, slp_str in, size_t at,
                        size_t end);
/* Checks at most `fields` fields. Returns 1 if there is more, 0 if all is well, or SLP_EBADDATA and `why`. */
int slp_pb_check_step(slp_pb_check *c, int fields, char why[SLP_PB_WHY]);

#endif
