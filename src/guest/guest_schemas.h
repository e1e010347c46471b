/* guest_schemas.h - opens the layouts of other systems' lease tables. Only layouts.c and tests call this.
 * Each slp_schema that is returned belongs to the caller, who ends it by its `free`. NULL: no memory. */
#ifndef SLP_GUEST_GUEST_SCHEMAS_H
#define SLP_GUEST_GUEST_SCHEMAS_H

#include "lease/schema.h"

/* A table of Amazon's KCL 2.x. stream: empty if the application reads one stream, otherwise
 * "ACCOUNT:NAME:EPOCH" (EPOCH: the stream's creation in seconds). start_ms: the time that the position
 * AT_TIMESTAMP stands for, which the table does not tell. */
slp_schema *slp_schema_kcl(slp_mem *mem, slp_str stream, int64_t start_ms);
/* Says how rows may name the stream. name: as the KCL does. alias: as its adapter for DynamoDB Streams does;
 * empty: the stream has no such name. After this call the rows decide (slp_schema.form) whether they name the
 * stream, and in which of the two ways; `stream` above decides only while there are no rows. Returns 0 or
 * SLP_ENOMEM. */
int slp_schema_kcl_named(slp_schema *base, slp_str name, slp_str alias);
/* Names the two tables beside the leases that a fleet of KCL 3.0 to 3.4 may have. By default an application
 * has APPLICATION-CoordinatorState and APPLICATION-WorkerMetricStats. Returns 0 or SLP_ENOMEM. */
int slp_schema_kcl_beside(slp_schema *base, const char *coordinator, const char *metrics);

/* A table of vmware-go-kcl or vmware-go-kcl-v2, of one stream. start: where a row without a checkpoint
 * begins. */
slp_schema *slp_schema_vmware(slp_mem *mem, const slp_position *start);

/* A control table of motorway's Kinesis ramp, of one stream. start: where a row without a saved position
 * begins. */
slp_schema *slp_schema_motorway(slp_mem *mem, const slp_position *start);

/* A table of kcl-rb, of one stream. */
slp_schema *slp_schema_kcl_rb(slp_mem *mem);

/* The tables APP_checkpoints, APP_clients and APP_metadata of kinsumer, of one stream. lease_ms: five of the
 * fleet's check periods. */
slp_schema *slp_schema_kinsumer(slp_mem *mem, const char *app, uint32_t lease_ms);

#endif
