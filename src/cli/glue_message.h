/* glue_message.h - turns a message behind the header of an AWS Glue Schema Registry into JSON.
 *
 * The header, as the serialisers of schema-registry-serde 1.1.25 (Maven) write it: 03; then 00, or 05 if the
 * message is packed with zlib; then the 16 bytes of the id of its schema version. One value follows: of Avro,
 * of JSON, or of Protobuf behind the number of its message, a varint (protobuf_schema.h).
 *
 *     BEGINS -- packed --> UNPACKS --> SCHEMA --> AVRO or PROTOBUF
 *       +------ not packed ---------------^
 *
 * SCHEMA waits until `schemas` has the schema, or knows that it can't be had. It also writes a value of
 * JSON. */
#ifndef SLP_CLI_GLUE_MESSAGE_H
#define SLP_CLI_GLUE_MESSAGE_H

#include "cli/decoder_table.h"
#include "cli/schemas.h"

typedef struct slp_glue_message slp_glue_message;

/* Returns 1 if the text begins with the header. Its first two bytes are weak as magic, so the id must be a
 * UUID as RFC 9562 defines them. */
int slp_glue_begins(slp_str in);
/* Returns NULL if there is no memory. `in` and `schemas` must live until close. `schemas` may be NULL.
 * `wants`: the only format that is allowed, or SLP_SCHEMA_ANY. */
slp_glue_message *slp_glue_open(slp_mem *mem, slp_str in, slp_schemas *schemas, slp_schema_format wants);
int slp_glue_step(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]); /* as slp_decoder.step */
void slp_glue_close(slp_glue_message *g);

#endif
