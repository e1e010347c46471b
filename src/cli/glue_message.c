/* glue_message.c - reads Glue's header, unpacks the message, and writes its value with the help of its
 * schema. */
#include "cli/glue_message.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/avro_value.h"
#include "cli/decode_json.h"
#include "cli/decoder_table.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_value.h"
#include "cli/protobuf_wire.h"
#include "cli/schemas.h"
#include "codec/gunzip.h"

#include <stdio.h>

enum { ID_AT = 2, HEADER = ID_AT + SLP_SCHEMA_ID, PLAIN = 0x00, ZLIB = 0x05 };

typedef enum { BEGINS, UNPACKS, SCHEMA, AVRO, PROTOBUF } glue_state;

struct slp_glue_message {
  slp_mem *mem;
  slp_schemas *schemas;    /* borrowed; NULL: there are no schemas */
  slp_schema_format wants; /* the only format that is allowed, or SLP_SCHEMA_ANY */
  glue_state state;
  slp_str in, body;      /* in: the whole text; body: the part after the header, unpacked */
  slp_gunzipper *gunzip; /* owned; exists while the message is being unpacked */
  slp_buf text;          /* the unpacked message; empty if the message was not packed */
  slp_avro_value value;
  slp_pb_value *protobuf; /* owned; NULL: no Protobuf value is being read */
};

static int has_header(slp_str in) {
  return in.n >= HEADER && in.p[0] == 3 && (in.p[1] == PLAIN || in.p[1] == ZLIB);
}

int slp_glue_begins(slp_str in) {
  if (!has_header(in)) return 0;
  const uint8_t *id = (const uint8_t *)in.p + ID_AT;
  unsigned version = id[6] >> 4;
  return version >= 1 && version <= 8 && id[8] >> 6 == 2;
}

slp_glue_message *slp_glue_open(slp_mem *mem, slp_str in, slp_schemas *schemas, slp_schema_format wants) {
  slp_glue_message *g = SLP_NEW(mem, slp_glue_message);
  if (!g) return NULL;
  g->mem = mem;
  g->in = in;
  g->schemas = schemas;
  g->wants = wants;
  slp_buf_init(&g->text, mem, 0);
  return g;
}

void slp_glue_close(slp_glue_message *g) {
  slp_gunzip_end(g->gunzip);
  slp_buf_free(&g->text);
  if (g->protobuf) slp_pb_value_end(g->protobuf);
  slp_free(g->mem, g->protobuf);
  slp_free(g->mem, g);
}

static int begin_glue_message(slp_glue_message *g, const slp_buf *ret) {
  if (!has_header(g->in)) return SLP_EBADDATA;
  g->body = (slp_str){g->in.p + HEADER, g->in.n - HEADER};
  g->state = SCHEMA;
  if (g->in.p[1] == PLAIN) return 1;
  slp_buf_init(&g->text, g->mem, ret->max - ret->n);
  g->gunzip = slp_gunzip_begin(g->mem, g->body);
  if (!g->gunzip) return SLP_ENOMEM;
  g->state = UNPACKS;
  return 1;
}

static int unpack_glue_message(slp_glue_message *g, char why[SLP_DECODER_WHY]) {
  int r = slp_gunzip_step(g->gunzip, &g->text);
  if (r == SLP_EBADDATA) snprintf(why, SLP_DECODER_WHY, "its zlib data is damaged or truncated");
  if (r) return r;
  slp_gunzip_end(g->gunzip);
  g->gunzip = NULL;
  g->body = slp_buf_str(&g->text);
  g->state = SCHEMA;
  return 1;
}

static const char *name_of(slp_schema_format format) {
  switch (format) {
    case SLP_SCHEMA_AVRO: return "Avro";
    case SLP_SCHEMA_JSON: return "JSON";
    case SLP_SCHEMA_PROTOBUF: return "Protobuf";
    case SLP_SCHEMA_ANY: break;
  }
  return "glue";
}

/* Returns 1 if the output and the unpacked bytes together are more than the maximum of the output. */
static int is_too_much(const slp_glue_message *g, const slp_buf *ret) {
  return ret->n + g->text.n > ret->max;
}

/* Starts to read a Protobuf message. In the message, the index of its message type comes before the value.
 * The registry has the schema only as text, which only protoc can parse, so the descriptor set comes from a
 * file. */
static int begin_protobuf(slp_glue_message *g, const slp_pb_schema *schema, char why[SLP_DECODER_WHY]) {
  uint64_t number = 0;
  size_t at = 0;
  if (!schema->mem) {
    snprintf(why, SLP_DECODER_WHY, "its schema is Protobuf: give a --schema-file made by protoc");
    return SLP_EBADDATA;
  }
  if (slp_pb_varint(g->body, &at, g->body.n, &number) || number >= schema->ordered_n) {
    snprintf(why, SLP_DECODER_WHY, "the --schema-file has no message with its number");
    return SLP_EBADDATA;
  }
  g->protobuf = slp_alloc(g->mem, sizeof *g->protobuf);
  if (!g->protobuf) return SLP_ENOMEM;
  slp_pb_value_begin(g->protobuf, g->mem, schema, schema->ordered[number],
                     (slp_str){g->body.p + at, g->body.n - at});
  g->state = PROTOBUF;
  return 1;
}

static int find_schema(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  const slp_schema *schema = NULL;
  if (!g->schemas) {
    snprintf(why, SLP_DECODER_WHY, "its schema is not available");
    return SLP_EBADDATA;
  }
  int r = slp_schemas_find(g->schemas, (const uint8_t *)g->in.p + ID_AT, &schema, why);
  if (r) return r;
  if (g->wants != SLP_SCHEMA_ANY && schema->format != g->wants) {
    snprintf(why, SLP_DECODER_WHY, "its schema is %s: use -s glue", name_of(schema->format));
    return SLP_EBADDATA;
  }
  if (schema->format == SLP_SCHEMA_JSON) {
    r = slp_decode_plain_json(ret, g->body);
    if (r == SLP_EBADDATA) snprintf(why, SLP_DECODER_WHY, "its schema is JSON, but it is not JSON");
    return r ? r : is_too_much(g, ret) ? SLP_ELIMIT : 0;
  }
  if (schema->format == SLP_SCHEMA_PROTOBUF) return begin_protobuf(g, &schema->protobuf, why);
  slp_avro_value_begin(&g->value, &schema->avro, g->body, 0);
  g->state = AVRO;
  return 1;
}

static int write_some(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  int r = slp_avro_value_step(&g->value, ret, why);
  if (r < 0) return r;
  if (is_too_much(g, ret)) return SLP_ELIMIT;
  if (r == 0 && g->value.at != g->body.n) {
    snprintf(why, SLP_DECODER_WHY, "other bytes follow its value: it is damaged or has another schema");
    return SLP_EBADDATA;
  }
  return r;
}

static int write_message(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  int r = slp_pb_value_step(g->protobuf, ret, why);
  return r >= 0 && is_too_much(g, ret) ? SLP_ELIMIT : r;
}

int slp_glue_step(slp_glue_message *g, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  switch (g->state) {
    case BEGINS: return begin_glue_message(g, ret);
    case UNPACKS: return unpack_glue_message(g, why);
    case SCHEMA: return find_schema(g, ret, why);
    case AVRO: return write_some(g, ret, why);
    case PROTOBUF: return write_message(g, ret, why);
  }
  return 0;
}
