/* es256.h - signs JSON Web Tokens by ES256: ECDSA on the curve P-256 with SHA-256 (RFC 7518, 3.4). By
 * libcrypto. */
#ifndef SLP_CODEC_ES256_H
#define SLP_CODEC_ES256_H

#include "base/base.h"

typedef struct slp_es256 slp_es256;
/* Reads a private key in PEM, as SEC 1 or PKCS #8, without a password. Returns 0; SLP_EBADDATA: it is no key
 * of P-256; SLP_ENOMEM. */
int slp_es256_new(slp_str pem, slp_es256 **ret);
void slp_es256_free(slp_es256 *k); /* wipes the key; NULL is fine */
/* Writes the public point of the key. Returns 0 or SLP_ENOMEM. */
int slp_es256_public(const slp_es256 *k, uint8_t x[32], uint8_t y[32]);
/* Signs the message. The signature is r, followed by s. Returns 0 or SLP_ENOMEM. */
int slp_es256_sign(const slp_es256 *k, slp_str message, uint8_t signature[64]);

#endif
