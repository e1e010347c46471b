/* decode_avro.c - the decoder `-s avro`. The first bytes of the text decide how it is read:
 *  1. A message with the header of a Glue Schema Registry is read by glue_message.c.
 *  2. An object container file of Avro (specification 1.12) is read by this file. Each value of it, which
 *     Avro calls a datum, becomes one line of JSON:
 *
 *     HEAD --> BLOCK --> UNPACKS --> DATA --> BLOCK ...      DATA: writes the datums one after the other
 *                +---- not packed ----^
 *
 * The bytes of unpacked blocks and the lines of JSON together may not exceed the maximum of the output
 * buffer. */
#include "cli/decode_avro.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/states.h"
#include "cli/avro_schema.h"
#include "cli/avro_value.h"
#include "cli/decode_snappy.h"
#include "cli/decode_zstd.h"
#include "cli/decoder_table.h"
#include "cli/glue_message.h"
#include "cli/schemas.h"
#include "codec/crc32.h"
#include "codec/gunzip.h"
#include "codec/json.h"

#include <stdio.h>

static const char magic[] = "Obj\x01";
enum { MAGIC = sizeof magic - 1, SYNC = 16, BLOCKS_A_SLICE = 256 };

typedef enum { HEAD, BLOCK, UNPACKS, DATA } file_state;

/* Unpacks blocks of one codec. `open`, `step` and `close` work as the members of slp_decoder
 * (decoder_table.h); each block is opened, stepped and closed by itself. */
typedef struct block_codec {
  const char *name;
  const char *needs; /* the package that this build lacks; NULL: the codec is built in */
  void *(*open)(slp_mem *mem, slp_str in, slp_schemas *schemas);
  int (*step)(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]);
  void (*close)(void *state);
} block_codec;

typedef struct avro_file {
  slp_mem *mem;
  slp_schemas *schemas; /* borrowed, or NULL */
  slp_str in;
  size_t at; /* how far `in` has been read */
  file_state state;
  const slp_avro_schema *schema;
  slp_avro_schema own; /* the schema from the file's own head; used if `schemas` is NULL */
  block_codec codec;   /* if `open` is NULL, the blocks are not packed */
  char sync[SYNC];
  void *packed;      /* owned; state of the codec while it unpacks a block */
  slp_buf block;     /* the block, unpacked */
  slp_str data;      /* the values (datums) of the block that is being read */
  uint64_t left;     /* how many datums of this block are not written yet */
  uint64_t unpacked; /* unpacked bytes of all blocks together */
  slp_avro_value value;
  uint8_t in_value; /* 1: part of a datum is written */
  uint8_t wrote;    /* 1: a datum was written, so the next datum needs a newline before it */
} avro_file;

static const slp_set allowed[] = {
    [HEAD] = SLP_BIT(BLOCK),
    [BLOCK] = SLP_BIT(UNPACKS) | SLP_BIT(DATA),
    [UNPACKS] = SLP_BIT(DATA),
    [DATA] = SLP_BIT(BLOCK),
};

static void move(avro_file *f, file_state to) { SLP_MOVE(allowed, f->state, to); }

static int is_avro_file(slp_str in) { return slp_begins_with(in, magic, MAGIC); }

/* ---- codecs ---- */

static void *open_deflate(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  return slp_inflate_begin(mem, in);
}

static int step_deflate(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  (void)why;
  return slp_gunzip_step(state, ret);
}

static void close_deflate(void *state) { slp_gunzip_end(state); }

typedef struct snappy_block {
  slp_mem *mem;
  slp_str in;
} snappy_block;

static void *open_snappy(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  snappy_block *s = SLP_NEW(mem, snappy_block);
  (void)schemas;
  if (s) *s = (snappy_block){mem, in};
  return s;
}

/* Unpacks a block of Snappy. The last 4 bytes of the block are the CRC-32 of the unpacked bytes, highest byte
 * first. */
static int step_snappy(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  const snappy_block *s = state;
  if (s->in.n < 4) return SLP_EBADDATA;
  size_t from = ret->n;
  slp_str block = {s->in.p, s->in.n - 4};
  int r = slp_snappy_block(ret, block);
  if (r) return r;
  const uint8_t *p = (const uint8_t *)block.p + block.n;
  uint32_t told = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  if (slp_crc32((slp_str){ret->p ? ret->p + from : "", ret->n - from}) == told) return 0;
  snprintf(why, SLP_DECODER_WHY, "it is damaged: the checksum of a block is wrong");
  return SLP_EBADDATA;
}

static void close_snappy(void *state) { slp_free(((snappy_block *)state)->mem, state); }

static int find_codec(slp_str name, block_codec *ret, char why[SLP_DECODER_WHY]) {
  const slp_decoder *zstd = &slp_decoder_zstd;
  const block_codec known[] = {
      {"null", NULL, NULL, NULL, NULL},
      {"deflate", NULL, open_deflate, step_deflate, close_deflate},
      {"snappy", slp_decoder_snappy.needs, open_snappy, step_snappy, close_snappy},
      {"zstandard", zstd->needs, zstd->open, zstd->step, zstd->close},
  };
  for (size_t i = 0; i < SLP_COUNT(known); i++) {
    if (!slp_str_is(name, known[i].name)) continue;
    *ret = known[i];
    if (!ret->needs) return 0;
    snprintf(why, SLP_DECODER_WHY, "its codec %s is not built in (%s)", ret->name, ret->needs);
    return SLP_EBADDATA;
  }
  snprintf(why, SLP_DECODER_WHY,
           "its codec %.*s is not supported; supported are null, deflate, snappy, zstandard",
           (int)slp_min_u64(name.n, 20), name.p);
  return SLP_EBADDATA;
}

/* ---- the head ---- */

static int cut_short(char why[SLP_DECODER_WHY]) {
  snprintf(why, SLP_DECODER_WHY, "the file is damaged or truncated");
  return SLP_EBADDATA;
}

static int read_long(avro_file *f, int64_t *ret) { return slp_avro_long(f->in, &f->at, ret); }

static int read_bytes(avro_file *f, slp_str *ret) {
  int64_t n = 0;
  int r = read_long(f, &n);
  if (r || n < 0 || (uint64_t)n > f->in.n - f->at) return SLP_EBADDATA;
  *ret = (slp_str){f->in.p + f->at, (size_t)n};
  f->at += (size_t)n;
  return 0;
}

/* Reads the metadata, which is a map of bytes, stored in blocks. */
static int read_metadata(avro_file *f, slp_str *schema, slp_str *codec) {
  for (;;) {
    int64_t n = 0, size = 0;
    int r = read_long(f, &n);
    if (r || n == 0) return r;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    if (n < 0) r = read_long(f, &size);
    for (; !r && left; left--) {
      slp_str key = {"", 0}, value = {"", 0};
      r = read_bytes(f, &key);
      /* refuses an invalid key, because it could be a damaged "avro.codec" */
      if (!r && !slp_utf8_valid(key)) r = SLP_EBADDATA;
      if (!r) r = read_bytes(f, &value);
      if (!r && slp_str_is(key, "avro.schema")) *schema = value;
      if (!r && slp_str_is(key, "avro.codec")) *codec = value;
    }
    if (r) return r;
  }
}

static int read_head(avro_file *f, char why[SLP_DECODER_WHY]) {
  slp_str schema = {NULL, 0}, codec = SLP_STR("null");
  f->at = MAGIC;
  if (!is_avro_file(f->in) || read_metadata(f, &schema, &codec) || f->in.n - f->at < SYNC || !schema.p)
    return cut_short(why);
  memcpy(f->sync, f->in.p + f->at, SYNC);
  f->at += SYNC;
  int r = find_codec(codec, &f->codec, why);
  if (r) return r;
  if (f->schemas) return slp_schemas_of_file(f->schemas, schema, &f->schema, why);
  r = slp_avro_schema_read(&f->own, f->mem, schema, why);
  f->schema = &f->own;
  return r;
}

/* ---- blocks ---- */

/* Returns how many bytes a block may unpack to. The text so far and all unpacked blocks count against
 * ret->max. */
static uint64_t room_left(const avro_file *f, const slp_buf *ret) {
  uint64_t used = ret->n + f->unpacked;
  return used < ret->max ? ret->max - used : 0;
}

static int begin_block(avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  int64_t n = 0;
  if (read_long(f, &n) || n < 0 || read_bytes(f, &f->data) || f->in.n - f->at < SYNC ||
      memcmp(f->in.p + f->at, f->sync, SYNC) != 0)
    return cut_short(why);
  f->at += SYNC;
  f->left = (uint64_t)n;
  if (!f->codec.open) {
    move(f, DATA);
    return 0;
  }
  slp_buf_free(&f->block);
  slp_buf_init(&f->block, f->mem, room_left(f, ret));
  f->packed = f->codec.open(f->mem, f->data, NULL);
  if (!f->packed) return SLP_ENOMEM;
  move(f, UNPACKS);
  return 0;
}

static void close_packed(avro_file *f) {
  if (f->packed) f->codec.close(f->packed);
  f->packed = NULL;
}

static int unpack_block(avro_file *f, char why[SLP_DECODER_WHY]) {
  int r = f->codec.step(f->packed, &f->block, why);
  if (r == SLP_EBADDATA && !*why)
    snprintf(why, SLP_DECODER_WHY, "a block can't be decompressed: it is damaged");
  if (r) return r;
  close_packed(f);
  f->unpacked += f->block.n;
  f->data = slp_buf_str(&f->block);
  move(f, DATA);
  return 1;
}

/* Writes the next slice of a datum. When no datum is left, goes on with the next block. */
static int write_some(avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  if (!f->in_value && !f->left) {
    move(f, BLOCK);
    return f->value.at == f->data.n ? 1 : cut_short(why);
  }
  if (!f->in_value) {
    if (f->wrote) slp_buf_add_char(ret, '\n');
    f->wrote = f->in_value = 1;
    slp_avro_value_begin(&f->value, f->schema, f->data, f->value.at);
  }
  int r = slp_avro_value_step(&f->value, ret, why);
  if (r < 0) return r;
  if (ret->n + f->unpacked > ret->max) return SLP_ELIMIT;
  if (r == 0) f->in_value = 0, f->left--;
  return 1;
}

/* Does one part of the work. Returns 1 while more work may be left, 0 at the end of the file, or an error. */
static int advance_avro_file(avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  int r;
  switch (f->state) {
    case HEAD:
      r = read_head(f, why);
      move(f, BLOCK);
      return r ? r : 1;
    case BLOCK:
      if (f->at == f->in.n) return 0;
      f->value.at = 0;
      r = begin_block(f, ret, why);
      return r ? r : 1;
    case UNPACKS: return unpack_block(f, why);
    case DATA: return write_some(f, ret, why);
  }
  return 0;
}

static avro_file *open_avro_file(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  avro_file *f = SLP_NEW(mem, avro_file);
  if (!f) return NULL;
  f->mem = mem;
  f->in = in;
  f->schemas = schemas;
  slp_buf_init(&f->block, mem, 0);
  return f;
}

/* Works as slp_decoder.step (decoder_table.h). */
static int step_avro_file(avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  size_t from = ret->n;
  int r = 1;
  for (int i = 0; r == 1 && i < BLOCKS_A_SLICE && ret->n - from < 65536; i++) {
    int unpacks = f->state == UNPACKS;
    r = advance_avro_file(f, ret, why);
    if (unpacks) break; /* one step of unpacking takes long enough for one slice */
  }
  return r < 0 && slp_buf_failed(ret) && r != SLP_EBADDATA ? slp_buf_failed(ret) : r;
}

static void close_avro_file(avro_file *f) {
  close_packed(f);
  slp_buf_free(&f->block);
  slp_avro_schema_free(&f->own);
  slp_free(f->mem, f);
}

typedef struct avro_state {
  slp_mem *mem;
  avro_file *file;        /* owned; NULL: the text is not an Avro file */
  slp_glue_message *glue; /* owned; NULL: the text is an Avro file */
} avro_state;

static void close_avro(void *state) {
  avro_state *s = state;
  if (s->file) close_avro_file(s->file);
  if (s->glue) slp_glue_close(s->glue);
  slp_free(s->mem, s);
}

static void *open_avro(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  avro_state *s = SLP_NEW(mem, avro_state);
  if (!s) return NULL;
  s->mem = mem;
  if (is_avro_file(in))
    s->file = open_avro_file(mem, in, schemas);
  else
    s->glue = slp_glue_open(mem, in, schemas, SLP_SCHEMA_AVRO);
  if (s->file || s->glue) return s;
  slp_free(mem, s);
  return NULL;
}

static int step_avro(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  avro_state *s = state;
  return s->file ? step_avro_file(s->file, ret, why) : slp_glue_step(s->glue, ret, why);
}

const slp_decoder slp_decoder_avro = {
    .name = "avro",
    .does = "Avro: a file, or after Glue's header",
    .damaged = "it is not an Avro file and has no Glue Schema Registry header",
    .recognizes = is_avro_file,
    .open = open_avro,
    .step = step_avro,
    .close = close_avro,
    .needs_schema = 1,
    .makes_lines = 1};
