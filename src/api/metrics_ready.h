/* metrics_ready.h - tells load balancers and deployments whether a consumer does its work. Pure. */
#ifndef SLP_API_METRICS_READY_H
#define SLP_API_METRICS_READY_H

#include "api/metrics_sample.h"

#define SLP_READY_WHY 400

/* Why shards of a consumer make no progress. For each state: `n` shards are in it; `why` and `ms` are of the
 * shard that has been in it for the longest time. */
#define SLP_READY_STATES 12
typedef struct slp_ready_shards {
  struct {
    uint32_t n;
    int64_t ms;
    char why[SLP_READY_WHY];
  } of[SLP_READY_STATES]; /* indexed by sloop_shard_state_t */
} slp_ready_shards;
/* Counts the shard if slp_ready_is_stuck() returns 1 for it. */
void slp_ready_count(slp_ready_shards *all, const sloop_shard_stats_t *shard, uint32_t unready_ms);
/* Counts a shard that this worker does not own, because the service has refused the shard's position. */
void slp_ready_count_refused(slp_ready_shards *all, const char *shard, uint64_t ago_ms, uint32_t unready_ms);
/* Appends all reasons, joined by "; ". The reason that has lasted for the longest time comes first. */
int slp_ready_put(const slp_ready_shards *all, slp_buf *b);

/* Returns 1 if this consumer of the sample is ready. */
int slp_ready_is(const slp_sample *s, const slp_sample_consumer *c);
/* Returns 1 if the shard has failed for unready_ms, or has made no progress for unready_ms although records
 * wait. Then `why` is a text about the shard. */
int slp_ready_is_stuck(const sloop_shard_stats_t *shard, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* Returns 1 if the refusal counts, because unready_ms is not UINT32_MAX. Then `why` is a text about the
 * shard, whose position the service has refused, so that nobody reads it. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* Returns 1 if all consumers are ready. Otherwise appends one line for each consumer that is not ready, as
 * long as `why` has room. The last line gets no newline. */
int slp_ready(const slp_sample *s, slp_buf *why);

#endif
