/* metrics.h - what stopping and closing a consumer calls for its metrics. */
#ifndef SLP_API_METRICS_H
#define SLP_API_METRICS_H

#include "api/metrics_sample.h"
#include <sloop.h>

/* Removes s, which is being closed, from all metrics. Metrics that were opened for s end. 1: some are not
 * closed yet; the close event of s is posted again when they are. */
int slp_metrics_part(sloop_t *s);
/* Adds the consumer to a sample, as number `member`. with_shards 0: only its sums, and what makes it not
 * ready. 0, SLP_ENOMEM, SLP_ELIMIT. */
int slp_metrics_sample(sloop_t *s, size_t member, slp_sample *into, int with_shards);
/* Sends the latest values to CloudWatch now, because s is stopping and there is still time. */
void slp_metrics_last_word(sloop_t *s);

#endif
