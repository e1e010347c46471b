/* protobuf_known.h - the messages of google.protobuf whose JSON is a text of its own
 * (https://protobuf.dev/programming-guides/json/). What json_format of PyPI's protobuf refuses is refused. */
#ifndef SLP_CLI_PROTOBUF_KNOWN_H
#define SLP_CLI_PROTOBUF_KNOWN_H

#include "cli/protobuf_schema.h"

/* Returns which one the message is, by its name and by the fields that it must have. A message of such a name
 * with other fields is an ordinary one. */
slp_pb_known slp_pb_known_of(slp_str name, const slp_pb_field *fields, uint32_t n);
/* Each writes a text in quotes; SLP_EBADDATA and `why` when it is out of its range. */
int slp_pb_put_timestamp(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
int slp_pb_put_duration(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
/* Writes one path of a field mask, without quotes and escapes. */
int slp_pb_put_path(slp_buf *b, slp_str path, char why[SLP_PB_WHY]);

#endif
