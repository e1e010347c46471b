/* provider.h - one way to get keys. The asker sets `answered` and asks for one answer at a time.
 *
 * A provider answers "keys", "nothing configured here" (the next one is asked), "configured, and broken" or
 * "its source fails just now". The last two end the chain with that error: falling through would act under
 * another identity. What fails just now is tried again even at the start, as a network's failure is. */
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
  SLP_KEYS_FAILED /* no answer, too many requests, 5xx: this passes */
} slp_keys_outcome;

#define SLP_KEYS_WHY 320 /* as long as a failure's message */
typedef struct slp_keys_answer {
  slp_keys_outcome outcome;
  const slp_aws_keys *keys; /* FOUND; valid during the call only */
  const char *why;          /* BROKEN, FAILED: one line without secrets; NOTHING: where it looked, or NULL */
  int http_status;          /* FAILED: what the source answered; 0: nothing */
} slp_keys_answer;

typedef struct slp_provider {
  /* Answers by slp_keys_*: once, at once or later. Runs in a turn. `fresh`: earlier values are suspect, read
   * them again. */
  void (*begin)(struct slp_provider *p, int fresh);
  void (*cancel)(struct slp_provider *p); /* nobody waits for the answer any more; NULL: nothing to do */
  void (*free)(struct slp_provider *p);
  uint32_t ms_max;  /* given up after this, whatever its own deadlines say; 0: SLP_CREDS_MS_MAX */
  const char *what; /* names it in messages; as long as it lives */
  /* What it sent and no message may repeat; slp_fetch.secrets of a provider that fetches. NULL: it sends
   * none, or its calls hide for themselves. */
  const slp_secrets *secrets;
  /* Set by the asker. */
  void (*answered)(struct slp_provider *p, const slp_keys_answer *answer);
  void *owner;
} slp_provider;

/* A provider's answers. */
void slp_keys_found(slp_provider *p, const slp_aws_keys *keys);
void slp_keys_nothing(slp_provider *p);
/* Says where it looked: for the message that there are no keys at all. */
void slp_keys_nothing_in(slp_provider *p, const char *looked);
void slp_keys_broken(slp_provider *p, const char *fmt, ...) SLP_PRINTF(2, 3); /* hides p->secrets */
/* FAILED if it passes, else BROKEN; hides p->secrets. http_status 0: there was no answer. */
void slp_keys_failed(slp_provider *p, int passes, int http_status, const char *fmt, ...) SLP_PRINTF(4, 5);
void slp_keys_starved(slp_provider *p); /* no memory: says nothing about the configuration */

/* Reads {AccessKeyId, SecretAccessKey, TOKEN, Expiration} out of a JSON body, in place, and answers with them
 * or with what is wrong with them; `who` begins that sentence. token_name: "Token" or "SessionToken";
 * must_expire: an answer without Token and Expiration is broken. */
typedef struct slp_keys_json {
  const char *token_name;
  uint8_t must_expire;
} slp_keys_json;
void slp_keys_from_json(slp_provider *p, slp_buf *body, const slp_keys_json *form, const char *who);

/* Makes a buffer for secrets, which has its whole size from the start, because growing would leave copies
 * behind. */
int slp_secret_room(slp_buf *b);
void slp_secret_clear(slp_buf *b); /* wipes; keeps the memory */
void slp_secret_free(slp_buf *b);  /* wipes and frees */

/* ---- the providers; NULL: no memory ----------------------------------------------------------------------
 * `from` points to what the profile provider reads just now; NULL: the environment is meant. */
slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_web(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_profile(slp_aws *aws);
slp_provider *slp_provider_process(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_sso(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_login(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_container(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_imds(slp_aws *aws);
/* Keys from the user. `ask` runs once per attempt; the answer comes by slp_provider_user_done. */
slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg);
void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why);

#endif
