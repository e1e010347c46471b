/* digest.c - SHA-256, HMAC-SHA-256, SHA-1 and MD5 by libcrypto, with contexts that are kept. Fetching an
 * algorithm by name for each message would cost more than hashing a request (measured: 7 us against 0.9 us a
 * signature). */
#include "codec/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/library.h"
#include "base/mem.h"

/* SHA-256 works on blocks of 64 bytes; FIPS 198-1 pads the key to one block. */
#define BLOCK 64

struct slp_digest {
  slp_mem *mem;
  EVP_MD *sha256, *md5;
  EVP_MD_CTX *ctx;
  EVP_MD_CTX *inner, *outer; /* hash states after the padded key; copied for each message */
  uint8_t keyed;
};

slp_library slp_libcrypto(void) {
  return (slp_library){"libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING), (void (*)(void))OpenSSL_version};
}

slp_digest *slp_digest_new(slp_mem *mem) {
  slp_digest *d = SLP_NEW(mem, slp_digest);
  if (!d) return NULL;
  d->mem = slp_mem_hold(mem);
  d->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  d->ctx = EVP_MD_CTX_new();
  d->inner = EVP_MD_CTX_new();
  d->outer = EVP_MD_CTX_new();
  if (d->sha256 && d->ctx && d->inner && d->outer) return d;
  slp_digest_free(d);
  return NULL;
}

void slp_digest_free(slp_digest *d) {
  if (!d) return;
  slp_mem *mem = d->mem;
  EVP_MD_CTX_free(d->outer); /* EVP_MD_CTX_free wipes the state, which was made of the key */
  EVP_MD_CTX_free(d->inner);
  EVP_MD_CTX_free(d->ctx);
  EVP_MD_free(d->md5);
  EVP_MD_free(d->sha256);
  slp_free(mem, d);
  slp_mem_drop(mem);
}

static int hash_whole_message(EVP_MD_CTX *ctx, const EVP_MD *md, slp_str in, uint8_t *out) {
  if (EVP_DigestInit_ex2(ctx, md, NULL) && EVP_DigestUpdate(ctx, in.p, in.n) &&
      EVP_DigestFinal_ex(ctx, out, NULL)) {
    return 0;
  }
  return SLP_ENOMEM;
}

int slp_sha256(slp_digest *d, slp_str in, uint8_t out[32]) {
  return hash_whole_message(d->ctx, d->sha256, in, out);
}

static int pad_start(slp_digest *d, EVP_MD_CTX *ctx, const uint8_t key[BLOCK], uint8_t with) {
  uint8_t pad[BLOCK];
  for (size_t i = 0; i < BLOCK; i++) pad[i] = key[i] ^ with;
  int ok = EVP_DigestInit_ex2(ctx, d->sha256, NULL) && EVP_DigestUpdate(ctx, pad, BLOCK);
  slp_wipe(pad, sizeof pad);
  return ok ? 0 : SLP_ENOMEM;
}

int slp_hmac_key(slp_digest *d, slp_str key) {
  uint8_t block[BLOCK] = {0};
  int r = 0;
  d->keyed = 0;
  if (key.n > BLOCK)
    r = slp_sha256(d, key, block);
  else if (key.n)
    memcpy(block, key.p, key.n);
  /* 0x36 and 0x5c are the constants ipad and opad of FIPS 198-1 */
  if (!r) r = pad_start(d, d->inner, block, 0x36);
  if (!r) r = pad_start(d, d->outer, block, 0x5C);
  slp_wipe(block, sizeof block);
  d->keyed = r == 0;
  return r;
}

int slp_hmac_keyed(slp_digest *d, slp_str in, uint8_t out[32]) {
  uint8_t inner[32];
  SLP_CHECK(d->keyed);
  int ok = EVP_MD_CTX_copy_ex(d->ctx, d->inner) && EVP_DigestUpdate(d->ctx, in.p, in.n) &&
           EVP_DigestFinal_ex(d->ctx, inner, NULL) && EVP_MD_CTX_copy_ex(d->ctx, d->outer) &&
           EVP_DigestUpdate(d->ctx, inner, sizeof inner) && EVP_DigestFinal_ex(d->ctx, out, NULL);
  slp_wipe(inner, sizeof inner);
  return ok ? 0 : SLP_ENOMEM;
}

int slp_hmac_sha256(slp_digest *d, slp_str key, slp_str in, uint8_t out[32]) {
  int r = slp_hmac_key(d, key);
  if (!r) r = slp_hmac_keyed(d, in, out);
  d->keyed = 0; /* the key was for this message only; slp_hmac_key() sets a key for all later messages */
  return r;
}

/* MD5 is used only to map partition keys to hash keys, and to detect accidental damage of aggregates. No
 * security depends on it, so "-fips" allows the default provider's MD5 in FIPS mode. */
static int fetch_md5(slp_digest *d) {
  if (!d->md5) d->md5 = EVP_MD_fetch(NULL, "MD5", "-fips");
  return d->md5 ? 0 : SLP_ENOMEM;
}

int slp_md5(slp_digest *d, slp_str in, uint8_t out[16]) {
  return fetch_md5(d) ? SLP_ENOMEM : hash_whole_message(d->ctx, d->md5, in, out);
}

int slp_md5_begin(slp_digest *d) {
  return !fetch_md5(d) && EVP_DigestInit_ex2(d->ctx, d->md5, NULL) ? 0 : SLP_ENOMEM;
}

int slp_md5_add(slp_digest *d, slp_str piece) {
  return EVP_DigestUpdate(d->ctx, piece.p, piece.n) ? 0 : SLP_ENOMEM;
}

int slp_md5_end(slp_digest *d, uint8_t out[16]) {
  return EVP_DigestFinal_ex(d->ctx, out, NULL) ? 0 : SLP_ENOMEM;
}

int slp_sha1(slp_str in, uint8_t out[20]) {
  /* No security depends on SHA-1 here either: the AWS tools name their cache files by it. */
  EVP_MD *md = EVP_MD_fetch(NULL, "SHA1", "-fips");
  int ok = md && EVP_Digest(in.p, in.n, out, NULL, md, NULL);
  EVP_MD_free(md);
  return ok ? 0 : SLP_ENOMEM;
}

void slp_hex(char *out, const uint8_t *in, size_t n) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    out[2 * i] = digits[in[i] >> 4];
    out[2 * i + 1] = digits[in[i] & 15];
  }
}
