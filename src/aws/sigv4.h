/* sigv4.h - AWS Signature Version 4. Does no I/O: request, keys and time go in, header values come out. The
 * signing key of a day is kept, so a signature costs two hashes of the request and one HMAC. */
#ifndef SLP_AWS_SIGV4_H
#define SLP_AWS_SIGV4_H

#include "base/buf.h"
#include "base/mem.h"
#include "host/host.h"

#define SLP_SIGN_HEADERS_MAX 32

typedef struct slp_sign_keys {
  slp_str key_id, secret, token; /* token absent: permanent keys */
  /* the account to which the keys belong; absent: not known. It is not signed by itself, but the host's name
   * may contain it (slp_endpoint_account_host). */
  slp_str account;
} slp_sign_keys;

typedef struct slp_sign_request {
  slp_str method;
  slp_str host;  /* value of the header Host: with a port only if it is not the default of the scheme */
  slp_str path;  /* path as it is sent; has only characters that need no encoding, and no part "." or ".." */
  slp_str query; /* query as it is sent, without '?'; encoded and sorted; usually empty */
  /* The headers to sign, in any case and order. host, x-amz-date and the token are added by slp_sign; headers
   * that a proxy may change are left out. */
  const slp_http_header *headers;
  size_t headers_n;
  slp_str body;
  slp_str region, service;
} slp_sign_request;

typedef struct slp_signer slp_signer;
slp_signer *slp_signer_new(slp_mem *mem); /* returns NULL if there is no memory */
void slp_signer_free(slp_signer *s);      /* wipes and frees s, which may be NULL */
/* Appends the value of the header Authorization, and writes that of X-Amz-Date to `date`. The request must
 * have both headers, and the token as X-Amz-Security-Token. Returns 0, SLP_ENOMEM or SLP_ELIMIT. */
int slp_sign(slp_signer *s, const slp_sign_request *rq, const slp_sign_keys *keys, int64_t now_ms,
             char date[17], slp_buf *authorization);

#endif
