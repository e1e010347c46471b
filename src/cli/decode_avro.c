/* decode_avro.c - picks one of two readers by the first bytes of the text: that of Avro files, or that of
 * messages with Glue's header. */
#include "cli/decode_avro.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/avro_file.h"
#include "cli/decoder_table.h"
#include "cli/glue_message.h"
#include "cli/schemas.h"

#include <stdio.h>

typedef struct avro_state {
  slp_mem *mem;
  slp_avro_file *file;    /* owned; NULL: the text is not an Avro file */
  slp_glue_message *glue; /* owned; NULL: the text is an Avro file */
} avro_state;

static void close_avro(void *state) {
  avro_state *s = state;
  if (s->file) slp_avro_file_close(s->file);
  if (s->glue) slp_glue_close(s->glue);
  slp_free(s->mem, s);
}

static void *open_avro(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  avro_state *s = SLP_NEW(mem, avro_state);
  if (!s) return NULL;
  s->mem = mem;
  if (slp_avro_file_begins(in))
    s->file = slp_avro_file_open(mem, in, schemas);
  else
    s->glue = slp_glue_open(mem, in, schemas, SLP_SCHEMA_AVRO);
  if (s->file || s->glue) return s;
  slp_free(mem, s);
  return NULL;
}

static int step_avro(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  avro_state *s = state;
  return s->file ? slp_avro_file_step(s->file, ret, why) : slp_glue_step(s->glue, ret, why);
}

const slp_decoder slp_decoder_avro = {
    .name = "avro",
    .does = "Avro: a file, or after Glue's header",
    .damaged = "it is not an Avro file and has no Glue Schema Registry header",
    .recognizes = slp_avro_file_begins,
    .open = open_avro,
    .step = step_avro,
    .close = close_avro,
    .needs_schema = 1,
    .makes_lines = 1};
