/* elected_rule.c - computes which worker KCL 2 elects. Each worker sorts the names that own leases, and
 * shuffles them with the same seed. The name that is first after the shuffle is elected (project
 * amazon-kinesis-client, class DeterministicShuffleShardSyncLeaderDecider). The random numbers and the
 * shuffle are those of Java SE's java.util.Random and Collections.shuffle. */
#include "base/mem.h"
#include "guest/guest_rules.h"
#include "lease/lease_rules.h"

#define SEED 1947
#define MULTIPLIER UINT64_C(0x5DEECE66D)
#define MASK ((UINT64_C(1) << 48) - 1)

static uint32_t java_random_31_bits(uint64_t *state) {
  *state = (*state * MULTIPLIER + 0xB) & MASK;
  return (uint32_t)(*state >> 17);
}

static uint32_t java_random_below(uint64_t *state, uint32_t bound) {
  uint32_t bits = java_random_31_bits(state);
  if ((bound & (bound - 1)) == 0) return (uint32_t)(((uint64_t)bound * bits) >> 31);
  while (bits - bits % bound + (bound - 1) > INT32_MAX) bits = java_random_31_bits(state);
  return bits % bound;
}

/* Returns which of n sorted names is elected. The shuffle goes from the last place down: each step swaps the
 * name at its place with the name at a random place that is not higher. This function goes through the swaps
 * backwards, to find the name that ends at the first place. */
uint32_t slp_elected(uint32_t n, slp_mem *mem) {
  uint64_t state = (SEED ^ MULTIPLIER) & MASK;
  uint32_t at = 0, *picks = slp_zalloc_n(mem, (size_t)n + 1, sizeof *picks);
  if (!picks) return SLP_NOBODY;
  for (uint32_t i = n; i > 1; i--) picks[i] = java_random_below(&state, i);
  for (uint32_t i = 2; i <= n; i++) at = at == i - 1 ? picks[i] : at == picks[i] ? i - 1 : at;
  slp_free(mem, picks);
  return at;
}
