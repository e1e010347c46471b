/* decode_protobuf.c - the decoder `-s protobuf`. A text that begins with Glue's header is read by
 * glue_message.c, any other text as a plain message of Protobuf. The header begins with the byte 03. A plain
 * message never does, because 03 would be the tag of a field with the number 0, which no message has. */
#include "cli/decode_protobuf.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "cli/glue_message.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_value.h"
#include "cli/schemas.h"

#include <stdio.h>

enum { GLUE = 3 };

typedef struct protobuf_state {
  slp_mem *mem;
  slp_glue_message *glue; /* owned; NULL: the text does not begin with Glue's header */
  slp_schemas *schemas;   /* borrowed, or NULL */
  slp_str in;
  slp_pb_value *value; /* owned; NULL: the reading has not started yet */
} protobuf_state;

static void close_protobuf(void *state) {
  protobuf_state *s = state;
  if (s->glue) slp_glue_close(s->glue);
  if (s->value) slp_pb_value_end(s->value);
  slp_free(s->mem, s->value);
  slp_free(s->mem, s);
}

static void *open_protobuf(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  protobuf_state *s = SLP_NEW(mem, protobuf_state);
  if (!s) return NULL;
  s->mem = mem;
  s->in = in;
  s->schemas = schemas;
  if (in.p[0] != GLUE) return s;
  s->glue = slp_glue_open(mem, in, schemas, SLP_SCHEMA_PROTOBUF);
  if (s->glue) return s;
  slp_free(mem, s);
  return NULL;
}

static int begin_named_message(protobuf_state *s, char why[SLP_DECODER_WHY]) {
  const slp_pb_schema *schema = s->schemas ? slp_schemas_named(s->schemas) : NULL;
  if (!schema) {
    snprintf(why, SLP_DECODER_WHY, "it has no Glue header; give --schema-file FILE#MESSAGE");
    return SLP_EBADDATA;
  }
  s->value = slp_alloc(s->mem, sizeof *s->value);
  if (!s->value) return SLP_ENOMEM;
  slp_pb_value_begin(s->value, s->mem, schema, schema->named, s->in);
  return 1;
}

static int step_protobuf(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  protobuf_state *s = state;
  if (s->glue) return slp_glue_step(s->glue, ret, why);
  return s->value ? slp_pb_value_step(s->value, ret, why) : begin_named_message(s, why);
}

const slp_decoder slp_decoder_protobuf = {.name = "protobuf",
                                          .does = "Protobuf, by --schema-file",
                                          .damaged = "it is not a Protobuf message",
                                          .open = open_protobuf,
                                          .step = step_protobuf,
                                          .close = close_protobuf,
                                          .needs_schema = 1,
                                          .makes_lines = 1};
