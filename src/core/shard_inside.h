/* shard_inside.h - the members of a shard: its parts, and the fields that belong to no part (core.h explains
 * parts). */
#ifndef SLP_CORE_SHARD_INSIDE_H
#define SLP_CORE_SHARD_INSIDE_H

#include "core/await_part.h"
#include "core/batch_part.h"
#include "core/calls.h"
#include "core/core.h"
#include "core/desc.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/lineage_part.h"
#include "core/merge.h"
#include "core/order_part.h"
#include "core/queue.h"
#include "core/reader_part.h"
#include "core/reading_part.h"
#include "core/standing.h"

struct slp_shard {
  slp_consumer *consumer;
  slp_name *name; /* a counted reference */
  slp_str id;     /* points into name */
  slp_lineage lineage;
  slp_standing at;
  slp_shard_reading reading;
  slp_reader reader;
  slp_await await;
  slp_shard_call call;
  slp_queue queue;
  slp_order order;
  slp_shard_batches batches;
  slp_lag lag;
  slp_shard_lease lease; /* with leases only */
  uint8_t paused;        /* 1: the user paused this shard */
  uint64_t paused_us;    /* when `paused` last changed, on the host's clock */
  /* opened_told, 1: SLOOP_SHARD_OPENED was reported to the user. ended_told, 1: SLOOP_SHARD_ENDED was
   * reported. */
  uint8_t opened_told, ended_told;
  /* scratch memory of lineage.c, start.c and save.c; each of these files sets `marked` for all shards before
   * it reads `marked` */
  uint8_t marked;
};

static inline slp_shard *slp_shard_in_order(slp_merge_node *node) {
  return SLP_OWNER(node, slp_shard, order.node);
}

#endif
