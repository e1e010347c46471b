/* creds.h - the credentials of one identity. A chain of providers (sources of keys) is asked in order until
 * one has keys. The current keys are renewed before they expire. An "attempt" asks the providers once for
 * keys; there is one attempt at a time. */
#ifndef SLP_AWS_CREDS_H
#define SLP_AWS_CREDS_H

#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sigv4.h"
#include "base/fail.h"
#include "host/host.h"

#define SLP_CREDS_PROVIDERS_MAX 8

typedef struct slp_creds slp_creds;

slp_creds *slp_creds_new(slp_host *h); /* returns NULL if there is no memory */
void slp_creds_free(slp_creds *c);     /* frees the providers and wipes the keys; c may be NULL */
/* Appends p to the chain, which owns p even if this fails. Returns SLP_ENOMEM if p is NULL, otherwise 0. */
int slp_creds_add(slp_creds *c, slp_provider *p);

typedef enum { SLP_CREDS_READY, SLP_CREDS_WAIT, SLP_CREDS_FAILED } slp_creds_state;
/* Returns the current keys, and begins an attempt to get new ones if one is due. now_ms is the time by the
 * service's clock. SLP_CREDS_READY: *ret has the keys until the caller returns to the loop, and *ret_serial a
 * number that identifies them. SLP_CREDS_WAIT: the caller must call slp_creds_await. SLP_CREDS_FAILED: there
 * are no usable keys, and f says why. */
slp_creds_state slp_creds_get(slp_creds *c, int64_t now_ms, slp_sign_keys *ret, uint64_t *ret_serial,
                              slp_fail *f);
/* Makes `wait` run when the current attempt is over. The caller then calls slp_creds_get again. */
void slp_creds_await(slp_creds *c, slp_wait *wait);
/* Called when the service refused the keys `serial` as expired or unknown. Returns 1 if the caller should
 * call slp_creds_get again, because an attempt is in progress or there are newer keys already. Returns 0 if
 * an attempt has just fetched these same keys, so that another one would be useless. */
int slp_creds_refused(slp_creds *c, uint64_t serial);
/* Sets the service's clock minus this machine's clock. May be called while an attempt is in progress, because
 * a provider's answer may show the difference. */
void slp_creds_learn_clock(slp_creds *c, int64_t offset_ms);
const slp_fail *slp_creds_last(const slp_creds *c); /* returns the outcome of the last attempt */
uint64_t slp_creds_refreshes(const slp_creds *c);

#endif
