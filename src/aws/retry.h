/* retry.h - how long to wait before a call is sent again. Pure. */
#ifndef SLP_AWS_RETRY_H
#define SLP_AWS_RETRY_H

#include "base/fail.h"

#define SLP_RETRY_CAP_US 20000000u        /* no wait is longer, */
#define SLP_RETRY_AFTER_EXTRA_US 5000000u /* except by this much, if the service asks for more */

/* Returns the longest wait after `tries` failed tries (1, 2, ...), without the service's wish. */
uint64_t slp_retry_ceiling_us(slp_class class, uint32_t tries);
/* Returns a wait with full jitter: spread evenly over 0..ceiling by `random` (any 64 bits), so that clients
 * that failed together do not come back together. retry_after_us (0: none) is the service's wish. It can only
 * lengthen the wait, by SLP_RETRY_AFTER_EXTRA_US at most. */
uint64_t slp_retry_wait_us(slp_class class, uint32_t tries, uint64_t random, uint64_t retry_after_us);

/* Reads the number of tries from AWS_RETRY_MODE and AWS_MAX_ATTEMPTS (NULL: not set). *ret_tries 0: not
 * given. Returns 0, or SLP_EBADDATA with a sentence in `why`. */
int slp_retry_tries(const char *mode, const char *attempts, uint32_t *ret_tries, char why[160]);

#endif
