/* schema_registry.h - asks the AWS Glue Schema Registry for schema versions by their ids (GetSchemaVersion).
 * It uses the identity of the consumer whose record needs the version. No call blocks: the record waits in
 * the output, and so its batch is not given back. Reading therefore stops when the budget of buffered bytes
 * is used up.
 *
 * A call is tried SLP_REGISTRY_TRIES times. The process makes at most SLP_REGISTRY_CALLS_A_SECOND calls.
 * Each failure is reported on a line of its own. A version that failed is not asked for again until its
 * back-off is over (schemas.h). */
#ifndef SLP_CLI_SCHEMA_REGISTRY_H
#define SLP_CLI_SCHEMA_REGISTRY_H

#include "api/identity.h"
#include "base/list.h"
#include "base/mem.h"
#include "cli/decoder_table.h"

#define SLP_REGISTRY_TRIES 3
#define SLP_REGISTRY_CALLS_A_SECOND 5

typedef struct slp_registry {
  slp_mem *mem;
  slp_schemas *schemas; /* borrowed */
  slp_list calls;       /* calls that are not answered yet, by registry_call.link */
  /* borrowed: the identity to use for the record that is decoded now; the caller sets it. NULL: no call
   * can be made */
  slp_aws *aws;
  uint8_t quiet;
  /* called from the event loop when a version was answered or has failed */
  void (*on_answer)(struct slp_registry *r);
  void *user;
} slp_registry;

/* Initialises r, and makes `schemas` ask r for each schema that no file has. Afterwards the caller sets
 * r->quiet, r->on_answer and r->user. */
void slp_registry_init(slp_registry *r, slp_mem *mem, slp_schemas *schemas);
/* Cancels the calls that use this identity; NULL: all calls. A version whose call was cancelled is asked
 * for again when a record needs it. */
void slp_registry_leave(slp_registry *r, const slp_aws *aws);
/* Tells the user about each call that takes long, once for each call. Called on each tick. */
void slp_registry_tick(slp_registry *r);

#endif
