/* worker_life.c - the states of a worker's life. */
#include "lease/worker_life.h"

#include "base/states.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"

static const slp_set allowed[] = {
    [SLP_WORKER_NEW] = SLP_BIT(SLP_WORKER_JOINING) | SLP_BIT(SLP_WORKER_OUT),
    [SLP_WORKER_JOINING] = SLP_BIT(SLP_WORKER_RUNS) | SLP_BIT(SLP_WORKER_OUT),
    [SLP_WORKER_RUNS] = SLP_BIT(SLP_WORKER_LEAVING) | SLP_BIT(SLP_WORKER_JOINING),
    [SLP_WORKER_LEAVING] = SLP_BIT(SLP_WORKER_OUT),
    [SLP_WORKER_OUT] = 0,
};

void slp_life_init(slp_fleet *f) { f->life.leave_by_us = SLP_NEVER; }

void slp_life_move(slp_fleet *f, slp_worker_state to) {
  slp_worker_state was = f->life.state;
  SLP_MOVE(allowed, f->life.state, to);
  /* An evicted incarnation never comes back. So the worker draws a new one when it joins again. */
  if (was == SLP_WORKER_RUNS && to == SLP_WORKER_JOINING) f->incarnation = (slp_str){NULL, 0};
}

int slp_worker_is(const slp_fleet *f, slp_worker_state state) { return f->life.state == state; }

int slp_worker_lives(const slp_fleet *f) {
  return f->life.state == SLP_WORKER_RUNS || f->life.state == SLP_WORKER_LEAVING;
}

uint64_t slp_life_joined_us(const slp_fleet *f) { return f->life.joined_us; }
void slp_life_joined(slp_fleet *f, uint64_t at_us) { f->life.joined_us = at_us; }
uint64_t slp_worker_leave_by_us(const slp_fleet *f) { return f->life.leave_by_us; }
void slp_worker_leave_by(slp_fleet *f, uint64_t at_us) { f->life.leave_by_us = at_us; }
