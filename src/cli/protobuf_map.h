/* protobuf_map.h - finds out which entries of a map field count: of entries with the same key, the last one.
 * A frame's table is filled by slp_pb_map_put with all entries first, then asked. */
#ifndef SLP_CLI_PROTOBUF_MAP_H
#define SLP_CLI_PROTOBUF_MAP_H

#include "cli/protobuf_value.h"

/* Makes room in f for the keys of n entries. Returns 0 or SLP_ENOMEM. */
int slp_pb_map_begin(slp_pb_value *v, slp_pb_frame *f, size_t n);
/* Notes an entry as the last one of its key so far. */
void slp_pb_map_put(slp_pb_value *v, slp_pb_frame *f, const slp_pb_token *entry);
/* Returns 1 if the entry is the last one of its key. */
int slp_pb_map_counts(slp_pb_value *v, const slp_pb_frame *f, const slp_pb_token *entry);

#endif
