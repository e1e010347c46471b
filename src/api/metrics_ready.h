/* metrics_ready.h - answers load balancers and deployments whether a consumer does its work. Pure. */
#ifndef SLP_API_METRICS_READY_H
#define SLP_API_METRICS_READY_H

#include "api/metrics_sample.h"

#define SLP_READY_WHY 400

/* Why shards of a consumer make no progress. For each state: how many shards are in it, and the one that is
 * in it for the longest time. */
#define SLP_READY_STATES 12
typedef struct slp_ready_shards {
  struct {
    uint32_t n;
    int64_t ms;
    char why[SLP_READY_WHY];
  } of[SLP_READY_STATES]; /* by sloop_shard_state_t */
} slp_ready_shards;
void slp_ready_count(slp_ready_shards *all, const sloop_shard_stats_t *shard, uint32_t unready_ms);
/* Counts a shard that this worker does not have, because the service has refused the shard's position. */
void slp_ready_count_refused(slp_ready_shards *all, const char *shard, uint64_t ago_ms, uint32_t unready_ms);
/* Appends all reasons, joined by "; ". The one that lasts for the longest time comes first. */
int slp_ready_put(const slp_ready_shards *all, slp_buf *b);

/* 1: this consumer of the sample is ready. */
int slp_ready_is(const slp_sample *s, const slp_sample_consumer *c);
/* 1: for unready_ms the shard has failed, or made no progress although records wait. `why` is then a line
 * about it. */
int slp_ready_is_stuck(const sloop_shard_stats_t *shard, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* 1: the service has refused the position of this shard, so that nobody reads it. `why` is then a line about
 * it. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* 1: all consumers are ready. 0: appends a line about each that is not, without the last newline; as many
 * as `why` may hold. */
int slp_ready(const slp_sample *s, slp_buf *why);

#endif
