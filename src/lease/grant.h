/* grant.h - estimates from the refusals of the table how much write capacity it has. The more writes of this
 * worker are throttled, the longer its checkpoints wait, so that heartbeats get the capacity that is left.
 *
 * Each refusal doubles the wait. Each time of HOLD_US (grant.c) without a refusal takes off a quarter of
 * an unstretched wait, or a fifth of what was added, whichever is more. (grant.c) */
#ifndef SLP_LEASE_GRANT_H
#define SLP_LEASE_GRANT_H

#include "base/base.h"

typedef struct slp_grant {
  uint32_t stretch;    /* percent by which every wait is longer; 0: the table throttles no writes */
  uint64_t changed_us; /* when stretch was last changed */
  uint64_t refused_us; /* when a write was last throttled */
} slp_grant;

/* Called when a write of this worker was throttled, and when one was served. */
void slp_grant_refused(slp_grant *g, uint64_t now_us);
void slp_grant_served(slp_grant *g, uint64_t now_us);
uint64_t slp_grant_us(const slp_grant *g, uint64_t us); /* returns the wait of `us`, stretched */
/* Returns how many writes may be under way at once: `most`, or fewer while waits are stretched, but at
 * least one. */
static inline uint32_t slp_grant_window(const slp_grant *g, uint32_t most) {
  return (uint32_t)slp_max_u64((uint64_t)most * 100 / (100 + g->stretch), 1);
}

#endif
