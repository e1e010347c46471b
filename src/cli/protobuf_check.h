/* protobuf_check.h - whether bytes are a message of a type, all the way down, in slices. The writer of JSON
 * reads only what ends up in it: of a field given twice, for example, the last value. This pass reads the
 * rest, so that damage there is found, as by protobuf's own readers. */
#ifndef SLP_CLI_PROTOBUF_CHECK_H
#define SLP_CLI_PROTOBUF_CHECK_H

#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"

/* The most bytes of a group and of a FieldMask, which are read at once; everything else is done in slices. */
#define SLP_PB_AT_ONCE (1u << 20)

typedef struct slp_pb_check_frame {
  uint32_t type;  /* the message, or SLP_PB_NONE: an unknown group */
  uint32_t group; /* the number of its field, when it is a group */
  size_t from, end;
  uint8_t packed; /* varints, one behind the other */
} slp_pb_check_frame;

typedef struct slp_pb_check {
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  size_t at;
  uint32_t depth;
  slp_pb_check_frame open[SLP_PB_DEPTH_MAX + 2]; /* packed ones do not count */
} slp_pb_check;

void slp_pb_check_begin(slp_pb_check *c, const slp_pb_schema *schema, uint32_t type, slp_str in, size_t at,
                        size_t end);
/* Reads about so many fields. 1: there is more; 0: it is whole; SLP_EBADDATA and `why`. */
int slp_pb_check_step(slp_pb_check *c, int fields, char why[SLP_PB_WHY]);

#endif
