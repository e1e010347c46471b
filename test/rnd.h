/* rnd.h - numbers that look random and are the same in every run (xorshift, 64 bits). */
#ifndef SLP_TEST_RND_H
#define SLP_TEST_RND_H

#include <stdint.h>

static uint64_t rnd_state = 88172645463325252u; /* not 0 */

static inline uint64_t rnd(uint64_t below) {
  rnd_state ^= rnd_state << 13;
  rnd_state ^= rnd_state >> 7;
  rnd_state ^= rnd_state << 17;
  return rnd_state % below;
}
/* For what counts in 32 bits. */
static inline uint32_t rnd32(uint32_t below) { return (uint32_t)rnd(below); }

#endif
