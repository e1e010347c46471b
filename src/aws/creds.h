/* creds.h - one identity: a chain of providers, asked in order until one has keys; a snapshot of what it
 * gave; one attempt in flight; refreshed before it expires.
 *
 * A provider answers "keys", "nothing configured here" (the next one is asked) or "configured, and broken"
 * (the chain ends with that error: falling through would act under somebody else's name). */
#ifndef SLP_AWS_CREDS_H
#define SLP_AWS_CREDS_H

#include "aws/profile.h"
#include "aws/sigv4.h"

#define SLP_CREDS_PROVIDERS_MAX 8

typedef struct slp_creds slp_creds;

typedef struct slp_provider {
  /* Answers by slp_creds_found, slp_creds_nothing or slp_creds_broken: once, at once or later. Runs in a
   * turn. `fresh`: what was read before is suspect, read it again. */
  void (*begin)(struct slp_provider *p, int fresh);
  void (*cancel)(struct slp_provider *p); /* the answer is not waited for any more; NULL: nothing to do */
  void (*free)(struct slp_provider *p);
  slp_creds *creds;
} slp_provider;

slp_creds *slp_creds_new(slp_host *h); /* NULL: no memory */
void slp_creds_free(slp_creds *c);     /* frees the providers, wipes the keys; NULL is fine */
/* At the end of the chain. Takes p, also on failure; p NULL is SLP_ENOMEM. */
int slp_creds_add(slp_creds *c, slp_provider *p);

/* A provider's answers. */
void slp_creds_found(slp_creds *c, const slp_aws_keys *keys);
void slp_creds_nothing(slp_creds *c);
void slp_creds_broken(slp_creds *c, const char *fmt, ...) SLP_PRINTF(2, 3);
void slp_creds_starved(slp_creds *c); /* no memory: says nothing about the configuration */

typedef enum { SLP_CREDS_READY, SLP_CREDS_WAIT, SLP_CREDS_FAILED } slp_creds_state;
/* now_ms: the service's idea of the time. READY: *ret is valid until the caller returns to the loop; serial
 * names this snapshot. WAIT: call slp_creds_await. FAILED: f says why. Begins an attempt when one is due. */
slp_creds_state slp_creds_get(slp_creds *c, int64_t now_ms, slp_sign_keys *ret, uint64_t *ret_serial,
                              slp_fail *f);
/* Run when the attempt under way is over, well or not. `failed` in slp_creds_get follows by asking it again.
 */
void slp_creds_await(slp_creds *c, slp_wait *wait);
/* The service refused the keys of that snapshot as expired or unknown. 1: a fresh attempt is under way, or
 * newer keys are there already: get again. 0: they were fetched anew a moment ago and did not change: asking
 * again is no use. */
int slp_creds_refused(slp_creds *c, uint64_t serial);
uint64_t slp_creds_refreshes(const slp_creds *c);

/* ---- providers (providers.c) -----------------------------------------------------------------------------
 */
slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx);
slp_provider *slp_provider_profile(slp_host *h, slp_profiles *profiles);
/* Keys from the user. `ask` runs once per attempt; its answer comes by slp_provider_user_done. */
slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg);
void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why);

#endif
