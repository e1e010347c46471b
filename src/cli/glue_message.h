/* glue_message.h - turns a message that follows the header of an AWS Glue Schema Registry into JSON.
 *
 * The serialisers of schema-registry-serde 1.1.25 (Maven) write this header:
 *  1. the byte 03;
 *  2. the byte 00, or 05 if the message is packed with zlib;
 *  3. the 16 bytes of the id of the schema version.
 * The message itself follows: one value in Avro, JSON or Protobuf. In front of a Protobuf value is the index
 * of its message type, a varint (protobuf_schema.h).
 *
 *     BEGINS -- packed --> UNPACKS --> SCHEMA --> AVRO or PROTOBUF
 *       +------ not packed ---------------^
 *
 * The state SCHEMA lasts until `schemas` has the schema, or knows that it can't get the schema. A value in
 * JSON is written in that state too. */
#ifndef SLP_CLI_GLUE_MESSAGE_H
#define SLP_CLI_GLUE_MESSAGE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "cli/schemas.h"

typedef struct slp_glue_message slp_glue_message;

/* Returns 1 if the text begins with the header. The first two bytes prove little, so the 16 bytes of the id
 * must also be a UUID as RFC 9562 defines it. */
int slp_glue_begins(slp_str in);
/* Returns a reader of the message `in`, or NULL if there is no memory. `in` and `schemas` must live until
 * slp_glue_close. `schemas` may be NULL. `wants`: the only format that is allowed, or SLP_SCHEMA_ANY. */
slp_glue_message *slp_glue_open(slp_mem *mem, slp_str in, slp_schemas *schemas, slp_schema_format wants);
/* works as slp_decoder.step (decoder_table.h) */
int slp_glue_step(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]);
void slp_glue_close(slp_glue_message *g);

#endif
