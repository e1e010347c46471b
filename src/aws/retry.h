/* retry.h - how long to wait before the same call is sent again. Pure. */
#ifndef SLP_AWS_RETRY_H
#define SLP_AWS_RETRY_H

#include "base/fail.h"

#define SLP_RETRY_CAP_US 20000000u        /* no wait is longer ... */
#define SLP_RETRY_AFTER_EXTRA_US 5000000u /* ... but by this, when the service itself asks for more */

/* The longest wait after `tries` failed tries (1, 2, ...), before the service's wish is added. */
uint64_t slp_retry_ceiling_us(slp_class class, uint32_t tries);
/* Full jitter: evenly spread over 0..ceiling by `random` (any 64 bits), so that many clients that failed
 * together do not come back together. retry_after_us (0: none) is the service's wish: it may only lengthen
 * the wait, by SLP_RETRY_AFTER_EXTRA_US at most. */
uint64_t slp_retry_wait_us(slp_class class, uint32_t tries, uint64_t random, uint64_t retry_after_us);

/* Reads the number of tries from AWS_RETRY_MODE and AWS_MAX_ATTEMPTS (NULL: not set), for calls that have a
 * limit. *ret_tries 0: not given. 0, or SLP_EBADDATA with a sentence. */
int slp_retry_tries(const char *mode, const char *attempts, uint32_t *ret_tries, char why[160]);

#endif
