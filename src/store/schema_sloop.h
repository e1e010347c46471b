/* schema_sloop.h - the native layout of leases in a table. */
#ifndef SLP_STORE_SCHEMA_SLOOP_H
#define SLP_STORE_SCHEMA_SLOOP_H

#include "base/mem.h"
#include "core/position.h"
#include "lease/schema.h"

/* Creates the native layout for one application and one stream. A table can have many applications and
 * streams. generation: distinguishes streams that had the same name one after the other: the creation time
 * in seconds of a Kinesis stream, or the label of a table's stream. Returns NULL if there is no memory. */
slp_schema *slp_schema_sloop(slp_mem *mem, slp_str app, slp_str stream, slp_str generation);
/* Makes a new application distribute its leases over several partition keys. Each group of `block` shards
 * with neighbouring numbers shares a key; block 0: 512 shards. For a store that limits the writes under one
 * partition key. */
void slp_schema_sloop_spreads(slp_schema *s, uint32_t block);
/* Makes a new application distribute its leases over several partition keys by the hash of each shard's id.
 * For the stream of a DynamoDB table: thousands of its shards are created within one second, and their
 * numbers are times, so blocks of neighbouring numbers would put all of these leases under one key. */
void slp_schema_sloop_spreads_by_hash(slp_schema *s);

/* Writes a position as a text. A later position has the greater text, compared byte by byte
 * (schema_sloop_pos.c). SLP_POS_TEXT is enough room for the longest text. */
#define SLP_POS_TEXT 160
size_t slp_pos_write(const slp_position *position,
                     /* returns the length of the text, which has no NUL; 0 for LATEST and NONE, which have
                      * no text */
                     char out[SLP_POS_TEXT]);
/* parses a text of slp_pos_write; returns a position of kind SLP_POSITION_NONE if the text is no position */
slp_position slp_pos_read(slp_str text);

#endif
