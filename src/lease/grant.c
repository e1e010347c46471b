/* grant.c - makes checkpoints rarer when the table throttles (grant.h). */
#include "lease/grant.h"

/* After each change of `stretch` no other change follows for HOLD_US, stretched like any wait. Because the
 * waits are longer now, the effect of a change shows late. */
#define HOLD_US UINT64_C(2500000)
/* percent: a refusal adds at least 100, a time without refusals takes off at least STEP */
#define STEP 25u
#define MOST 6300u /* the greatest `stretch`, in percent: waits become at most 64 times as long */

uint64_t slp_grant_us(const slp_grant *g, uint64_t us) { return us + us / 100 * g->stretch; }

/* Returns 1 if `stretch` may not be changed yet. */
static int held(const slp_grant *g, uint64_t now_us) {
  return g->changed_us && now_us - g->changed_us < slp_grant_us(g, HOLD_US);
}

void slp_grant_refused(slp_grant *g, uint64_t now_us) {
  g->refused_us = now_us;
  if (held(g, now_us)) return;
  g->stretch = (uint32_t)slp_min_u64(100 + 2 * (uint64_t)g->stretch, MOST);
  g->changed_us = now_us;
}

void slp_grant_served(slp_grant *g, uint64_t now_us) {
  if (!g->stretch || held(g, now_us) || now_us - g->refused_us < slp_grant_us(g, HOLD_US)) return;
  g->stretch -= (uint32_t)slp_min_u64(slp_max_u64(g->stretch / 5, STEP), g->stretch);
  g->changed_us = now_us;
}
