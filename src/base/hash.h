/* hash.h - hashes keys that come from outside. SipHash with a secret hash key keeps an attacker from choosing
 * keys that collide in a table. No order and no output of the program may depend on such a hash. */
#ifndef SLP_BASE_HASH_H
#define SLP_BASE_HASH_H

#include "base/base.h"

typedef struct slp_hash_key {
  uint64_t k[2];
} slp_hash_key;

static inline uint64_t slp_sip_left(uint64_t v, int bits) { return v << bits | v >> (64 - bits); }

static inline void slp_sip_rounds(uint64_t v[4], int n) {
  for (; n; n--) {
    v[0] += v[1], v[2] += v[3];
    v[1] = slp_sip_left(v[1], 13) ^ v[0], v[3] = slp_sip_left(v[3], 16) ^ v[2];
    v[0] = slp_sip_left(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = slp_sip_left(v[1], 17) ^ v[2], v[3] = slp_sip_left(v[3], 21) ^ v[0];
    v[2] = slp_sip_left(v[2], 32);
  }
}

/* Reads n <= 8 bytes as a little-endian number. */
static inline uint64_t slp_sip_word(const char *p, size_t n) {
  uint64_t v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (n) memcpy(&v, p, n);
#else
  for (size_t i = 0; i < n; i++) v |= (uint64_t)(uint8_t)p[i] << 8 * i;
#endif
  return v;
}

/* Computes SipHash-c-d with c = block_rounds and d = end_rounds (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF"). */
static inline uint64_t slp_siphash(const slp_hash_key *key, slp_str s, int block_rounds, int end_rounds) {
  uint64_t v[4] = {key->k[0] ^ 0x736f6d6570736575u, key->k[1] ^ 0x646f72616e646f6du,
                   key->k[0] ^ 0x6c7967656e657261u, key->k[1] ^ 0x7465646279746573u};
  size_t i = 0;
  for (; i + 8 <= s.n; i += 8) {
    uint64_t word = slp_sip_word(s.p + i, 8);
    v[3] ^= word;
    slp_sip_rounds(v, block_rounds);
    v[0] ^= word;
  }
  uint64_t last = (uint64_t)s.n << 56;
  if (i < s.n) last |= slp_sip_word(s.p + i, s.n - i); /* the pointer of an empty text may be NULL */
  v[3] ^= last;
  slp_sip_rounds(v, block_rounds);
  v[0] ^= last;
  v[2] ^= 0xff;
  slp_sip_rounds(v, end_rounds);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Returns SipHash-1-3 of s. */
uint64_t slp_hash(const slp_hash_key *key, slp_str s);

#endif
