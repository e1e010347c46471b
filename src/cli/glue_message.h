/* glue_message.h - a message behind the header of an AWS Glue Schema Registry, to JSON.
 *
 * The header, as the serialisers of schema-registry-serde 1.1.25 (Maven) write it: 03, then 00 or, when the
 * message is packed with zlib, 05, then the 16 bytes of the id of its schema version. What follows is one
 * value of Avro, JSON, or of Protobuf behind the number of its message: a varint; see protobuf_schema.h.
 *
 *   UNPACKS --> SCHEMA --> VALUE      SCHEMA: waits until `schemas` has it, or knows that it can't be had */
#ifndef SLP_CLI_GLUE_MESSAGE_H
#define SLP_CLI_GLUE_MESSAGE_H

#include "cli/decoder_table.h"
#include "cli/schemas.h"

typedef struct slp_glue_message slp_glue_message;

/* Returns 1 if the text begins with the header. Its first bytes are weak as magic, so the id must be a UUID
 * as RFC 9562 has them. */
int slp_glue_begins(slp_str in);
/* NULL: no memory. `in` and `schemas` (NULL is fine) must live until close. `wants`: the only format that
 * may be; or SLP_SCHEMA_ANY. */
slp_glue_message *slp_glue_open(slp_mem *mem, slp_str in, slp_schemas *schemas, slp_schema_format wants);
int slp_glue_step(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]); /* as slp_decoder.step */
void slp_glue_close(slp_glue_message *g);

#endif
