/* protobuf_map.h - finds out which entries of a map field are written. Of the entries with the same key, only
 * the last one is written. The caller first calls slp_pb_map_put with every entry, then slp_pb_map_counts. */
#ifndef SLP_CLI_PROTOBUF_MAP_H
#define SLP_CLI_PROTOBUF_MAP_H

#include "cli/protobuf_value.h"
#include "cli/protobuf_wire.h"

/* Allocates the table of f for the keys of n entries. Returns 0 or SLP_ENOMEM. */
int slp_pb_map_begin(slp_pb_value *v, slp_pb_frame *f, size_t n);
/* Stores an entry in the table. Replaces an earlier entry that has the same key. */
void slp_pb_map_put(slp_pb_value *v, slp_pb_frame *f, const slp_pb_token *entry);
/* Returns 1 if the entry is written: it is the last one with its key, and has no unknown field. */
int slp_pb_map_counts(slp_pb_value *v, const slp_pb_frame *f, const slp_pb_token *entry);

#endif
