/* retry.c - computes the waits between tries: exponential ceilings with full jitter. */
#include "aws/retry.h"

#include "base/fail.h"
#include "base/num.h"

#include <stdio.h>

/* The ceilings for the first wait, from the SDKs' retry rules of 2026. After a network failure or a 5xx it is
 * 50 ms. After throttling it is one second: a shard accepts five calls in a second, and refuses further calls
 * until the second is over. */
#define TRANSIENT_FIRST_US 50000u
#define THROTTLE_FIRST_US 1000000u

uint64_t slp_retry_ceiling_us(slp_class class, uint32_t tries) {
  uint64_t ceiling = class == SLP_THROTTLE ? THROTTLE_FIRST_US : TRANSIENT_FIRST_US;
  for (uint32_t i = 1; i < tries && ceiling < SLP_RETRY_CAP_US; i++) ceiling *= 2;
  return slp_min_u64(ceiling, SLP_RETRY_CAP_US);
}

uint64_t slp_retry_wait_us(slp_class class, uint32_t tries, uint64_t random, uint64_t retry_after_us) {
  uint64_t wait = random % (slp_retry_ceiling_us(class, tries) + 1);
  return slp_min_u64(slp_max_u64(wait, retry_after_us), wait + SLP_RETRY_AFTER_EXTRA_US);
}

/* `modes` has the number of tries of each retry mode, as in botocore. The mode "adaptive" of botocore also
 * paces calls; here, calls are paced for each shard in every mode. */
int slp_retry_tries(const char *mode, const char *attempts, uint32_t *ret_tries, char why[160]) {
  static const struct {
    const char *name;
    uint32_t tries;
  } modes[] = {{"legacy", 5}, {"standard", 3}, {"adaptive", 3}};
  uint64_t n = 0;
  *ret_tries = 0;
  for (size_t i = 0; mode && i < SLP_COUNT(modes); i++) {
    if (strcmp(mode, modes[i].name) == 0) *ret_tries = modes[i].tries;
  }
  if (mode && !*ret_tries) {
    snprintf(why, 160, "AWS_RETRY_MODE or retry_mode is %.60s: it must be legacy, standard or adaptive",
             mode);
    return SLP_EBADDATA;
  }
  if (!attempts) return 0;
  if (slp_parse_u64(slp_str_of(attempts), &n) || n == 0 || n > 1000) {
    snprintf(why, 160, "AWS_MAX_ATTEMPTS or max_attempts is %.60s: it must be a number from 1 to 1000",
             attempts);
    return SLP_EBADDATA;
  }
  *ret_tries = (uint32_t)n;
  return 0;
}
