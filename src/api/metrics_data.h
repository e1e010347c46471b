/* metrics_data.h - turns a sample into data for CloudWatch, one after the other. Pure.
 *
 * For each consumer there are some totals with the dimensions Stream and, with leases, Application. Then
 * follows the lag of each shard, which has the dimension Shard too.
 *
 * No dimension names the worker, for three reasons. The sum of a counter over a minute is then the work of
 * all workers. The maximum of a lag is the worst one. And a shard that moves to another worker makes no new
 * metric, which would be billed. A counter is published as its growth since the last call that succeeded.
 *
 * As motorway: only the lag of each shard, under motorway's name and with its dimensions. */
#ifndef SLP_API_METRICS_DATA_H
#define SLP_API_METRICS_DATA_H

#include "api/metrics_sample.h"
#include "aws/cloudwatch.h"

#define SLP_METRICS_MOTORWAY "Motorway/Kinesis" /* the namespace that motorway uses */

typedef struct slp_metrics_data {
  const slp_sample *sample;   /* borrowed until the end, as `since` */
  const sloop_stats_t *since; /* by member: the values that were published before; zeros: none were */
  uint8_t as_motorway;
  size_t consumer, item; /* what comes next */
} slp_metrics_data;

void slp_metrics_data_begin(slp_metrics_data *d, const slp_sample *sample, const sloop_stats_t *since,
                            int as_motorway);
/* 1: *ret is the next datum; it points into the sample. 0: there is none left. */
int slp_metrics_data_next(slp_metrics_data *d, slp_cw_datum *ret);
/* Returns 1 if the next datum is the first total of d->consumer. A consumer has at most
 * SLP_METRICS_TOTALS_MAX totals. They should go into one call, so that all of them are published or none. */
int slp_metrics_data_at_totals(const slp_metrics_data *d);
#define SLP_METRICS_TOTALS_MAX 20u

#endif
