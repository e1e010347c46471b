/* metrics_ready.h - decides whether a consumer is ready, which is to say that it does its work. For load
 * balancers and deployments. Pure. */
#ifndef SLP_API_METRICS_READY_H
#define SLP_API_METRICS_READY_H

#include "api/metrics_sample.h"
#include "base/buf.h"

#include <sloop.h>

#define SLP_READY_WHY 400

/* Why shards of a consumer make no progress. For each state: `n` is the number of shards in this state. `ms`
 * and `why` are about the shard that has been in this state for the longest time: for how long, and why. */
#define SLP_READY_STATES 12
typedef struct slp_ready_shards {
  struct {
    uint32_t n;
    int64_t ms;
    char why[SLP_READY_WHY];
  } of[SLP_READY_STATES]; /* indexed by sloop_shard_state_t */
} slp_ready_shards;
/* counts the shard if slp_ready_is_stuck() returns 1 for it */
void slp_ready_count(slp_ready_shards *all, const sloop_shard_stats_t *shard, uint32_t unready_ms);
/* Counts a shard that this worker does not own and whose position the service refused ago_ms ago, if
 * slp_ready_is_refused() returns 1 for it. */
void slp_ready_count_refused(slp_ready_shards *all, const char *shard, uint64_t ago_ms, uint32_t unready_ms);
/* Appends to b why shards make no progress: one reason for each state, separated by "; ". The reason that has
 * lasted for the longest time comes first. Returns 0, SLP_ENOMEM or SLP_ELIMIT. */
int slp_ready_put(const slp_ready_shards *all, slp_buf *b);

/* Returns 1 if consumer c of the sample s is ready. */
int slp_ready_is(const slp_sample *s, const slp_sample_consumer *c);
/* Returns 1 if the shard is stuck: its calls have failed for unready_ms, or it has made no progress for
 * unready_ms although records wait. `why` is then a text about the shard. */
int slp_ready_is_stuck(const sloop_shard_stats_t *shard, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* Returns 1 if a shard whose position the service refused makes the consumer unready; `why` is then a text
 * about the shard. Returns 0 if unready_ms is UINT32_MAX. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* Returns 1 if all consumers are ready. Otherwise appends a line to `why` for each one that is not, as long
 * as there is room. The last line has no newline. */
int slp_ready(const slp_sample *s, slp_buf *why);

#endif
