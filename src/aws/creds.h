/* creds.h - one identity: a chain of providers, asked in order until one has keys; a snapshot of what it
 * gave; one attempt in flight; refreshed before it expires.
 */
#ifndef SLP_AWS_CREDS_H
#define SLP_AWS_CREDS_H

#include "aws/provider.h"

#define SLP_CREDS_PROVIDERS_MAX 8

typedef struct slp_creds slp_creds;

slp_creds *slp_creds_new(slp_host *h); /* NULL: no memory */
void slp_creds_free(slp_creds *c);     /* frees the providers, wipes the keys; NULL is fine */
/* Appends p to the chain. Takes p, also on failure; p NULL is SLP_ENOMEM. */
int slp_creds_add(slp_creds *c, slp_provider *p);

typedef enum { SLP_CREDS_READY, SLP_CREDS_WAIT, SLP_CREDS_FAILED } slp_creds_state;
/* now_ms: the service's idea of the time. READY: *ret is valid until the caller returns to the loop; serial
 * names this snapshot. WAIT: call slp_creds_await. FAILED: f says why. Begins an attempt when one is due. */
slp_creds_state slp_creds_get(slp_creds *c, int64_t now_ms, slp_sign_keys *ret, uint64_t *ret_serial,
                              slp_fail *f);
/* `wait` runs when the current attempt is over; then call slp_creds_get again to know how it ended. */
void slp_creds_await(slp_creds *c, slp_wait *wait);
/* The service refused the keys of that snapshot as expired or unknown. 1: a fresh attempt is under way, or
 * newer keys are there already: get again. 0: they were fetched anew a moment ago and did not change: asking
 * again is no use. */
int slp_creds_refused(slp_creds *c, uint64_t serial);
/* Learns the service's time minus our wall clock. The answer may belong to the current attempt itself. */
void slp_creds_learn_clock(slp_creds *c, int64_t offset_ms);
const slp_fail *slp_creds_last(const slp_creds *c); /* how the last attempt ended */
uint64_t slp_creds_refreshes(const slp_creds *c);

#endif
