/* decode_snappy.c - unpacks the three forms of Snappy. libsnappy only unpacks single blocks, so this file
 * reads the heads, lengths and checksums around them.
 *     block     as libsnappy packs it: no magic bytes, no checksum
 *     framed    framing_format.txt of google/snappy 1.1.9: a head, then chunks with checksums
 *     of Java   as SnappyOutputStream of snappy-java 1.1.10.5 and Kafka's clients write it: a head of 16
 *               bytes, then blocks; before each block its length in 4 bytes */
#include "cli/decode_snappy.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode_pieces.h"
#include "cli/decoder_table.h"

static const char head[] = "\xff\x06\0\0sNaPpY";
enum { HEAD = sizeof head - 1 };

static const char java_head[] = "\x82SNAPPY";
enum {
  JAVA_MAGIC = sizeof java_head,
  JAVA_HEAD = JAVA_MAGIC + 8
}; /* the magic is java_head with its NUL; two version numbers of 4 bytes each follow */

static int is_framed(slp_str in) { return slp_begins_with(in, head, HEAD); }
static int is_of_java(slp_str in) { return slp_begins_with(in, java_head, JAVA_MAGIC); }
static int is_snappy(slp_str in) { return is_framed(in) || is_of_java(in); }

#if SLP_HAVE_SNAPPY
#include <snappy-c.h>
#include <stdio.h>

#define CHUNK_MAX 65536u /* a chunk unpacks to at most this many bytes */
#define CHUNKS_A_SLICE 256
/* The highest ratio of unpacked to packed bytes: 3 packed bytes can stand for 64 unpacked bytes. A block that
 * claims a higher ratio is refused before any memory is reserved. */
#define RATIO_MAX 22u

typedef struct snappy_state {
  slp_mem *mem;
  slp_str in;              /* the part of the text that is not read yet */
  uint8_t framed, of_java; /* if both are 0, the text is a single block */
} snappy_state;

static void close_snappy(void *state) { slp_free(((snappy_state *)state)->mem, state); }

static void *open_snappy(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  snappy_state *s = SLP_NEW(mem, snappy_state);
  if (!s) return NULL;
  s->mem = mem;
  s->in = in;
  s->framed = (uint8_t)is_framed(in);
  s->of_java = (uint8_t)is_of_java(in);
  return s;
}

static uint32_t read_u32(const char *p) {
  const unsigned char *b = (const unsigned char *)p;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The CRC-32C of one byte (Castagnoli's polynomial, reflected): the exclusive or of the CRCs of its bits. */
#define CRC(i)                                                                           \
  (((i)&1 ? 0xf26b8303u : 0) ^ ((i)&2 ? 0xe13b70f7u : 0) ^ ((i)&4 ? 0xc79a971fu : 0) ^   \
   ((i)&8 ? 0x8ad958cfu : 0) ^ ((i)&16 ? 0x105ec76fu : 0) ^ ((i)&32 ? 0x20bd8edeu : 0) ^ \
   ((i)&64 ? 0x417b1dbcu : 0) ^ ((i)&128 ? 0x82f63b78u : 0))
#define CRC_4(i) CRC(i), CRC((i) + 1), CRC((i) + 2), CRC((i) + 3)
#define CRC_16(i) CRC_4(i), CRC_4((i) + 4), CRC_4((i) + 8), CRC_4((i) + 12)
#define CRC_64(i) CRC_16(i), CRC_16((i) + 16), CRC_16((i) + 32), CRC_16((i) + 48)
static const uint32_t crc_of[256] = {CRC_64(0), CRC_64(64), CRC_64(128), CRC_64(192)};

/* Returns the CRC-32C in the masked form that the format stores. */
static uint32_t compute_masked_crc(const char *p, size_t n) {
  uint32_t c = 0xffffffffu;
  for (size_t i = 0; i < n; i++) c = crc_of[(c ^ (unsigned char)p[i]) & 255] ^ c >> 8;
  c = ~c;
  return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* Unpacks a block. Refuses a block that unpacks to more than `max` bytes. */
static int add_block(slp_buf *ret, slp_str block, size_t max) {
  size_t n = 0;
  if (snappy_uncompressed_length(block.p, block.n, &n) != SNAPPY_OK || n > max || n / RATIO_MAX > block.n)
    return SLP_EBADDATA;
  if (n > ret->max - ret->n) return SLP_ELIMIT;
  if (n && slp_buf_reserve(ret, n) != 0) return SLP_ENOMEM;
  char nothing;
  if (snappy_uncompress(block.p, block.n, n ? ret->p + ret->n : &nothing, &n) != SNAPPY_OK)
    return SLP_EBADDATA;
  ret->n += n;
  return 0;
}

int slp_snappy_block(slp_buf *ret, slp_str block) { return add_block(ret, block, SIZE_MAX); }

/* Appends the data of a chunk, which is packed (type 0) or plain (type 1). The first 4 bytes of the chunk are
 * the checksum of the unpacked data. */
static int add_chunk(slp_buf *ret, unsigned type, slp_str body, char why[SLP_DECODER_WHY]) {
  size_t from = ret->n;
  if (body.n < 4) return SLP_EBADDATA;
  slp_str data = {body.p + 4, body.n - 4};
  if (type == 1 && data.n > CHUNK_MAX) return SLP_EBADDATA;
  int r = type == 0 ? add_block(ret, data, CHUNK_MAX) : slp_buf_add_str(ret, data);
  if (r) return r;
  /* an empty chunk at the beginning leaves the buffer without memory */
  if (compute_masked_crc(ret->p ? ret->p + from : "", ret->n - from) == read_u32(body.p)) return 0;
  snprintf(why, SLP_DECODER_WHY, "it is damaged: a checksum is wrong");
  return SLP_EBADDATA;
}

/* Reads one chunk of the framed form. */
static int read_chunk(snappy_state *s, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  if (s->in.n < 4) return SLP_EBADDATA;
  unsigned type = (unsigned char)s->in.p[0];
  size_t n = read_u32(s->in.p) >> 8;
  if (n > s->in.n - 4) return SLP_EBADDATA;
  slp_str chunk = s->in, body = {s->in.p + 4, n};
  s->in = (slp_str){body.p + n, s->in.n - 4 - n};
  if (type <= 1) return add_chunk(ret, type, body, why);
  /* a chunk of type 0xff is the head of another stream */
  if (type == 0xff) return n == HEAD - 4 && is_framed(chunk) ? 0 : SLP_EBADDATA;
  /* chunks of the types from 0x80 on may be skipped; unknown types below 0x80 are errors */
  return type >= 0x80 ? 0 : SLP_EBADDATA;
}

/* Reads one block of the form of Java, or the head of another stream that follows the first one. */
static int read_java(snappy_state *s, slp_buf *ret) {
  if (is_of_java(s->in)) {
    if (s->in.n < JAVA_HEAD) return SLP_EBADDATA;
    s->in = (slp_str){s->in.p + JAVA_HEAD, s->in.n - JAVA_HEAD};
    return 0;
  }
  if (s->in.n < 4) return SLP_EBADDATA;
  const unsigned char *b = (const unsigned char *)s->in.p;
  size_t n = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  if (n > s->in.n - 4) return SLP_EBADDATA;
  slp_str block = {s->in.p + 4, n};
  s->in = (slp_str){block.p + n, s->in.n - 4 - n};
  return add_block(ret, block, SIZE_MAX);
}

static int step_snappy(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  snappy_state *s = state;
  size_t from = ret->n;
  if (!s->framed && !s->of_java) return add_block(ret, s->in, SIZE_MAX);
  for (int i = 0; i < CHUNKS_A_SLICE && s->in.n && ret->n - from < SLP_PIECE; i++) {
    int r = s->framed ? read_chunk(s, ret, why) : read_java(s, ret);
    if (r) return r;
  }
  return s->in.n > 0;
}
#else
int slp_snappy_block(slp_buf *ret, slp_str block) {
  (void)ret, (void)block;
  return SLP_EBADDATA;
}
#endif

const slp_decoder slp_decoder_snappy = {.name = "snappy",
                                        .does = "unpack Snappy: block, framed, Java",
                                        .damaged = "it is not Snappy, or it is damaged",
                                        .recognizes = is_snappy,
#if SLP_HAVE_SNAPPY
                                        .open = open_snappy,
                                        .step = step_snappy,
                                        .close = close_snappy
#else
                                        .needs = "libsnappy-dev"
#endif
};
