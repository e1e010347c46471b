/* decode_glue.c - the decoder `-s glue`. It only calls the reader of glue_message.h. */
#include "cli/decode_glue.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "cli/glue_message.h"
#include "cli/schemas.h"

static void *open_glue(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  return slp_glue_open(mem, in, schemas, SLP_SCHEMA_ANY);
}

static int step_glue(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  return slp_glue_step(state, ret, why);
}

static void close_glue(void *state) { slp_glue_close(state); }

const slp_decoder slp_decoder_glue = {.name = "glue",
                                      .does = "Avro, Protobuf, JSON after that header",
                                      .damaged = "it has no Glue Schema Registry header",
                                      .recognizes = slp_glue_begins,
                                      .open = open_glue,
                                      .step = step_glue,
                                      .close = close_glue,
                                      .needs_schema = 1,
                                      .makes_lines = 1};
