/* provider.h - one source of keys. Whoever asks sets `answered`, and does not ask again before the answer has
 * come.
 *
 * A provider answers in one of these ways:
 *   FOUND     it has keys;
 *   NOTHING this source is not configured, so the next provider is asked;
 *   BROKEN    the keys are configured, but something is wrong with the configuration;
 *   FAILED    the source of the keys does not work at the moment;
 *   STARVED   there is no memory.
 *
 * BROKEN and FAILED end the chain of providers with an error, because the next provider would act under
 * another identity. FAILED is tried again, like a network failure, even when a consumer starts. */
#ifndef SLP_AWS_PROVIDER_H
#define SLP_AWS_PROVIDER_H

#include "aws/aws.h"
#include "aws/hide.h"
#include "aws/profile.h"
#include "base/buf.h"
#include "host/host.h"

typedef enum {
  SLP_KEYS_FOUND,
  SLP_KEYS_NOTHING,
  SLP_KEYS_BROKEN,
  SLP_KEYS_STARVED,
  SLP_KEYS_FAILED /* no answer, too many requests, or status 5xx: the failure may pass by itself */
} slp_keys_outcome;

#define SLP_KEYS_WHY 320 /* room for the message of a failure */
typedef struct slp_keys_answer {
  slp_keys_outcome outcome;
  const slp_aws_keys *keys; /* FOUND: valid during the call only */
  /* BROKEN, FAILED: one line without secrets. NOTHING: where the provider looked, or NULL */
  const char *why;
  int http_status; /* FAILED: the status of the source's answer; 0: no answer */
} slp_keys_answer;

typedef struct slp_provider {
  /* Asks for keys. The provider must call one of the slp_keys_ functions once, at once or later. Called in a
   * turn. `fresh` is 1 if the service refused earlier keys; the provider must then read the keys again from
   * their source, and not return stored ones. */
  void (*begin)(struct slp_provider *p, int fresh);
  void (*cancel)(struct slp_provider *p); /* the answer is no longer needed; may be NULL */
  void (*free)(struct slp_provider *p);
  /* after this time the asker no longer waits for the provider; 0: SLP_CREDS_MS_MAX */
  uint32_t ms_max;
  const char *what; /* the provider's name in messages; must live as long as the provider */
  /* The secrets that the provider sent; no message may contain them. A provider that uses slp_fetch points to
   * slp_fetch.secrets. NULL: the provider sends no secrets, or its calls hide them. */
  const slp_secrets *secrets;
  /* Called with the answer. Set by whoever asks the provider, before `begin`. */
  void (*answered)(struct slp_provider *p, const slp_keys_answer *answer);
  void *owner;
} slp_provider;

/* The answers that a provider can give. */
void slp_keys_found(slp_provider *p, const slp_aws_keys *keys);
void slp_keys_nothing(slp_provider *p);
/* Answers NOTHING. `looked` says where the provider looked, for the message that no provider has keys. */
void slp_keys_nothing_in(slp_provider *p, const char *looked);
/* answers BROKEN with this message, in which p->secrets are hidden */
void slp_keys_broken(slp_provider *p, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Answers FAILED if `passes` is 1, otherwise BROKEN. Hides p->secrets in the text. http_status 0: there was
 * no answer. */
void slp_keys_failed(slp_provider *p, int passes, int http_status, const char *fmt, ...) SLP_PRINTF(4, 5);
/* answers STARVED: there was no memory, so it is not known whether keys are configured */
void slp_keys_starved(slp_provider *p);

/* Reads {AccessKeyId, SecretAccessKey, TOKEN, Expiration} from a JSON body, in place, and answers with the
 * keys. If the body is wrong, answers with a sentence that begins with `who`. token_name is "Token" or
 * "SessionToken". must_expire: an answer without token or Expiration is BROKEN. */
typedef struct slp_keys_json {
  const char *token_name;
  uint8_t must_expire;
} slp_keys_json;
void slp_keys_from_json(slp_provider *p, slp_buf *body, const slp_keys_json *form, const char *who);

/* Allocates the whole memory of a buffer for secrets, because a buffer that grows would leave copies of
 * secrets behind. Returns 0 or SLP_ENOMEM. */
int slp_secret_room(slp_buf *b);
void slp_secret_clear(slp_buf *b); /* wipes the content and keeps the memory */
void slp_secret_free(slp_buf *b);  /* wipes and frees the memory */

/* ---- the providers --------------------------------------------------------------------------------------
 * These functions return NULL if there is no memory. `from` points to the profile that the profile provider
 * is reading; if `from` is NULL, the settings are read from the environment. */
slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_web(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_profile(slp_aws *aws);
slp_provider *slp_provider_process(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_sso(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_login(slp_aws *aws, const slp_profile *const *from);
slp_provider *slp_provider_container(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_imds(slp_aws *aws);
/* A provider of keys from the user. `ask` is called once for each attempt, and slp_provider_user_done
 * answers. */
slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg);
void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why);

#endif
