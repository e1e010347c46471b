/* herd_drain.c - an operator who drains the application and ends that after a while, from a process of its own
 * that reads nothing. When the library says that nobody reads any more, the judge is told (S15), until the
 * operator begins to end the drain. One drain at a time.
 *
 *   OFF -> DRAINING -> DRAINED -> UNDRAINING -> OFF      a drain that fails is ended as well, and an end that
 *                                                        fails is tried again */
#include "swarm/herd.h"

#include <sloop_admin.h>

#define AGAIN_US (2 * HD_S)

typedef enum { OFF, DRAINING, DRAINED, UNDRAINING } drain_state;

struct hd_drainer {
  hd_world *hw;
  slp_mem *mem;
  slp_host *host;
  sloop_t *s;
  drain_state state;
  uint64_t due_us; /* of the last timer. DRAINED: when it is ended. UNDRAINING: when that is tried again */
  uint8_t waits;   /* 1: for that timer; 0: for an answer */
  uint64_t for_us; /* how long it is to last */
};

static void end_drain(hd_drainer *d);

/* ---- the end of the process ----------------------------------------------------------------------------- */

static void run_end(void *arg) {
  hd_drainer *d = arg;
  hd_world *hw = d->hw;
  if (d->mem->live_bytes)
    hd_break(hw->o, HD_P10_MEMORY, "", "a drain has ended, and %zu bytes are not back", d->mem->live_bytes);
  slp_mem_drop(d->mem);
  slp_free(hw->mem, d);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  hd_drainer *d = arg;
  (void)s, (void)status;
  d->hw->drainer = NULL;
  slp_host_close(d->host, NULL, NULL);
  slp_sim_at(d->hw->w->sim, hd_now(d->hw) + 3 * HD_S, run_end, d); /* after the host has closed */
}

void hd_drain_stop(hd_world *hw) {
  hd_drainer *d = hw->drainer;
  if (!d || d->state == OFF) return;
  d->state = OFF;
  d->waits = 0;
  sloop_close(d->s, on_closed, d);
}

/* ---- the drain ------------------------------------------------------------------------------------------ */

/* The timer belongs to the world, because its operator may be gone by then. */
static void run_due(void *arg) {
  hd_world *hw = arg;
  hd_drainer *d = hw->drainer;
  if (d && d->waits && d->state != OFF && hd_now(hw) >= d->due_us) end_drain(d);
}

static void later(hd_drainer *d, drain_state state, uint64_t us) {
  d->state = state;
  d->waits = 1;
  d->due_us = hd_now(d->hw) + us;
  slp_sim_at(d->hw->w->sim, d->due_us, run_due, d->hw);
}

static void on_undrained(sloop_admin_t *a, int status, const sloop_drain_t *r, const sloop_error_t *e,
                         void *arg) {
  hd_drainer *d = arg;
  (void)a;
  slp_sim_trace(d->hw->w->sim, "the operator undrains: %d %s", status, e ? e->message : "");
  if (status == SLP_ECANCELED || d->state == OFF) return;
  if (!status && r->on) hd_break(d->hw->o, HD_T6_COMMAND, "", "an end of a drain tells that it is on");
  /* the first leader may not have made the row yet, and a row that an operator deleted holds nobody */
  if (status)
    later(d, UNDRAINING, AGAIN_US);
  else
    hd_drain_stop(d->hw);
}

static void end_drain(hd_drainer *d) {
  hd_drained(d->hw->o, 0);
  d->state = UNDRAINING;
  d->waits = 0;
  if (sloop_admin_drain(sloop_admin_of(d->s), 0, 0, on_undrained, d)) later(d, UNDRAINING, AGAIN_US);
}

static int runs_by_its_row(const void *arg, const char *boot) { return hd_runs_by_its_row(arg, boot); }

static void on_drained(sloop_admin_t *a, int status, const sloop_drain_t *r, const sloop_error_t *e,
                       void *arg) {
  hd_drainer *d = arg;
  (void)a;
  slp_sim_trace(d->hw->w->sim, "the operator drains: %d %s, %zu still read", status, e ? e->message : "",
                r ? r->waits_for_n : 0);
  if (status == SLP_ECANCELED || d->state == OFF) return;
  if (!status && (!r->on || r->waits_for_n))
    hd_break(d->hw->o, HD_T6_COMMAND, "", "a drain succeeds, and tells on %d, %zu still read", r->on,
             r->waits_for_n);
  /* Who deletes rows can end a hold, or hide a worker from the operator. */
  if (!status && !d->hw->faults[HF_drop_row]) {
    d->hw->drains++;
    hd_drained(d->hw->o, 1);
    hd_judge_released(d->hw->o, runs_by_its_row, d->hw);
  }
  later(d, DRAINED, d->hw->healed ? 0 : d->for_us);
}

void hd_drain_heal(hd_world *hw) {
  if (hw->drainer && hw->drainer->state == DRAINED) end_drain(hw->drainer);
}

/* ---- its beginning -------------------------------------------------------------------------------------- */

void hd_drain_give(hd_world *hw, uint64_t for_us) {
  if (hw->drainer) return;
  hd_drainer *d = SLP_NEW(hw->mem, hd_drainer);
  SLP_CHECK(d);
  *d = (hd_drainer){.hw = hw, .state = DRAINING, .for_us = for_us};
  d->mem = slp_mem_new(NULL, NULL);
  d->s = hd_operator_open(hw, d->mem, &d->host, d);
  hw->drainer = d;
  if (sloop_admin_drain(sloop_admin_of(d->s), 1, 0, on_drained, d)) hd_drain_stop(hw);
}
