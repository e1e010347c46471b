/* login_cache.h - the file in which `aws login` keeps a session: its name, its content, and the proof that is
 * sent to renew it. Pure. */
#ifndef SLP_AWS_LOGIN_CACHE_H
#define SLP_AWS_LOGIN_CACHE_H

#include "base/buf.h"

typedef struct slp_login { /* slices */
  slp_str key_id, secret, token, account;
  slp_str client, refresh, dpop_key; /* to renew it */
  slp_str region;                    /* where it is renewed; absent: older tools did not write it */
  int64_t expires_ms;
} slp_login;

/* FOLDER/HEX.json; `folder` is AWS_LOGIN_CACHE_DIRECTORY, or NULL. SLP_ENOMEM, or SLP_ELIMIT. */
int slp_login_cache_path(slp_buf *path, const char *home, const char *folder, const char *session);
/* Reads the file's text; slices of *ret are in `room`, which is a buffer for secrets twice as large. 0;
 * SLP_ENOENT, and *ret_why names the member that it lacks; SLP_EBADDATA with *ret_why, static text;
 * SLP_ENOMEM.
 * What only a renewal needs may be absent. */
int slp_login_cache_read(slp_str text, slp_buf *room, slp_login *ret, const char **ret_why);
/* Reads the answer to a renewal in the same way: keys, refresh token, and the expiry by now_ms. */
int slp_login_answer_read(slp_str text, slp_buf *room, int64_t now_ms, slp_login *ret, const char **ret_why);
/* Appends the file's text with the keys and the refresh token of `renewed`; all other members stay. */
int slp_login_cache_write(slp_buf *to, slp_str text, const slp_login *renewed);

/* Appends the value of the header DPoP (RFC 9449) for a POST to the URL. `unique` tells proofs apart. 0,
 * SLP_EBADDATA: the key is none; SLP_ENOMEM. */
int slp_dpop_proof(slp_buf *to, slp_str key_pem, slp_str url, int64_t now_ms, const uint64_t unique[2]);

#endif
