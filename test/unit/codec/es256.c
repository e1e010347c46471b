/* es256.c - which keys are taken; test/contract/vectors/login_cryptography.py has its signatures verified by others. The keys
 * were made with openssl 3.0. */
#include "codec/es256.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "check.h"

static const char sec1[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MHcCAQEEILus5TAHbFiV3bpEaKDPC7FhBvLV/TYMmRHcwy/8QsezoAoGCCqGSM49\n"
    "AwEHoUQDQgAEcXv2j3POt8zAOMInSVYwxP7KrJEeKxjo8QxwIJ0L62CRdLDXMC/C\n"
    "U4PQ2JS0G7R2FxOcSjvo9tcHeFGuL5OkaQ==\n"
    "-----END EC PRIVATE KEY-----\n";
static const char of_p384[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MIGkAgEBBDAMMicnAq84aqBXOk6qSz/N48jHYfu+LIzcoNHTKPoa3MbwEmHQRl3x\n"
    "d6gKSuvyFR6gBwYFK4EEACKhZANiAASS0qIwqDzG3In6A6hQ3RwXPBzty5yFPLkP\n"
    "sxnN1lyWziEnJIR+D2SsX0Mot47BL/O6EKe8fkgNSLZwSyZyUe47St3d1xNtk89y\n"
    "D+cG0iZHDP6sSntcqggAnL42RQYkfUw=\n"
    "-----END EC PRIVATE KEY-----\n";
static const char encrypted[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjyEZPr0YoYFQICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELTkaYIb7kRBiNmlzMlw83YEgZAc\n"
    "kzRe2gtKpCAgNBiC6vgqQCJp6dUC1qp8t1/osGj2U7LzqY4azslje6R20450AzQD\n"
    "1sw5RlGJy0Wk4EEpxnWhQLX2ZItHhUDvNoLEnNNcxJsRfkl1+ZO4+ZloaH7SYQmN\n"
    "4IP36502IWoMO0FM1NdRzg0LDLgin0/o+ooQegMVo7lTtk0B6LRJUh7Ghmv8lc8=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

static slp_es256 *key_of(const char *pem) {
  slp_es256 *k;
  CHECK_INT(slp_es256_new(slp_str_of(pem), &k), 0);
  return k;
}

TEST(a_key_gives_its_point_and_signs) {
  static const uint8_t begins[4] = {0x71, 0x7b, 0xf6, 0x8f}, ends[4] = {0x2f, 0x93, 0xa4, 0x69};
  uint8_t x[32], y[32], first[64], second[64];
  slp_es256 *k = key_of(sec1);
  CHECK_INT(slp_es256_public(k, x, y), 0);
  CHECK_MEM((char *)x, 4, (const char *)begins, 4);
  CHECK_MEM((char *)y + 28, 4, (const char *)ends, 4);
  CHECK_INT(slp_es256_sign(k, SLP_STR("text"), first), 0);
  CHECK_INT(slp_es256_sign(k, SLP_STR("text"), second), 0);
  CHECK(memcmp(first, second, 64) != 0); /* each signature has its own random number */
  slp_es256_free(k);
  slp_es256_free(NULL);
}

/* The same key as sec1, written by `openssl ec -conv_form compressed`, and with -no_public. */
TEST(a_key_s_point_may_be_compressed_or_left_out) {
  static const char *const forms[] = {
      "-----BEGIN EC PRIVATE KEY-----\n"
      "MFcCAQEEILus5TAHbFiV3bpEaKDPC7FhBvLV/TYMmRHcwy/8QsezoAoGCCqGSM49\n"
      "AwEHoSQDIgADcXv2j3POt8zAOMInSVYwxP7KrJEeKxjo8QxwIJ0L62A=\n"
      "-----END EC PRIVATE KEY-----\n",
      "-----BEGIN EC PRIVATE KEY-----\n"
      "MDECAQEEILus5TAHbFiV3bpEaKDPC7FhBvLV/TYMmRHcwy/8QsezoAoGCCqGSM49\n"
      "AwEH\n"
      "-----END EC PRIVATE KEY-----\n"};
  uint8_t x[32], y[32], same_x[32], same_y[32];
  slp_es256 *k = key_of(sec1);
  CHECK_INT(slp_es256_public(k, x, y), 0);
  slp_es256_free(k);
  for (size_t i = 0; i < SLP_COUNT(forms); i++) {
    k = key_of(forms[i]);
    CHECK_INT(slp_es256_public(k, same_x, same_y), 0);
    CHECK(memcmp(x, same_x, 32) == 0 && memcmp(y, same_y, 32) == 0);
    slp_es256_free(k);
  }
}

static int left = -1, once; /* the allocation to fail; only that one, or all from there on */
static int is_over(void) {
  int failing = left == 0;
  left -= left > 0 || (failing && once);
  return failing;
}
static void *scarce_malloc(size_t n, const char *file, int line) {
  (void)file, (void)line;
  return is_over() ? NULL : malloc(n);
}
static void *scarce_realloc(void *p, size_t n, const char *file, int line) {
  (void)file, (void)line;
  return is_over() ? NULL : realloc(p, n);
}
static void plain_free(void *p, const char *file, int line) {
  (void)file, (void)line;
  free(p);
}

TEST(without_memory_a_good_key_is_not_called_a_bad_one) {
  CHECK_INT(CRYPTO_set_mem_functions(scarce_malloc, scarce_realloc, plain_free), 1);
  slp_es256_free(key_of(sec1)); /* what libcrypto makes once for all */
  int n = 0, starved_n = 0;
  for (int r = SLP_ENOMEM; r; n += n < 200 ? 1 : 17) {
    slp_es256 *k;
    left = n;
    r = slp_es256_new(slp_str_of(sec1), &k);
    left = -1;
    starved_n += r == SLP_ENOMEM;
    CHECK(r == 0 || r == SLP_ENOMEM);
    slp_es256_free(k);
  }
  CHECK(starved_n > 10);
  for (once = 1; n > 0; n -= n < 200 ? 1 : 17) {
    left = n;
    slp_es256_free(key_of(sec1));
    left = -1;
  }
}

TEST(what_is_no_such_key_is_refused_and_no_password_is_asked_for) {
  slp_es256 *k;
  CHECK_INT(slp_es256_new(slp_str_of(of_p384), &k), SLP_EBADDATA);
  CHECK_INT(slp_es256_new(slp_str_of(encrypted), &k), SLP_EBADDATA);
  CHECK_INT(slp_es256_new(SLP_STR(""), &k), SLP_EBADDATA);
  CHECK_INT(
      slp_es256_new(SLP_STR("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"), &k),
      SLP_EBADDATA);
  CHECK_INT(slp_es256_new((slp_str){sec1, sizeof sec1 / 2}, &k), SLP_EBADDATA);
}
