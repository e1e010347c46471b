/* schema_sloop.h - opens the native layout of leases. */
#ifndef SLP_STORE_SCHEMA_SLOOP_H
#define SLP_STORE_SCHEMA_SLOOP_H

#include "lease/schema.h"

/* One table for many applications and streams. generation: the creation time of a Kinesis stream in seconds,
 * or the label of a table's stream, so that a stream made again under its name has other rows. NULL: no
 * memory. */
slp_schema *slp_schema_sloop(slp_mem *mem, slp_str app, slp_str stream, slp_str generation);
/* A new application's leases lie under several partition keys, so many shards with neighbouring numbers under
 * one; 0: 512. For a store where a key has a limit. */
void slp_schema_sloop_spreads(slp_schema *s, uint32_t block);
/* Likewise, each by the hash of its shard's name: for a table's stream, whose shards are made by the thousand
 * within one second, and have the time as their number. */
void slp_schema_sloop_spreads_by_hash(slp_schema *s);

/* schema_sloop_pos.c: a position as text whose byte order is progress. */
#define SLP_POS_TEXT 160
size_t slp_pos_write(
    const slp_position *position,
    char out[SLP_POS_TEXT]);             /* returns its length; no NUL. 0: LATEST and NONE have no text */
slp_position slp_pos_read(slp_str text); /* NONE: not a position */

#endif
