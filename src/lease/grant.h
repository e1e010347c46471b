/* grant.h - how much capacity the table grants, judged by its refusals. The more of this worker's writes are
 * throttled, the longer checkpoints wait, so that heartbeats get the capacity that is left.
 *
 * Each refusal doubles the wait. Each while without a refusal takes off a quarter of a period, or a fifth of
 * the wait if that is more. (grant.c) */
#ifndef SLP_LEASE_GRANT_H
#define SLP_LEASE_GRANT_H

#include "base/base.h"

typedef struct slp_grant {
  uint32_t stretch;    /* percent added to every wait; 0: the table grants everything */
  uint64_t changed_us; /* when stretch was last changed */
  uint64_t refused_us; /* when a write was last throttled */
} slp_grant;

void slp_grant_refused(slp_grant *g, uint64_t now_us);
void slp_grant_served(slp_grant *g, uint64_t now_us);
uint64_t slp_grant_us(const slp_grant *g, uint64_t us); /* returns the wait us, stretched */
/* Returns how many writes may be under way now, of at most `most`; at least one. */
static inline uint32_t slp_grant_window(const slp_grant *g, uint32_t most) {
  return (uint32_t)slp_max_u64((uint64_t)most * 100 / (100 + g->stretch), 1);
}

#endif
