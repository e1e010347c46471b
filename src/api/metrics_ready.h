/* metrics_ready.h - is a consumer doing its work? A load balancer or a deployment asks. Pure. */
#ifndef SLP_API_METRICS_READY_H
#define SLP_API_METRICS_READY_H

#include "api/metrics_sample.h"

#define SLP_READY_WHY 400

/* NULL; or why this consumer of the sample is not ready, without its name. Of the sample, or static. */
const char *slp_ready_wrong(const slp_sample *s, const slp_sample_consumer *c);
/* 1: the shard has failed, or made no progress though records wait, for unready_ms. `why` is a line. */
int slp_ready_is_stuck(const sloop_shard_stats_t *shard, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* 1: the service has refused the position of this shard, so that nobody reads it. `why` is a line. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]);
/* As a word of a label: "reading", "at_tip", "waiting_for_user" ... */
const char *slp_ready_state_word(sloop_shard_state_t state);
/* 1: all consumers are ready. 0: `why` is one line about the first that is not. */
int slp_ready(const slp_sample *s, char why[SLP_READY_WHY]);

#endif
