/* sso_cache.h - name and content of the file in which the AWS tools cache the tokens of a sign-in. Pure. */
#ifndef SLP_AWS_SSO_CACHE_H
#define SLP_AWS_SSO_CACHE_H

#include "base/buf.h"

typedef struct slp_sso_token {
  slp_str access, refresh, client_id,
      client_secret;                     /* slices; refresh and client absent: it can't be renewed */
  int64_t expires_ms, client_expires_ms; /* client_expires_ms 0: not known, so the client counts as expired */
} slp_sso_token;

/* Appends HOME/.aws/sso/cache/HEX.json. `key` is the session's name, or the start URL of a profile without a
 * session. Returns 0 or the buffer's error. */
int slp_sso_cache_path(slp_buf *path, const char *home, const char *key);
/* Reads the file's text in place. Returns 0, or SLP_EBADDATA with *ret_why. */
int slp_sso_cache_read(char *text, size_t n, slp_sso_token *ret, const char **ret_why);

#endif
