/* protobuf_known.h - the messages of google.protobuf that have a JSON form of their own, such as Timestamp
 * (https://protobuf.dev/programming-guides/json/). Values that json_format of PyPI's protobuf refuses are
 * refused here too. */
#ifndef SLP_CLI_PROTOBUF_KNOWN_H
#define SLP_CLI_PROTOBUF_KNOWN_H

#include "cli/protobuf_schema.h"

/* Returns which known message a message is, by its full name and its fields, sorted by number. A message with
 * such a name but other fields is SLP_PB_ORDINARY. */
slp_pb_known slp_pb_known_of(slp_str name, const slp_pb_field *fields, uint32_t n);
/* Both append a text in quotes. Both return 0 or why b failed, or SLP_EBADDATA and `why` if the value is out
 * of range. */
int slp_pb_put_timestamp(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
int slp_pb_put_duration(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]);
/* Appends one path of a FieldMask in lowerCamelCase, without quotes and escapes. Returns SLP_EBADDATA and
 * `why` if the path has no such form. */
int slp_pb_put_path(slp_buf *b, slp_str path, char why[SLP_PB_WHY]);

#endif
