/* protobuf_map.h - which entries of a map count: of those with the same key the last one. */
#ifndef SLP_CLI_PROTOBUF_MAP_H
#define SLP_CLI_PROTOBUF_MAP_H

#include "cli/protobuf_value.h"

/* Makes room for the keys of n entries. SLP_ENOMEM. */
int slp_pb_map_begin(slp_pb_value *v, slp_pb_frame *f, size_t n);
/* Enters an entry. */
void slp_pb_map_put(slp_pb_value *v, slp_pb_frame *f, const slp_pb_token *entry);
/* Returns 1 if the entry is the last one of its key. */
int slp_pb_map_counts(slp_pb_value *v, const slp_pb_frame *f, const slp_pb_token *entry);

#endif
