/* retry.c - waits between tries: exponential ceilings, full jitter. */
#include "aws/retry.h"

/* The first ceilings of the SDKs' 2026 retry rules: 50 ms after a network failure or 5xx, one second after
 * being throttled (a shard that ran out of its five calls a second is refused for a second). */
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
