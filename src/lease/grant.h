/* grant.h - estimates how much write capacity the table allows, from the writes that it refuses. The more
 * writes of this worker are throttled, the longer its checkpoints wait, so that heartbeats get the capacity
 * that is left. The wait is the normal wait plus `stretch` percent. Each refused write doubles the wait. Each
 * HOLD_US (grant.c) without a refusal takes off a quarter of a normal wait, or a fifth of what was added,
 * whichever is more. (grant.c) */
#ifndef SLP_LEASE_GRANT_H
#define SLP_LEASE_GRANT_H

#include "base/base.h"

typedef struct slp_grant {
  uint32_t stretch;    /* percent that is added to every wait; 0: the table throttles no writes */
  uint64_t changed_us; /* when stretch was last changed */
  uint64_t refused_us; /* when a write was last throttled */
} slp_grant;

/* To be called when a write of this worker was throttled (refused), or was served. */
void slp_grant_refused(slp_grant *g, uint64_t now_us);
void slp_grant_served(slp_grant *g, uint64_t now_us);
/* returns the wait `us` with `stretch` percent added */
uint64_t slp_grant_us(const slp_grant *g, uint64_t us);
/* Returns how many writes may be under way at once: `most`, or fewer while waits are stretched; at least
 * one. */
static inline uint32_t slp_grant_window(const slp_grant *g, uint32_t most) {
  return (uint32_t)slp_max_u64((uint64_t)most * 100 / (100 + g->stretch), 1);
}

#endif
