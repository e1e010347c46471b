/* protobuf_known.h - the messages of google.protobuf that have a JSON form of their own, such as Timestamp
 * (https://protobuf.dev/programming-guides/json/). Values that json_format of PyPI's protobuf refuses are
 * refused here too. */
#ifndef SLP_CLI_PROTOBUF_KNOWN_H
#define SLP_CLI_PROTOBUF_KNOWN_H

#include "base/buf.h"
#include "cli/protobuf_schema.h"

/* Returns which known message this is, by its full name and its fields (sorted by number). Returns
 * SLP_PB_ORDINARY if the name is not known, or if the message has other fields than the known message of this
 * name. */
slp_pb_known slp_pb_known_of(slp_str name, const slp_pb_field *fields, uint32_t n);
/* Both functions append a text in quotes. Both return 0, an error of b, or SLP_EBADDATA with a message in
 * `why` if the value is out of range. */
int slp_pb_put_timestamp(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
int slp_pb_put_duration(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
/* Appends one path of a FieldMask in lowerCamelCase, without quotes and escapes. Returns 0, or SLP_EBADDATA
 * with a message in `why` if the path can't be written in lowerCamelCase. */
int slp_pb_put_path(slp_buf *b, slp_str path, char why[SLP_PB_WHY]);

#endif
