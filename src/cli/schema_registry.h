/* schema_registry.h - asks the AWS Glue Schema Registry for schema versions by their ids (GetSchemaVersion),
 * with the identity of the consumer whose record needs one. Nothing blocks: the record waits in the output,
 * and with it the batch that holds it, so that reading stops when the budget of buffered bytes is used up.
 *
 * A call is tried SLP_REGISTRY_TRIES times; the process makes SLP_REGISTRY_CALLS_A_SECOND of them at most.
 * What failed is told on a line of its own, once a failure, and kept by the schemas with a back-off. */
#ifndef SLP_CLI_SCHEMA_REGISTRY_H
#define SLP_CLI_SCHEMA_REGISTRY_H

#include "api/identity.h"
#include "cli/schemas.h"

#define SLP_REGISTRY_TRIES 3
#define SLP_REGISTRY_CALLS_A_SECOND 5

typedef struct slp_registry {
  slp_mem *mem;
  slp_schemas *schemas; /* borrowed */
  slp_list calls;       /* in flight */
  slp_aws *aws;         /* borrowed: of the record that is decoded now; NULL: it can't be asked */
  uint8_t quiet;
  void (*on_answer)(struct slp_registry *r); /* in a turn: some version is here, or has failed */
  void *user;
} slp_registry;

/* From now on `schemas` asks it for what no file has. */
void slp_registry_init(slp_registry *r, slp_mem *mem, slp_schemas *schemas);
/* Cancels the calls that use this identity; NULL: all of them. What they asked for is asked for again when a
 * record needs it. */
void slp_registry_leave(slp_registry *r, const slp_aws *aws);
/* On a tick: says once of each call that takes long what is waited for. */
void slp_registry_tick(slp_registry *r);
int slp_registry_asks(const slp_registry *r); /* is any call in flight? */

#endif
