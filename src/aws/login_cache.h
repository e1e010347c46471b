/* login_cache.h - the file in which `aws login` keeps a session: its name, its content, and the proof that is
 * sent to renew the session. Pure. */
#ifndef SLP_AWS_LOGIN_CACHE_H
#define SLP_AWS_LOGIN_CACHE_H

#include "base/buf.h"

typedef struct slp_login { /* slices of the text that was read */
  slp_str key_id, secret, token, account;
  slp_str client, refresh, dpop_key; /* needed to renew it */
  slp_str region;                    /* where it is renewed; absent: an older tool wrote the file */
  int64_t expires_ms;
} slp_login;

/* Writes FOLDER/HEX.json, where `folder` is AWS_LOGIN_CACHE_DIRECTORY or NULL. Returns 0, SLP_ENOMEM or
 * SLP_ELIMIT. */
int slp_login_cache_path(slp_buf *path, const char *home, const char *folder, const char *session);
/* Reads the file's text. The slices of *ret are in `room`, a buffer for secrets twice as large as the text.
 * Members that only a renewal needs may be absent. Returns 0; SLP_ENOENT with the name of the missing member
 * in *ret_why; SLP_EBADDATA with static text in *ret_why; or SLP_ENOMEM. */
int slp_login_cache_read(slp_str text, slp_buf *room, slp_login *ret, const char **ret_why);
/* Reads the answer to a renewal in the same way: keys, refresh token, and the expiry counted from now_ms. */
int slp_login_answer_read(slp_str text, slp_buf *room, int64_t now_ms, slp_login *ret, const char **ret_why);
/* Appends the file's text with the keys and the refresh token of `renewed`. All other members stay
 * unchanged. */
int slp_login_cache_write(slp_buf *to, slp_str text, const slp_login *renewed);

/* Appends the value of the header DPoP (RFC 9449) for a POST to `url`. `unique` makes each proof different.
 * Returns 0, SLP_EBADDATA if key_pem is not a usable key, or SLP_ENOMEM. */
int slp_dpop_proof(slp_buf *to, slp_str key_pem, slp_str url, int64_t now_ms, const uint64_t unique[2]);

#endif
