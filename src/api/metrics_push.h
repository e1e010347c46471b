/* metrics_push.h - publishes values of a program's consumers to CloudWatch at an interval. A round makes as
 * many calls as it needs. Each failure is counted. Repeated failures of one kind are reported once. After a
 * failure, the next round publishes the growth of the failed round too. */
#ifndef SLP_API_METRICS_PUSH_H
#define SLP_API_METRICS_PUSH_H

#include "api/metrics_data.h"
#include "host/host.h"

typedef struct slp_metrics_push {
  /* The owner sets these members before it calls slp_metrics_push_open. */
  int (*sample)(void *arg, slp_sample *into); /* fills a sample; returns 0, SLP_ENOMEM or SLP_ELIMIT */
  /* called for the first failure, and for a failure of another kind than the last */
  void (*on_trouble)(void *arg, const slp_fail *f);
  void (*on_fine)(void *arg); /* called for the first success after on_trouble */
  void *arg;
  const char *ns; /* the namespace in CloudWatch; borrowed */
  uint8_t as_motorway;
  uint32_t every_ms;

  uint64_t data_told, failures; /* results: how many data CloudWatch took, and how many rounds failed */

  slp_host *h;
  slp_aws *aws; /* a reference is held */
  slp_timer timer;
  /* busy: a round is under way. in_trouble: on_trouble was called, and no round has succeeded since. */
  uint8_t busy, in_trouble;
  int trouble_code; /* the code of the failure that was reported last */
  /* The values of the round that is under way. */
  slp_sample now;
  sloop_stats_t *told; /* indexed by member: the values that CloudWatch has taken */
  size_t told_n;
  slp_metrics_data data;
  slp_cw_datum next; /* if next_waits is set: a datum that did not fit into the last call */
  uint8_t next_waits;
  /* the consumers whose totals are in the current call: indices from totals_from up to, but without,
   * totals_to */
  size_t totals_from, totals_to;
  slp_cw_put put;
} slp_metrics_push;

/* returns SLP_ENOMEM if there is no memory */
int slp_metrics_push_open(slp_metrics_push *p, slp_host *h, slp_aws *aws);
/* starts a round in the next turn of the loop; does nothing if a round is under way, or after closing */
void slp_metrics_push_soon(slp_metrics_push *p);
void slp_metrics_push_close(slp_metrics_push *p); /* takes effect at once; does nothing if already closed */

#endif
