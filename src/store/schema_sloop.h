/* schema_sloop.h - opens the native layout of leases. */
#ifndef SLP_STORE_SCHEMA_SLOOP_H
#define SLP_STORE_SCHEMA_SLOOP_H

#include "lease/schema.h"

/* One table for many applications and streams. generation: the creation time of a Kinesis stream in seconds,
 * or the label of a table's stream, so that a stream made again under its name has other rows. NULL: no
 * memory. */
slp_schema *slp_schema_sloop(slp_mem *mem, slp_str app, slp_str stream, slp_str generation);
/* Spreads a new application's leases over several partition keys, each for `block` shards with neighbouring
 * numbers; 0: 512. For a store that limits the writes of one key. */
void slp_schema_sloop_spreads(slp_schema *s, uint32_t block);
/* Spreads a new application's leases over several partition keys by the hash of their shards' names. For a
 * table's stream: its shards are made by the thousand within one second, and their numbers are times, so
 * that neighbours would all be written at once. */
void slp_schema_sloop_spreads_by_hash(slp_schema *s);

/* schema_sloop_pos.c: a position as text whose byte order is progress. */
#define SLP_POS_TEXT 160
size_t slp_pos_write(
    const slp_position *position,
    char out[SLP_POS_TEXT]);             /* returns its length; no NUL. 0: LATEST and NONE have no text */
slp_position slp_pos_read(slp_str text); /* NONE: not a position */

#endif
