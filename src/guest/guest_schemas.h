/* guest_schemas.h - creates the schemas (lease/schema.h) of other systems' lease tables. Only layouts.c and
 * tests call this. The caller owns each returned slp_schema, and frees it by its function `free`. NULL: no
 * memory. */
#ifndef SLP_GUEST_GUEST_SCHEMAS_H
#define SLP_GUEST_GUEST_SCHEMAS_H

#include "base/mem.h"
#include "core/position.h"
#include "lease/schema.h"

/* For a table of Amazon's KCL 2.x. stream: empty if the application reads one stream, otherwise
 * "ACCOUNT:NAME:EPOCH", where EPOCH is the stream's time of creation in seconds. start_ms: the time that a
 * row with the position AT_TIMESTAMP stands for, because the table does not store it. */
slp_schema *slp_schema_kcl(slp_mem *mem, slp_str stream, int64_t start_ms);
/* Sets the names by which rows may name the stream. name: in the form of the KCL. alias: in the form of the
 * KCL's adapter for DynamoDB Streams; empty: the stream has no such name. After this call the rows decide
 * (slp_schema.form) whether rows name the stream, and by which of the two names; `stream` of slp_schema_kcl
 * then decides only while there are no rows. Returns 0 or SLP_ENOMEM. */
int slp_schema_kcl_named(slp_schema *base, slp_str name, slp_str alias);
/* Sets the names of the two further tables that a fleet of KCL 3.0 to 3.4 may have besides the table of
 * leases. By default they are APPLICATION-CoordinatorState and APPLICATION-WorkerMetricStats. Returns 0 or
 * SLP_ENOMEM. */
int slp_schema_kcl_beside(slp_schema *base, const char *coordinator, const char *metrics);

/* For a table of vmware-go-kcl or vmware-go-kcl-v2, which is of one stream. start: where reading begins if a
 * row has no checkpoint. */
slp_schema *slp_schema_vmware(slp_mem *mem, const slp_position *start);

/* For a control table of motorway's Kinesis ramp, which is of one stream. start: where reading begins if a
 * row has no saved position. */
slp_schema *slp_schema_motorway(slp_mem *mem, const slp_position *start);

/* For a table of kcl-rb, which is of one stream. */
slp_schema *slp_schema_kcl_rb(slp_mem *mem);

/* For the tables APP_checkpoints, APP_clients and APP_metadata of kinsumer, which are of one stream.
 * lease_ms: five of the fleet's check periods. */
slp_schema *slp_schema_kinsumer(slp_mem *mem, const char *app, uint32_t lease_ms);

#endif
