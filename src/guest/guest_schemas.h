/* guest_schemas.h - opens the layouts of other systems' lease tables. Only layouts.c and tests call this. */
#ifndef SLP_GUEST_GUEST_SCHEMAS_H
#define SLP_GUEST_GUEST_SCHEMAS_H

#include "lease/schema.h"

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

#endif
