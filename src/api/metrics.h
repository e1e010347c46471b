/* metrics.h - the functions of metrics that stopping and closing a consumer call. */
#ifndef SLP_API_METRICS_H
#define SLP_API_METRICS_H

#include "api/metrics_sample.h"
#include <sloop.h>

/* Removes s, which is being closed: metrics opened for it end, others drop it. 1: some are not closed yet;
 * s's close event is posted again when they are. */
int slp_metrics_part(sloop_t *s);
/* Adds the consumer to the sample; with_shards 0: only its sums, and what makes it not ready. `member` is its
 * number in the sample. 0, SLP_ENOMEM, SLP_ELIMIT. */
int slp_metrics_sample(sloop_t *s, size_t member, slp_sample *into, int with_shards);
/* Sends the last values to CloudWatch, because s is stopping and there is still time. */
void slp_metrics_last_word(sloop_t *s);

#endif
