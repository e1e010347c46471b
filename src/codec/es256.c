/* es256.c - reads and uses a private key of P-256 by libcrypto. */
#include "codec/es256.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#define PEM_MAX 65536u
/* Bytes of an uncompressed point: a 4, then x and y of 32 bytes each. libcrypto returns a point in this form,
 * whatever form the key was read in. */
#define POINT_MAX 65u

/* libcrypto calls this for the password of an encrypted key. Returns -1: there is no password. Without this
 * callback libcrypto would ask for a password on the terminal. */
static int no_password(char *to, int size, int for_writing, void *arg) {
  (void)to, (void)size, (void)for_writing, (void)arg;
  return -1;
}

static int is_p256(EVP_PKEY *key) {
  char group[80];
  size_t n = 0;
  return EVP_PKEY_get_group_name(key, group, sizeof group, &n) == 1 && strcmp(group, "prime256v1") == 0;
}

/* Returns the key, or NULL: it is no private key of P-256, or there was no memory. */
static EVP_PKEY *read_key(slp_str pem) {
  BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
  EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
  BIO_free(bio);
  if (key && !is_p256(key)) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  ERR_clear_error();
  return key;
}

static int has_memory(void) {
  void *p = OPENSSL_malloc(PEM_MAX);
  OPENSSL_free(p);
  return p != NULL;
}

/* If libcrypto 3.0 fails to read a key for lack of memory, its error often does not show this reason. So a
 * key counts as bad only if reading fails twice and memory can be allocated afterwards. */
int slp_es256_new(slp_str pem, slp_es256 **ret) {
  EVP_PKEY *key = NULL;
  *ret = NULL;
  if (!pem.n || pem.n > PEM_MAX) return SLP_EBADDATA;
  for (int i = 0; i < 2 && !key; i++) key = read_key(pem);
  *ret = (slp_es256 *)key;
  return key ? 0 : has_memory() ? SLP_EBADDATA : SLP_ENOMEM;
}

void slp_es256_free(slp_es256 *k) { EVP_PKEY_free((EVP_PKEY *)k); }

int slp_es256_public(const slp_es256 *k, uint8_t x[32], uint8_t y[32]) {
  unsigned char *point = NULL;
  size_t n = EVP_PKEY_get1_encoded_public_key((EVP_PKEY *)(uintptr_t)k, &point);
  int whole = n == POINT_MAX && point[0] == 4;
  if (whole) {
    memcpy(x, point + 1, 32);
    memcpy(y, point + 33, 32);
  }
  OPENSSL_free(point);
  return whole ? 0 : SLP_ENOMEM;
}

/* Converts a DER signature to its two numbers r and s, 32 bytes each. */
static int split_der_signature(const unsigned char *der, size_t n, uint8_t signature[64]) {
  ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
  int ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), signature, 32) == 32 &&
           BN_bn2binpad(ECDSA_SIG_get0_s(sig), signature + 32, 32) == 32;
  ECDSA_SIG_free(sig);
  return ok ? 0 : SLP_ENOMEM;
}

int slp_es256_sign(const slp_es256 *k, slp_str message, uint8_t signature[64]) {
  unsigned char der[128];
  size_t n = sizeof der;
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  int ok = ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, (EVP_PKEY *)(uintptr_t)k) == 1 &&
           EVP_DigestSign(ctx, der, &n, (const unsigned char *)message.p, message.n) == 1;
  EVP_MD_CTX_free(ctx);
  ERR_clear_error();
  return ok ? split_der_signature(der, n, signature) : SLP_ENOMEM;
}
