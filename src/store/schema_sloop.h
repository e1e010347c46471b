/* schema_sloop.h - the native layout of leases in a table. */
#ifndef SLP_STORE_SCHEMA_SLOOP_H
#define SLP_STORE_SCHEMA_SLOOP_H

#include "lease/schema.h"

/* Creates the native layout for one application and one stream. One table can hold many applications and
 * streams. `generation` tells apart streams that had the same name one after the other: it is the creation
 * time in seconds of a Kinesis stream, or the label of a table's stream. Returns NULL if there is no
 * memory. */
slp_schema *slp_schema_sloop(slp_mem *mem, slp_str app, slp_str stream, slp_str generation);
/* Distributes the leases of a new application over several partition keys. Each run of `block` shards with
 * neighbouring numbers shares a key; 0 stands for 512 shards. Used for a store that limits the writes to
 * one partition key. */
void slp_schema_sloop_spreads(slp_schema *s, uint32_t block);
/* Distributes the leases of a new application over several partition keys by the hash of each shard's id.
 * Used for the stream of a DynamoDB table: thousands of its shards are created within one second, and
 * their numbers are times. With blocks of neighbouring numbers, all of these leases would be written under
 * the same key at once. */
void slp_schema_sloop_spreads_by_hash(slp_schema *s);

/* A position as text, in which byte order is progress order; see schema_sloop_pos.c. SLP_POS_TEXT is the
 * room for the longest text. */
#define SLP_POS_TEXT 160
size_t slp_pos_write(const slp_position *position,
                     /* returns the length, without a NUL; 0 for LATEST and NONE, which have no text */
                     char out[SLP_POS_TEXT]);
slp_position slp_pos_read(slp_str text); /* returns kind SLP_POSITION_NONE if the text is not a position */

#endif
