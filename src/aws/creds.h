/* creds.h - one identity: a chain of providers, which are asked in order until one has keys; the current
 * keys; their renewal before they expire, with one attempt at a time. */
#ifndef SLP_AWS_CREDS_H
#define SLP_AWS_CREDS_H

#include "aws/provider.h"

#define SLP_CREDS_PROVIDERS_MAX 8

typedef struct slp_creds slp_creds;

slp_creds *slp_creds_new(slp_host *h); /* NULL: no memory */
void slp_creds_free(slp_creds *c);     /* frees the providers and wipes the keys; c may be NULL */
/* Appends p to the chain, and owns it even on failure. Returns SLP_ENOMEM if p is NULL. */
int slp_creds_add(slp_creds *c, slp_provider *p);

typedef enum { SLP_CREDS_READY, SLP_CREDS_WAIT, SLP_CREDS_FAILED } slp_creds_state;
/* Gives keys. now_ms: the time by the service's clock. READY: *ret is valid until the caller returns to the
 * loop; the serial number identifies these keys. WAIT: call slp_creds_await. FAILED: f says why. Begins an
 * attempt if one is due. */
slp_creds_state slp_creds_get(slp_creds *c, int64_t now_ms, slp_sign_keys *ret, uint64_t *ret_serial,
                              slp_fail *f);
/* `wait` runs when the current attempt is over; then call slp_creds_get again. */
void slp_creds_await(slp_creds *c, slp_wait *wait);
/* Called when the service refused these keys as expired or unknown. Returns 1 if a fresh attempt is under
 * way, or there are newer keys already: call slp_creds_get again. Returns 0 if they were just fetched again
 * and did not change, so that asking is useless. */
int slp_creds_refused(slp_creds *c, uint64_t serial);
/* Takes the service's time minus our wall clock. It may come from an answer to the current attempt itself. */
void slp_creds_learn_clock(slp_creds *c, int64_t offset_ms);
const slp_fail *slp_creds_last(const slp_creds *c); /* how the last attempt ended */
uint64_t slp_creds_refreshes(const slp_creds *c);

#endif
