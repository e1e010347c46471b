/* metrics.h - what opening, stopping and closing a consumer must do about its metrics, and the sample of one
 * consumer. */
#ifndef SLP_API_METRICS_H
#define SLP_API_METRICS_H

#include "api/metrics_sample.h"
#include <sloop.h>

/* To be called when s is being closed. Removes s from all metrics, and closes the metrics that were opened
 * for s. Returns 1 if closing some of them is not finished yet; s->close_ev is posted again when it is. */
int slp_metrics_part(sloop_t *s);
/* Adds the consumer to a sample, as number `member`. with_shards 0: adds the consumer's totals and the
 * reasons why it is not ready, but no shards. Returns 0, SLP_ENOMEM or SLP_ELIMIT. */
int slp_metrics_sample(sloop_t *s, size_t member, slp_sample *into, int with_shards);
/* To be called when s begins to stop, while calls are still possible: sends the latest values to CloudWatch
 * in the next turn. */
void slp_metrics_last_word(sloop_t *s);
/* Returns 1 while values of s are being sent to CloudWatch, or will be sent in the next turn. */
int slp_metrics_are_telling(sloop_t *s);

#endif
