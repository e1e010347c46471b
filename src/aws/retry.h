/* retry.h - how long to wait before a call is sent again. The functions do no I/O. */
#ifndef SLP_AWS_RETRY_H
#define SLP_AWS_RETRY_H

#include "base/fail.h"

#define SLP_RETRY_CAP_US 20000000u        /* the longest wait, unless the service asks for more */
#define SLP_RETRY_AFTER_EXTRA_US 5000000u /* how much longer a wait can be if the service asks for it */

/* Returns the longest wait after `tries` failed tries (1, 2, ...), if the service has not asked for a
 * wait. */
uint64_t slp_retry_ceiling_us(slp_class class, uint32_t tries);
/* Returns a wait with full jitter: `random` (any 64 bits) chooses it evenly from 0..ceiling, so that clients
 * that failed together do not return together. retry_after_us is the wait that the service asks for; 0: none.
 * It can only lengthen the wait, by at most SLP_RETRY_AFTER_EXTRA_US. */
uint64_t slp_retry_wait_us(slp_class class, uint32_t tries, uint64_t random, uint64_t retry_after_us);

/* Finds the number of tries in the values of AWS_RETRY_MODE and AWS_MAX_ATTEMPTS (NULL: not set). *ret_tries
 * is 0 if the values give no number. Returns 0, or SLP_EBADDATA with a sentence in `why`. */
int slp_retry_tries(const char *mode, const char *attempts, uint32_t *ret_tries, char why[160]);

#endif
