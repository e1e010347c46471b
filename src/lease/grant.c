/* grant.c - makes checkpoints rarer while the table throttles writes (grant.h). */
#include "lease/grant.h"

/* After a change of `stretch`, HOLD_US must pass before the next change; this time is made longer by
 * `stretch` percent too. The longer the waits, the later the effect of a change shows. */
#define HOLD_US UINT64_C(2500000)
/* In percent: `stretch` grows by at least 100 at a refused write, and falls by at least STEP after each
 * HOLD_US without refusals. */
#define STEP 25u
#define MOST 6300u /* the greatest `stretch`, in percent: all waits become 64 times as long */

uint64_t slp_grant_us(const slp_grant *g, uint64_t us) { return us + us / 100 * g->stretch; }

/* Returns 1 if `stretch` may not be changed yet, because its last change is too recent. */
static int is_stretch_held(const slp_grant *g, uint64_t now_us) {
  return g->changed_us && now_us - g->changed_us < slp_grant_us(g, HOLD_US);
}

void slp_grant_refused(slp_grant *g, uint64_t now_us) {
  g->refused_us = now_us;
  if (is_stretch_held(g, now_us)) return;
  g->stretch = (uint32_t)slp_min_u64(100 + 2 * (uint64_t)g->stretch, MOST);
  g->changed_us = now_us;
}

void slp_grant_served(slp_grant *g, uint64_t now_us) {
  if (!g->stretch || is_stretch_held(g, now_us) || now_us - g->refused_us < slp_grant_us(g, HOLD_US)) return;
  g->stretch -= (uint32_t)slp_min_u64(slp_max_u64(g->stretch / 5, STEP), g->stretch);
  g->changed_us = now_us;
}
