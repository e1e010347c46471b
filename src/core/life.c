/* life.c - the states of a consumer, and when a stop is over. */
#include "core/life.h"

#include "base/mutant.h"
#include "base/states.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/report.h"
#include "host/host.h"

/* The allowed changes of state. FAILED may also follow STOPPING and STOPPED, because the lease table may turn
 * out to be unusable at any time. */
static const slp_set allowed[] = {
    [SLP_LIFE_OPEN] = SLP_BIT(SLP_LIFE_DESCRIBING) | SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_DESCRIBING] = SLP_BIT(SLP_LIFE_LISTING) | SLP_BIT(SLP_LIFE_STOPPING) |
                            SLP_BIT(SLP_LIFE_FAILED) | SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_LISTING] = SLP_BIT(SLP_LIFE_RUNNING) | SLP_BIT(SLP_LIFE_STOPPING) | SLP_BIT(SLP_LIFE_FAILED) |
                         SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_RUNNING] = SLP_BIT(SLP_LIFE_STOPPING) | SLP_BIT(SLP_LIFE_FAILED) | SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPING] = SLP_BIT(SLP_LIFE_STOPPED) | SLP_BIT(SLP_LIFE_FAILED) | SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPED] = SLP_BIT(SLP_LIFE_FAILED) | SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_FAILED] = SLP_BIT(SLP_LIFE_FAILED) | SLP_BIT(SLP_LIFE_STOPPING) | SLP_BIT(SLP_LIFE_STOPPED) |
                        SLP_BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_CLOSING] = SLP_BIT(SLP_LIFE_CLOSING),
};

void slp_consumer_move(slp_consumer *c, slp_life to) {
  SLP_MOVE(allowed, c->life, to);
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
