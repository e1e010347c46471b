/* kpl_write.h - writes aggregates, good ones and odd ones, for tests: protobuf by hand. */
#ifndef SLP_TEST_KPL_WRITE_H
#define SLP_TEST_KPL_WRITE_H

#include "base/buf.h"
#include "codec/digest.h"

#include <stdlib.h>

static inline void kpl_must(int ok) {
  if (!ok) abort();
}

static inline void kpl_varint(slp_buf *b, uint64_t v) {
  for (; v > 0x7f; v >>= 7) kpl_must(slp_buf_add_char(b, (char)(v | 0x80)) == 0);
  kpl_must(slp_buf_add_char(b, (char)v) == 0);
}

static inline void kpl_number(slp_buf *b, uint32_t field, uint64_t v) {
  kpl_varint(b, field << 3);
  kpl_varint(b, v);
}

static inline void kpl_bytes(slp_buf *b, uint32_t field, slp_str s) {
  kpl_varint(b, field << 3 | 2);
  kpl_varint(b, s.n);
  kpl_must(slp_buf_add_str(b, s) == 0);
}

static inline void kpl_key(slp_buf *b, const char *text) { kpl_bytes(b, 1, slp_str_of(text)); }
static inline void kpl_hash(slp_buf *b, const char *text) { kpl_bytes(b, 2, slp_str_of(text)); }

/* hash < 0: without an explicit hash key. */
static inline void kpl_record(slp_buf *b, uint64_t key, int64_t hash, slp_str data) {
  slp_buf rec;
  slp_buf_init(&rec, b->mem, SIZE_MAX / 2);
  kpl_number(&rec, 1, key);
  if (hash >= 0) kpl_number(&rec, 2, (uint64_t)hash);
  kpl_bytes(&rec, 3, data);
  kpl_bytes(b, 3, slp_buf_str(&rec));
  slp_buf_free(&rec);
}

/* The message becomes an aggregate; message stays. */
static inline void kpl_seal(slp_buf *ret, slp_str message) {
  slp_digest *d = slp_digest_new(ret->mem);
  uint8_t md5[16];
  kpl_must(d && slp_md5(d, message, md5) == 0 && slp_buf_add(ret, "\xF3\x89\x9A\xC2", 4) == 0 &&
           slp_buf_add_str(ret, message) == 0 && slp_buf_add(ret, md5, 16) == 0);
  slp_digest_free(d);
}

#endif
