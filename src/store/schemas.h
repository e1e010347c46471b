/* schemas.h - opens the layouts of leases. */
#ifndef SLP_STORE_SCHEMAS_H
#define SLP_STORE_SCHEMAS_H

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

/* A table of Amazon's KCL 2.x. stream: empty where the application reads one stream, else
 * "ACCOUNT:NAME:EPOCH" (EPOCH: the stream's creation in seconds). start_ms: the time that the position
 * AT_TIMESTAMP stands for, which the table does not tell. NULL: no memory. */
slp_schema *slp_schema_kcl(slp_mem *mem, slp_str stream, int64_t start_ms);
/* How rows may name the stream: as the KCL does, and as its adapter for DynamoDB Streams does (empty:
 * not). Then the rows decide (slp_schema.form) whether those of an application of one stream name it, and
 * in which way: `stream` above is only how they do where there are none yet. SLP_ENOMEM. */
int slp_schema_kcl_named(slp_schema *base, slp_str name, slp_str alias);
/* Its tables beside the leases, where a fleet of KCL 3.0 to 3.4 may have them; by default an application has
 * APPLICATION-CoordinatorState and APPLICATION-WorkerMetricStats. SLP_ENOMEM. */
int slp_schema_kcl_beside(slp_schema *base, const char *coordinator, const char *metrics);

/* A table of vmware-go-kcl or vmware-go-kcl-v2, of one stream. start: where a row without a checkpoint
 * begins. NULL: no memory. */
slp_schema *slp_schema_vmware(slp_mem *mem, const slp_position *start);

/* A control table of motorway's Kinesis ramp, of one stream. start: where a row begins of which nothing is
 * saved. NULL: no memory. */
slp_schema *slp_schema_motorway(slp_mem *mem, const slp_position *start);

/* A table of kcl-rb, of one stream. NULL: no memory. */
slp_schema *slp_schema_kcl_rb(slp_mem *mem);

/* The tables APP_checkpoints, APP_clients and APP_metadata of kinsumer, of one stream. lease_ms: five of the
 * fleet's check periods. NULL: no memory. */
slp_schema *slp_schema_kinsumer(slp_mem *mem, const char *app, uint32_t lease_ms);

/* schema_sloop_pos.c: a position as text whose byte order is progress. */
#define SLP_POS_TEXT 160
size_t slp_pos_write(
    const slp_position *position,
    char out[SLP_POS_TEXT]);             /* returns its length; no NUL. 0: LATEST and NONE have no text */
slp_position slp_pos_read(slp_str text); /* NONE: not a position */

#endif
