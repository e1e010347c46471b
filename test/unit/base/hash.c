/* hash.c - SipHash against the vectors of its authors, and that the key matters. */
#include "base/hash.h"
#include "check.h"

TEST(it_is_siphash) {
  static const struct {
    size_t n;
    uint64_t want; /* of SipHash-2-4, with the paper of Aumasson and Bernstein (2012) */
  } cases[] = {
      {0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {8, 0x93f5f5799a932462}, {15, 0xa129ca6149be45e5}};
  const slp_hash_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
  char bytes[16];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)i;
  for (size_t i = 0; i < SLP_COUNT(cases); i++)
    CHECK(slp_siphash(&key, (slp_str){bytes, cases[i].n}, 2, 4) == cases[i].want);
}

TEST(each_bit_of_the_key_and_each_byte_change_it) {
  char text[] = "shardId-000000000007";
  slp_str s = {text, sizeof text - 1};
  slp_hash_key key = {{1, 2}};
  uint64_t one = slp_hash(&key, s);
  CHECK(slp_hash(&key, s) == one && one == slp_siphash(&key, s, 1, 3));
  for (int bit = 0; bit < 128; bit++) {
    slp_hash_key other = key;
    other.k[bit / 64] ^= UINT64_C(1) << bit % 64;
    CHECK(slp_hash(&other, s) != one);
  }
  for (size_t i = 0; i < s.n; i++) {
    text[i] ^= 1;
    CHECK(slp_hash(&key, s) != one);
    text[i] ^= 1;
    CHECK(slp_hash(&key, (slp_str){text, i}) != one);
  }
}
