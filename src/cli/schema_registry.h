/* schema_registry.h - asks the AWS Glue Schema Registry for schema versions by their ids (GetSchemaVersion),
 * with the identity of the consumer whose record needs one. Nothing blocks: the record waits in the output
 * and keeps its batch there, so reading stops when the budget of buffered bytes is used up.
 *
 * A call is tried SLP_REGISTRY_TRIES times; the process makes at most SLP_REGISTRY_CALLS_A_SECOND. Each
 * failure is told on a line of its own. The version stays failed in slp_schemas until its back-off is
 * over. */
#ifndef SLP_CLI_SCHEMA_REGISTRY_H
#define SLP_CLI_SCHEMA_REGISTRY_H

#include "api/identity.h"
#include "cli/schemas.h"

#define SLP_REGISTRY_TRIES 3
#define SLP_REGISTRY_CALLS_A_SECOND 5

typedef struct slp_registry {
  slp_mem *mem;
  slp_schemas *schemas; /* borrowed */
  slp_list calls;       /* registry_call.link: calls under way */
  /* borrowed: identity for the record being decoded, set by the user; NULL: the registry can't be asked */
  slp_aws *aws;
  uint8_t quiet;
  void (*on_answer)(struct slp_registry *r); /* comes from the loop: a version was answered or has failed */
  void *user;
} slp_registry;

/* Initialises r, and makes `schemas` ask r for schemas that no file has. r->quiet, on_answer and user are the
 * caller's to set. */
void slp_registry_init(slp_registry *r, slp_mem *mem, slp_schemas *schemas);
/* Cancels the calls that use this identity; NULL: all calls. Their versions are asked for again when a record
 * needs them. */
void slp_registry_leave(slp_registry *r, const slp_aws *aws);
/* Call it on a tick: tells, once for each call, that a slow call is waited for. */
void slp_registry_tick(slp_registry *r);
int slp_registry_asks(const slp_registry *r); /* returns 1 if a call is under way */

#endif
