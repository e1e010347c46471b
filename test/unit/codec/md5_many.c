/* MD5 of several strings at once, against libcrypto's of each. */
#include "codec/md5_many.h"

#include "base/mem.h"
#include "check.h"
#include "codec/digest.h"

static uint64_t dice = 88172645463325252u;
static uint64_t roll(void) {
  dice ^= dice << 13;
  dice ^= dice >> 7;
  return dice ^= dice << 17;
}

static void compare(slp_digest *d, const slp_str *in, size_t n) {
  uint8_t ours[SLP_MD5_MANY + 1][16], theirs[16];
  memset(ours, 0xAA, sizeof ours);
  slp_md5_many(in, n, ours);
  for (size_t i = 0; i < n; i++) {
    CHECK_INT(slp_md5(d, in[i], theirs), 0);
    CHECK_MEM(ours[i], 16, theirs, 16);
  }
  for (size_t i = n; i <= SLP_MD5_MANY; i++) CHECK_INT(ours[i][0], 0xAA);
}

TEST(every_length_in_every_lane_is_what_libcrypto_says) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_digest *d = slp_digest_new(mem);
  char text[SLP_MD5_MANY][SLP_MD5_SHORT_MAX];
  slp_str in[SLP_MD5_MANY];
  for (size_t round = 0; round <= SLP_MD5_SHORT_MAX; round++) {
    for (size_t i = 0; i < SLP_MD5_MANY; i++) {
      for (size_t j = 0; j < SLP_MD5_SHORT_MAX; j++) text[i][j] = (char)roll();
      in[i] = (slp_str){text[i], (round + 7 * i) % (SLP_MD5_SHORT_MAX + 1)};
    }
    for (size_t n = 0; n <= SLP_MD5_MANY; n++) compare(d, in, n);
  }
  slp_digest_free(d);
  slp_mem_drop(mem);
}

TEST(the_vectors_of_rfc_1321) {
  const slp_str in[] = {SLP_STR(""),
                        SLP_STR("a"),
                        SLP_STR("abc"),
                        SLP_STR("message digest"),
                        SLP_STR("abcdefghijklmnopqrstuvwxyz"),
                        {NULL, 0}};
  static const char *const want[] = {"d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661",
                                     "900150983cd24fb0d6963f7d28e17f72", "f96b697d7cb7938d525a2f31aaf161d0",
                                     "c3fcd3d76192e4007dfb496cca67e13b", "d41d8cd98f00b204e9800998ecf8427e"};
  uint8_t out[SLP_COUNT(in)][16];
  slp_md5_many(in, SLP_COUNT(in), out);
  for (size_t i = 0; i < SLP_COUNT(in); i++) {
    char hex[33] = {0};
    slp_hex(hex, out[i], 16);
    CHECK_STR(hex, want[i]);
  }
}
