/* herd_says.c - asks the workers of a herd what they say of themselves, as a program or a load balancer may at
 * any moment, and tells the judge. Nothing of the herd changes by it. */
#include "swarm/herd.h"

#include <stdio.h>

#include "api/metrics.h"
#include "api/metrics_ready.h"
#include "swarm/inside.h"

#define ASK_US 250000

typedef struct ask {
  hd_life *life;
  int at_rest;
} ask;

static void tell(const sloop_shard_stats_t *st, void *arg) {
  const ask *a = arg;
  hd_says(a->life->hw->o, a->life->number, st, a->at_rest);
}

static int is_busy(const hd_life *l) {
  const hd_life *other = l->first ? l->first : l->joined;
  return slp_sim_frozen_until(l->host) > hd_now(l->hw) || l->depth || (other && other->depth);
}

/* What /ready answers. Right after its statistics were asked for: they find anew what proves its life in a table
 * of the KCL, and what is found a second time is the same. */
void hd_ask_ready(hd_life *l) {
  slp_sample sample;
  hd_world *hw = l->hw;
  uint64_t now = hd_now(hw), seen_us = l->host->now_us;
  if (l->stood || is_busy(l)) return;
  slp_sample_init(&sample, hw->mem);
  hd_enter(hw->o, l->number);
  SLP_CHECK(slp_metrics_sample(l->s, 0, &sample, 0) == 0);
  hd_leave(hw->o, l->number);
  slp_buf why;
  slp_buf_init(&why, hw->mem, 1 << 16);
  (void)slp_ready(&sample, &why);
  snprintf(l->unready, sizeof l->unready, "%s", why.n ? slp_buf_z(&why) : "");
  slp_buf_free(&why);
  slp_sample_free(&sample);
  l->ready_us = now;
  hd_says_ready(hw->o, l->number, l->unready, 0);
  hw->w->sim->now_us = now;
  l->host->now_us = seen_us;
}

static void ask_one(hd_life *l, int at_rest) {
  hd_world *hw = l->hw;
  uint64_t now = hd_now(hw);
  if (!hd_runs(l) || l->closing || !l->s) return;
  if (is_busy(l)) {
    l->stood = 1;
    return;
  }
  if (!at_rest && now < l->asked_us + ASK_US) return;
  ask a = {l, at_rest};
  slp_sim *sim = hw->w->sim;
  uint64_t seen_us = l->host->now_us;
  l->asked_us = now;
  hd_asked(hw->o, l->number, l->stood);
  l->stood = 0;
  (void)slp_now_refresh_us(l->host); /* as at the begin of a turn */
  hd_enter(hw->o, l->number);
  sloop_shard_stats_each(l->s, tell, &a);
  hd_said(hw->o, l->number, at_rest);
  hd_leave(hw->o, l->number);
  if (at_rest && now < l->ready_us + 2 * HD_S) hd_says_ready(hw->o, l->number, l->unready, 1);
  /* Each look at a clock takes a microsecond of the simulation. */
  sim->now_us = now;
  l->host->now_us = seen_us;
}

void hd_ask_all(hd_world *hw, int at_rest) {
  for (size_t i = 0; i < HD_WORKERS_MAX; i++)
    if (hw->at[i]) ask_one(hw->at[i], at_rest);
  if (hw->twin) hd_ask_all(hw->twin, at_rest);
}
