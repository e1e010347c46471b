/* metrics_data.h - turns a sample into data for CloudWatch, one after the other. Pure.
 *
 * Our own set: for each consumer some totals with the dimensions Stream and (with leases) Application, then
 * the lag of each shard with Shard as well. No dimension names the worker: so the sum of a counter over a
 * minute is the work of all workers, the maximum of a lag is the worst one, and moving a shard makes no new
 * metric (each is billed). A counter is published as its growth since the last successful call. As motorway:
 * the lag of each shard, under its name and dimensions. */
#ifndef SLP_API_METRICS_DATA_H
#define SLP_API_METRICS_DATA_H

#include "api/metrics_sample.h"
#include "aws/cloudwatch.h"

#define SLP_METRICS_MOTORWAY "Motorway/Kinesis" /* the namespace it uses */

typedef struct slp_metrics_data {
  const slp_sample *sample;   /* borrowed until the end, as since */
  const sloop_stats_t *since; /* by member: the values published before; zeros: none */
  uint8_t as_motorway;
  size_t consumer, item; /* what comes next */
} slp_metrics_data;

void slp_metrics_data_begin(slp_metrics_data *d, const slp_sample *sample, const sloop_stats_t *since,
                            int as_motorway);
/* 1: *ret is the next one; it points into the sample. 0: there is none left. */
int slp_metrics_data_next(slp_metrics_data *d, slp_cw_datum *ret);
/* Is the next datum the first total of consumer d->consumer? All its totals, at most SLP_METRICS_TOTALS_MAX,
 * should go into one call, so that they are published together or not at all. */
int slp_metrics_data_at_totals(const slp_metrics_data *d);
#define SLP_METRICS_TOTALS_MAX 20u

#endif
