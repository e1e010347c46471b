/* metrics_text.h - writes a sample in Prometheus' text format 0.0.4, in slices. Pure. If a row is added to
 * SLOOP_STATS, the text has the new statistic without more code. */
#ifndef SLP_API_METRICS_TEXT_H
#define SLP_API_METRICS_TEXT_H

#include "api/metrics_sample.h"
#include "base/buf.h"

#define SLP_METRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct slp_metrics_own { /* metrics about the publishing of metrics itself */
  uint8_t cloudwatch;            /* 1: values are published to CloudWatch */
  uint64_t cloudwatch_data, cloudwatch_failures;
} slp_metrics_own;

typedef struct slp_metrics_text {
  const slp_sample *sample; /* borrowed until all lines are written */
  slp_metrics_own own;
  slp_buf *out;
  /* the next line to write: the indices of its family, its consumer and its shard */
  size_t family, consumer, shard;
} slp_metrics_text;

void slp_metrics_text_begin(slp_metrics_text *t, const slp_sample *sample, const slp_metrics_own *own,
                            slp_buf *out);
/* Writes about lines_max more lines. Returns 0 if all lines are written, SLP_MORE if it must be called again,
 * SLP_ENOMEM or SLP_ELIMIT. */
int slp_metrics_text_write(slp_metrics_text *t, size_t lines_max);
/* Writes the name that a statistic has in Prometheus' format: "sloop_payload_bytes_total" for payload_bytes
 * with the unit bytes. */
void slp_metrics_text_name(const char *stat, const char *unit, char out[80]);

#endif
