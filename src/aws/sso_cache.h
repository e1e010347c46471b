/* sso_cache.h - the name and the content of the file in which the AWS tools keep the token of a sign-in. The
 * functions do no I/O. */
#ifndef SLP_AWS_SSO_CACHE_H
#define SLP_AWS_SSO_CACHE_H

#include "base/buf.h"

typedef struct slp_sso_token {
  slp_str access, refresh, client_id,
      /* parts of the text; if refresh or client are absent, the token can't be renewed */
      client_secret;
  /* client_expires_ms 0: not known; the client is then treated as expired */
  int64_t expires_ms, client_expires_ms;
} slp_sso_token;

/* Appends the path HOME/.aws/sso/cache/HEX.json. `key` is the session's name, or the start URL if the profile
 * has no session. Returns 0 or the buffer's error. */
int slp_sso_cache_path(slp_buf *path, const char *home, const char *key);
/* Reads the text of the file in place. Returns 0, or SLP_EBADDATA with a reason in *ret_why. */
int slp_sso_cache_read(char *text, size_t n, slp_sso_token *ret, const char **ret_why);

#endif
