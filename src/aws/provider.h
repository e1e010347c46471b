/* provider.h - one source of keys. The asker sets `answered`, and asks for one answer at a time.
 *
 * A provider answers in one of four ways: keys; nothing is configured here (the next provider is asked); it
 * is configured, but broken; its source fails just now. The last two end the chain with that error, because
 * the next provider would act under another identity. A source that fails just now is tried again even at the
 * start, like a network failure. */
#ifndef SLP_AWS_PROVIDER_H
#define SLP_AWS_PROVIDER_H

#include "aws/hide.h"
#include "aws/profile.h"
#include "aws/sigv4.h"

typedef enum {
  SLP_KEYS_FOUND,
  SLP_KEYS_NOTHING,
  SLP_KEYS_BROKEN,
  SLP_KEYS_STARVED,
  SLP_KEYS_FAILED /* no answer, too many requests, 5xx: this may pass */
} slp_keys_outcome;

#define SLP_KEYS_WHY 320 /* as long as a failure's message */
typedef struct slp_keys_answer {
  slp_keys_outcome outcome;
  const slp_aws_keys *keys; /* FOUND: valid during the call only */
  const char *why;          /* BROKEN, FAILED: one line without secrets. NOTHING: where it looked, or NULL */
  int http_status;          /* FAILED: the status of the source's answer; 0: no answer */
} slp_keys_answer;

typedef struct slp_provider {
  /* Answers with one of slp_keys_*, once, at once or later. Called in a turn. `fresh`: earlier values are
   * suspect, so they must be read again. */
  void (*begin)(struct slp_provider *p, int fresh);
  void (*cancel)(struct slp_provider *p); /* the answer is no longer waited for; NULL: nothing to do */
  void (*free)(struct slp_provider *p);
  uint32_t ms_max;  /* given up after this time, whatever its own limits are; 0: SLP_CREDS_MS_MAX */
  const char *what; /* its name in messages; must live as long as it does */
  /* What it sent and no message may repeat; for a provider that fetches, slp_fetch.secrets. NULL: it sends no
   * secrets, or its calls hide them. */
  const slp_secrets *secrets;
  /* Set by the asker. */
  void (*answered)(struct slp_provider *p, const slp_keys_answer *answer);
  void *owner;
} slp_provider;

/* A provider's answers. */
void slp_keys_found(slp_provider *p, const slp_aws_keys *keys);
void slp_keys_nothing(slp_provider *p);
/* Says where it looked, for the message that there are no keys at all. */
void slp_keys_nothing_in(slp_provider *p, const char *looked);
void slp_keys_broken(slp_provider *p, const char *fmt, ...) SLP_PRINTF(2, 3); /* hides p->secrets */
/* Answers FAILED if `passes`, otherwise BROKEN; hides p->secrets. http_status 0: there was no answer. */
void slp_keys_failed(slp_provider *p, int passes, int http_status, const char *fmt, ...) SLP_PRINTF(4, 5);
void slp_keys_starved(slp_provider *p); /* no memory; says nothing about the configuration */

/* Reads {AccessKeyId, SecretAccessKey, TOKEN, Expiration} from a JSON body, in place. Answers with the keys,
 * or with what is wrong with them; `who` begins that sentence. token_name: "Token" or "SessionToken".
 * must_expire: an answer without token and Expiration is broken. */
typedef struct slp_keys_json {
  const char *token_name;
  uint8_t must_expire;
} slp_keys_json;
void slp_keys_from_json(slp_provider *p, slp_buf *body, const slp_keys_json *form, const char *who);

/* Makes a buffer for secrets. It has its full size from the start, because a buffer that grows would leave
 * copies behind. */
int slp_secret_room(slp_buf *b);
void slp_secret_clear(slp_buf *b); /* wipes it and keeps the memory */
void slp_secret_free(slp_buf *b);  /* wipes and frees it */

/* ---- the providers; NULL: no memory ----------------------------------------------------------------------
 * `from` points to the profile that the profile provider reads just now; NULL: the environment is meant. */
slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_web(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_profile(slp_aws *aws);
slp_provider *slp_provider_process(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_sso(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_login(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_container(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_imds(slp_aws *aws);
/* Keys from the user. `ask` is called once for each attempt; the answer comes by slp_provider_user_done. */
slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg);
void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why);

#endif
