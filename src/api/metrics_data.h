/* metrics_data.h - turns a sample into data for CloudWatch. A datum is one named value with its dimensions.
 * Pure.
 *
 * First come the totals of a consumer, with the dimensions Stream and, if the consumer has leases,
 * Application. Then comes the lag of each of its shards, with the additional dimension Shard.
 *
 * No dimension names the worker, for three reasons:
 * - the sum of a counter over a minute is then the work of all workers;
 * - the maximum of a lag is then the greatest lag of all workers;
 * - a shard that moves to another worker then makes no new metric, which would be billed.
 *
 * The value of a counter is its growth since the last call that succeeded.
 *
 * The set (slp_metrics_set) decides which metrics are published, and under which names. There is our own set,
 * and that of another system, so that its dashboards and alarms continue to work. */
#ifndef SLP_API_METRICS_DATA_H
#define SLP_API_METRICS_DATA_H

#include "api/metrics_sample.h"
#include "aws/cloudwatch.h"

#include <sloop.h>

/* A set of metrics. All sets have the lag of each shard. */
typedef struct slp_metrics_set {
  const char *name; /* as in cloudwatch_set of the options */
  const char *ns;   /* the namespace if the options have none; NULL: the options must have one */
  const char *lag;  /* the name of a shard's lag */
  uint8_t own;      /* 1: the set also has the totals of a consumer, and the dimension Application */
} slp_metrics_set;
/* Returns the set of that name; NULL: there is none. name_or_null NULL: returns our own set. */
const slp_metrics_set *slp_metrics_set_of(const char *name_or_null);
/* Returns the set number i, from 0; NULL: there is none. */
const slp_metrics_set *slp_metrics_set_at(size_t i);

typedef struct slp_metrics_data {
  const slp_sample *sample; /* `sample` and `since` are borrowed until slp_metrics_data_next has returned 0 */
  /* the values that were published before, indexed by slp_sample_consumer.member; zero: none were */
  const sloop_stats_t *since;
  const slp_metrics_set *set;
  /* the next datum: the index of its consumer, and its index among that consumer's data */
  size_t consumer, item;
} slp_metrics_data;

void slp_metrics_data_begin(slp_metrics_data *d, const slp_sample *sample, const sloop_stats_t *since,
                            const slp_metrics_set *set);
/* Returns 1 if there is another datum; *ret is that datum, and points into the sample. Returns 0 at the
 * end. */
int slp_metrics_data_next(slp_metrics_data *d, slp_cw_datum *ret);
/* Returns 1 if the next datum is the first total of d->consumer. A consumer has at most
 * SLP_METRICS_TOTALS_MAX totals, which should be sent in one call, so that all of them are published or
 * none. */
int slp_metrics_data_at_totals(const slp_metrics_data *d);
#define SLP_METRICS_TOTALS_MAX 20u

#endif
