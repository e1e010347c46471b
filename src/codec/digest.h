/* digest.h - SHA-256, HMAC-SHA-256, SHA-1 and MD5 by libcrypto. Only this file and es256.c include
 * OpenSSL. */
#ifndef SLP_CODEC_DIGEST_H
#define SLP_CODEC_DIGEST_H

#include "base/base.h"
#include "base/library.h"

/* All functions that return an int return 0, or SLP_ENOMEM if libcrypto fails. A slp_digest keeps libcrypto's
 * contexts between calls, for speed. */
typedef struct slp_digest slp_digest;
slp_library slp_libcrypto(void); /* the one that runs */
struct slp_mem;
slp_digest *slp_digest_new(struct slp_mem *mem); /* NULL: no memory, or libcrypto has no SHA-256 */
void slp_digest_free(slp_digest *d);
int slp_sha256(slp_digest *d, slp_str in, uint8_t out[32]);
int slp_hmac_sha256(slp_digest *d, slp_str key, slp_str in, uint8_t out[32]);
/* Sets the key of all later calls of slp_hmac_keyed(). Used for a key that authenticates many messages, such
 * as the signing key of a day. */
int slp_hmac_key(slp_digest *d, slp_str key);
int slp_hmac_keyed(slp_digest *d, slp_str in, uint8_t out[32]);
int slp_md5(slp_digest *d, slp_str in, uint8_t out[16]); /* computes an MD5; works in FIPS mode, too */
/* Digests a message in pieces. No other function may be called with the same slp_digest in between, or the
 * digest will be wrong. */
int slp_md5_begin(slp_digest *d);
int slp_md5_add(slp_digest *d, slp_str piece);
int slp_md5_end(slp_digest *d, uint8_t out[16]);
/* computes a SHA-1; only for names of files, never for security */
int slp_sha1(slp_str in, uint8_t out[20]);
/* writes n bytes as 2n lower-case hex digits, without a NUL */
void slp_hex(char *out, const uint8_t *in, size_t n);

#endif
