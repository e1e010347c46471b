/* Digests: published vectors, and OpenSSL's one-shot functions on random input. */
#include "codec/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/mem.h"
#include "check.h"

static slp_mem *mem;
static slp_digest *d;
static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  d = slp_digest_new(mem);
  CHECK(d != NULL);
}
static void finish(void) {
  slp_digest_free(d);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
static void check_hex(const uint8_t *in, size_t n, const char *want) {
  char hex[65];
  slp_hex(hex, in, n);
  hex[2 * n] = 0;
  CHECK_STR(hex, want);
}

TEST(known_vectors) { /* FIPS 180-4 examples, RFC 1321 A.5, RFC 4231 cases 1, 2 and 6 */
  uint8_t out[32], key[131];
  start();
  CHECK_INT(slp_sha256(d, SLP_STR("abc"), out), 0);
  check_hex(out, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_INT(slp_sha256(d, (slp_str){NULL, 0}, out), 0);
  check_hex(out, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK_INT(slp_md5(d, SLP_STR("message digest"), out), 0);
  check_hex(out, 16, "f96b697d7cb7938d525a2f31aaf161d0");
  memset(key, 0x0b, 20);
  CHECK_INT(slp_hmac_sha256(d, (slp_str){(char *)key, 20}, SLP_STR("Hi There"), out), 0);
  check_hex(out, 32, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK_INT(slp_hmac_sha256(d, SLP_STR("Jefe"), SLP_STR("what do ya want for nothing?"), out), 0);
  check_hex(out, 32, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  memset(key, 0xaa, 131);
  CHECK_INT(slp_hmac_sha256(d, (slp_str){(char *)key, 131},
                            SLP_STR("Test Using Larger Than Block-Size Key - Hash Key First"), out),
            0);
  check_hex(out, 32, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  finish();
}

TEST(a_kept_key_gives_openssls_mac_for_every_length) {
  uint8_t data[300], out[32], theirs[32];
  start();
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + 3);
  for (size_t key_n = 0; key_n < 140; key_n += 9) {
    CHECK_INT(slp_hmac_key(d, (slp_str){(char *)data, key_n}), 0);
    for (size_t n = 0; n < sizeof data; n += 11) {
      unsigned len = 32;
      CHECK_INT(slp_hmac_keyed(d, (slp_str){(char *)data, n}, out), 0);
      CHECK(HMAC(EVP_sha256(), data, (int)key_n, data, n, theirs, &len) != NULL);
      CHECK_MEM(out, 32, theirs, 32);
      CHECK_INT(slp_sha256(d, (slp_str){(char *)data, n}, out), 0); /* must not disturb the kept key */
    }
  }
  finish();
}

TEST(md5_in_pieces_of_any_size_is_md5_of_the_whole) {
  char data[1000];
  uint8_t out[16], whole[16];
  start();
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 11 + 5);
  CHECK_INT(slp_md5(d, (slp_str){data, sizeof data}, whole), 0);
  for (size_t piece = 1; piece < 200; piece += 7) {
    CHECK_INT(slp_md5_begin(d), 0);
    for (size_t at = 0; at < sizeof data; at += piece) {
      size_t n = sizeof data - at < piece ? sizeof data - at : piece;
      CHECK_INT(slp_md5_add(d, (slp_str){data + at, n}), 0);
    }
    CHECK_INT(slp_md5_end(d, out), 0);
    CHECK_MEM(out, 16, whole, 16);
  }
  finish();
}

TEST(sha1_of_fips_180) {
  uint8_t hash[20];
  char hex[41] = "";
  CHECK_INT(slp_sha1(SLP_STR("abc"), hash), 0);
  slp_hex(hex, hash, sizeof hash);
  CHECK_STR(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK_INT(slp_sha1(SLP_STR(""), hash), 0);
  slp_hex(hex, hash, sizeof hash);
  CHECK_STR(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}
