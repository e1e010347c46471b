/* grant.h - how much a table grants, as its refusals show: checkpoints wait the longer, the more of this
 * worker's writes are throttled. Twice as long at a refusal; after each while without one a quarter of a
 * period less, or a fifth of the wait where that is more. So what life hangs on, heartbeats above all, gets
 * what is granted. (grant.c) */
#ifndef SLP_LEASE_GRANT_H
#define SLP_LEASE_GRANT_H

#include "base/base.h"

typedef struct slp_grant {
  uint32_t stretch;    /* hundredths added to every wait; 0: the table grants all */
  uint64_t changed_us; /* it was changed then */
  uint64_t refused_us; /* a write was throttled then */
} slp_grant;

void slp_grant_refused(slp_grant *g, uint64_t now_us);
void slp_grant_served(slp_grant *g, uint64_t now_us);
uint64_t slp_grant_us(const slp_grant *g, uint64_t us); /* a wait, as long as it is to be now */
/* Of so many writes at a time, how many may be under way now: one at least. */
static inline uint32_t slp_grant_window(const slp_grant *g, uint32_t most) {
  return (uint32_t)slp_max_u64((uint64_t)most * 100 / (100 + g->stretch), 1);
}

#endif
