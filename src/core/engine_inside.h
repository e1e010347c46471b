/* engine_inside.h - the members of an engine: its parts, and the fields that belong to no part (core.h
 * explains parts). */
#ifndef SLP_CORE_ENGINE_INSIDE_H
#define SLP_CORE_ENGINE_INSIDE_H

#include "base/list.h"
#include "base/mem.h"
#include "core/batch_part.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/deliver_part.h"
#include "core/merge.h"
#include "core/pace.h"
#include "core/pages.h"
#include "host/host.h"

#include <sloop.h>

struct slp_engine {
  slp_host *host;
  slp_mem *mem;
  slp_list consumers; /* the joined consumers, linked by slp_consumer.link */
  /* number of shards that all joined consumers know; the heaps `merge` and `calls.want` have room for them
   * all */
  uint32_t shards_n;
  uint32_t behind_n; /* number of shards whose last page said that more records wait */
  slp_budget budget;
  uint64_t ahead_needs; /* the sum of slp_ahead_needs of all consumers: how much of the budget is used */
  slp_pages pages;
  slp_calls calls;
  slp_meet polls;                /* groups the polls of several shards, so that they are sent together */
  slp_event pump_ev, deliver_ev; /* pump_ev runs slp_pump_run; deliver_ev runs the delivery, see deliver.c */
  /* The next five fields are options of the user, see sloop_opts_t. */
  sloop_order_t order;
  uint32_t order_wait_ms, batches_out_max, batch_records_max;
  uint64_t batch_bytes_max;
  /* with SLOOP_ORDER_TIME: has an entry for each shard: the shard's next record, or its watermark if no
   * record is in memory */
  slp_merge merge;
  /* with SLOOP_ORDER_SHARD: the shards that have records to hand out, linked by slp_order.ready_link */
  slp_list ready_shards;
  slp_delivery delivery;
  slp_batches batches;
};

/* slp_pump_soon makes pump.c run, which looks for a shard that may call. slp_deliver_soon makes deliver.c
 * run, which looks for records that may be handed out. */
static inline void slp_pump_soon(slp_engine *e) { slp_post(e->host, &e->pump_ev); }
static inline void slp_deliver_soon(slp_engine *e) { slp_post(e->host, &e->deliver_ev); }

#endif
