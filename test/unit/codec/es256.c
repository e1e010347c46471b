/* es256.c - which keys are taken; test/vectors/login_cryptography.py has its signatures verified by others. The keys
 * were made with openssl 3.0. */
#include "codec/es256.h"

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

TEST(a_key_gives_its_point_and_signs) {
  static const uint8_t begins[4] = {0x71, 0x7b, 0xf6, 0x8f}, ends[4] = {0x2f, 0x93, 0xa4, 0x69};
  uint8_t x[32], y[32], first[64], second[64];
  slp_es256 *k = slp_es256_new(slp_str_of(sec1));
  CHECK(k != NULL);
  CHECK_INT(slp_es256_public(k, x, y), 0);
  CHECK_MEM((char *)x, 4, (const char *)begins, 4);
  CHECK_MEM((char *)y + 28, 4, (const char *)ends, 4);
  CHECK_INT(slp_es256_sign(k, SLP_STR("text"), first), 0);
  CHECK_INT(slp_es256_sign(k, SLP_STR("text"), second), 0);
  CHECK(memcmp(first, second, 64) != 0); /* each signature has its own random number */
  slp_es256_free(k);
  slp_es256_free(NULL);
}

TEST(what_is_no_such_key_is_refused_and_no_password_is_asked_for) {
  CHECK(!slp_es256_new(slp_str_of(of_p384)));
  CHECK(!slp_es256_new(slp_str_of(encrypted)));
  CHECK(!slp_es256_new(SLP_STR("")));
  CHECK(!slp_es256_new(SLP_STR("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n")));
  CHECK(!slp_es256_new((slp_str){sec1, sizeof sec1 / 2}));
}
