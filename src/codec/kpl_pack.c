/* kpl_pack.c - writes the protobuf message of an aggregate, the magic bytes before it and the MD5 behind
 * it. */
#include "codec/kpl_pack.h"

#include "base/buf.h"
#include "codec/digest.h"

#define MAGIC_N 4u
#define MD5_N 16u
/* The most bytes of a varint of 32 bits. */
#define VARINT_MAX 5u
/* Tags of fields: the field's number, shifted, and the wire type in the low three bits. Wire type 2: bytes,
 * 0: a number. The numbers of the fields are those of the schema in kpl_message.h. */
enum { TAG_KEY = 1 << 3 | 2, TAG_HASH = 2 << 3 | 2, TAG_RECORD = 3 << 3 | 2 };
enum { TAG_KEY_INDEX = 1 << 3, TAG_HASH_INDEX = 2 << 3, TAG_DATA = 3 << 3 | 2 };

static size_t varint_bytes(uint32_t v) {
  size_t n = 1;
  for (; v > 0x7f; v >>= 7) n++;
  return n;
}

static char *put_varint(char *at, uint32_t v) {
  for (; v > 0x7f; v >>= 7) *at++ = (char)(v | 0x80);
  *at++ = (char)v;
  return at;
}

static char *put_text(char *at, char tag, slp_str text) {
  *at++ = tag;
  at = put_varint(at, (uint32_t)text.n);
  if (text.n) memcpy(at, text.p, text.n);
  return at + text.n;
}

/* Appends a field of bytes to the buffer. */
static void add_text(slp_buf *b, char tag, slp_str text) {
  if (slp_buf_reserve(b, 1 + VARINT_MAX + text.n)) return;
  b->n = (size_t)(put_text(b->p + b->n, tag, text) - b->p);
}

size_t slp_kpl_pack_begin(slp_buf *b) {
  size_t from = b->n;
  slp_buf_add(b, "\xF3\x89\x9A\xC2", MAGIC_N);
  return from;
}

void slp_kpl_pack_key(slp_buf *b, slp_str key) { add_text(b, TAG_KEY, key); }
void slp_kpl_pack_hash(slp_buf *b, slp_str hash_key) { add_text(b, TAG_HASH, hash_key); }

void slp_kpl_pack_record(slp_buf *b, uint32_t key_index, int64_t hash_index, slp_str data) {
  size_t n = 1 + varint_bytes(key_index) + 1 + varint_bytes((uint32_t)data.n) + data.n;
  if (hash_index >= 0) n += 1 + varint_bytes((uint32_t)hash_index);
  if (slp_buf_reserve(b, 1 + VARINT_MAX + n)) return;
  char *at = b->p + b->n;
  *at++ = TAG_RECORD;
  at = put_varint(at, (uint32_t)n);
  *at++ = TAG_KEY_INDEX;
  at = put_varint(at, key_index);
  if (hash_index >= 0) {
    *at++ = TAG_HASH_INDEX;
    at = put_varint(at, (uint32_t)hash_index);
  }
  at = put_text(at, TAG_DATA, data);
  b->n = (size_t)(at - b->p);
}

int slp_kpl_pack_end(slp_buf *b, size_t from, slp_digest *digest) {
  uint8_t md5[MD5_N];
  if (slp_buf_failed(b)) return slp_buf_failed(b);
  slp_str message = {b->p + from + MAGIC_N, b->n - from - MAGIC_N};
  return slp_md5(digest, message, md5) ? slp_buf_fail(b, SLP_ENOMEM) : slp_buf_add(b, md5, MD5_N);
}
