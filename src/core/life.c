/* life.c - the states of a consumer, and when a stop is over. */
#include "base/probe.h"
#include "core/core.h"

/* The allowed changes of state. FAILED may also follow STOPPING and STOPPED, because the lease table may turn
 * out to be unusable at any time. */
#define BIT(life) (1u << (life))
static const unsigned allowed[] = {
    [SLP_LIFE_OPEN] = BIT(SLP_LIFE_DESCRIBING) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_DESCRIBING] =
        BIT(SLP_LIFE_LISTING) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_LISTING] =
        BIT(SLP_LIFE_RUNNING) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_RUNNING] = BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPING] = BIT(SLP_LIFE_STOPPED) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPED] = BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_FAILED] =
        BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_STOPPED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_CLOSING] = BIT(SLP_LIFE_CLOSING),
};

void slp_consumer_move(slp_consumer *c, slp_life to) {
  SLP_CHECK(allowed[c->life] & BIT(to));
  c->life = to;
  c->life_us = slp_now_us(c->engine->host);
}

int slp_consumer_is_yet_to_list(const slp_consumer *c) {
  return (c->life == SLP_LIFE_DESCRIBING || c->life == SLP_LIFE_LISTING) && !c->leases && !c->paused_all;
}

void slp_consumer_check(slp_consumer *c) {
  slp_report_tip(c);
  if (c->life != SLP_LIFE_STOPPING) return;
  int waits = c->sum.batches_out > 0 && !SLP_MUTANT(stop_gives_up_early);
  if (c->leases) {
    if (slp_now_us(c->engine->host) >= c->stop.wait_us) waits = 0;
    waits |= !c->leases->ops->left(c->leases);
  }
  if (!waits) slp_post(c->engine->host, &c->stop.ev);
}
