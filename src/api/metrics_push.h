/* metrics_push.h - tells CloudWatch what a program's consumers did, every so often, in as many calls as it
 * takes. What fails is counted and told once; the next time comes all the same, and with what was not told.
 */
#ifndef SLP_API_METRICS_PUSH_H
#define SLP_API_METRICS_PUSH_H

#include "api/metrics_data.h"
#include "host/host.h"

typedef struct slp_metrics_push {
  /* The owner's, set before open. */
  int (*sample)(void *arg, slp_sample *into);       /* 0, SLP_ENOMEM, SLP_ELIMIT */
  void (*on_trouble)(void *arg, const slp_fail *f); /* the first failure, and the first of another kind */
  void (*on_fine)(void *arg);                       /* after that: it works again */
  void *arg;
  const char *ns; /* borrowed */
  uint8_t as_motorway;
  uint32_t every_ms;

  uint64_t data_told, failures; /* out */

  slp_host *h;
  slp_aws *aws; /* held */
  slp_timer timer;
  uint8_t busy, in_trouble;
  int trouble_code; /* of the failure that was told last */
  slp_sample now;
  sloop_stats_t *told; /* by member */
  size_t told_n;
  slp_metrics_data data;
  slp_cw_datum next; /* did not fit into the call before */
  uint8_t next_waits;
  size_t totals_from, totals_to; /* the consumers whose totals are in the call that is out */
  slp_cw_put put;
} slp_metrics_push;

int slp_metrics_push_open(slp_metrics_push *p, slp_host *h, slp_aws *aws); /* SLP_ENOMEM */
void slp_metrics_push_soon(slp_metrics_push *p);  /* in the next turn, if nothing is out; closed is fine */
void slp_metrics_push_close(slp_metrics_push *p); /* at once; closed is fine */

#endif
