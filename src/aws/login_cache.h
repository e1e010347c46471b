/* login_cache.h - the file in which `aws login` keeps a session: its name, its content, and the proof (DPoP)
 * that is sent to renew the session. The functions do no I/O. */
#ifndef SLP_AWS_LOGIN_CACHE_H
#define SLP_AWS_LOGIN_CACHE_H

#include "base/buf.h"

typedef struct slp_login { /* parts of the text that was read */
  slp_str key_id, secret, token, account;
  slp_str client, refresh, dpop_key; /* the members that are needed to renew the session */
  /* the region in which the session is renewed; absent if an older tool wrote the file */
  slp_str region;
  int64_t expires_ms;
} slp_login;

/* Appends the path of the cache file, FOLDER/HEX.json. `folder` is AWS_LOGIN_CACHE_DIRECTORY; NULL: the
 * folder under `home`. Returns 0, SLP_ENOMEM or SLP_ELIMIT. */
int slp_login_cache_path(slp_buf *path, const char *home, const char *folder, const char *session);
/* Reads the text of the file. *ret points into `room`, a buffer for secrets that is twice as large as the
 * text. Members that only a renewal needs may be absent. Returns 0 or SLP_ENOMEM, or one of
 *   SLP_ENOENT: a member is missing; *ret_why is its name;
 *   SLP_EBADDATA: the text makes no sense; *ret_why is a static text. */
int slp_login_cache_read(slp_str text, slp_buf *room, slp_login *ret, const char **ret_why);
/* Reads the answer to a renewal, like slp_login_cache_read: keys, refresh token, and the expiry, which is
 * counted from now_ms. */
int slp_login_answer_read(slp_str text, slp_buf *room, int64_t now_ms, slp_login *ret, const char **ret_why);
/* Appends the file's `text` with the keys and the refresh token of `renewed`. All other members stay
 * unchanged. Returns 0 or an error. */
int slp_login_cache_write(slp_buf *to, slp_str text, const slp_login *renewed);

/* Appends the value of the header DPoP (RFC 9449) for a POST to `url`. `unique` makes each proof different.
 * Returns 0, SLP_ENOMEM, or SLP_EBADDATA if key_pem is not a usable key. */
int slp_dpop_proof(slp_buf *to, slp_str key_pem, slp_str url, int64_t now_ms, const uint64_t unique[2]);

#endif
