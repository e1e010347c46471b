/* engine.c - creates and frees an engine, which joined consumers share. */
#include "base/list.h"
#include "base/mem.h"
#include "core/batch.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/consumer.h"
#include "core/deliver.h"
#include "core/engine_inside.h"
#include "core/merge.h"
#include "core/pages.h"
#include "core/pump.h"
#include "host/host.h"

#include <sloop.h>

#define ENGINE_TIMERS 2 /* the timers of an engine: one for deliver.c, one for calls.c */

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o) {
  slp_engine *e = SLP_NEW(mem, slp_engine);
  if (!e) return SLP_ENOMEM;
  if (slp_host_reserve_timers(h, ENGINE_TIMERS)) {
    slp_free(mem, e);
    return SLP_ENOMEM;
  }
  e->host = h;
  e->mem = mem;
  e->order = o->order;
  e->order_wait_ms = o->order_wait_ms;
  e->batches_out_max = o->batches_out_max;
  e->batch_records_max = o->batch_records_max;
  e->batch_bytes_max = o->batch_bytes_max;
  slp_list_init(&e->consumers);
  slp_list_init(&e->ready_shards);
  slp_budget_init(&e->budget, o->buffered_bytes_max);
  slp_merge_init(&e->merge, mem);
  slp_pages_init(e);
  slp_calls_init(e, o->in_flight_max);
  slp_batches_init(e);
  slp_deliver_init(e);
  e->pump_ev.run = slp_pump_run;
  *ret = e;
  return 0;
}

void slp_engine_free(slp_engine *e) {
  if (!e) return;
  SLP_CHECK(slp_list_empty(&e->consumers));
  slp_deliver_free(e);
  slp_unpost(&e->pump_ev);
  slp_pages_drop(e);
  slp_batches_free(e);
  slp_merge_free(&e->merge);
  slp_calls_free(e);
  slp_host_unreserve_timers(e->host, ENGINE_TIMERS);
  SLP_CHECK(slp_budget_used(&e->budget) == 0);
  slp_free(e->mem, e);
}
