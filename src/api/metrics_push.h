/* metrics_push.h - publishes the values of a program's consumers to CloudWatch at an interval, in as many
 * calls as that takes. A failure is counted and reported once; the next round publishes what was missed. */
#ifndef SLP_API_METRICS_PUSH_H
#define SLP_API_METRICS_PUSH_H

#include "api/metrics_data.h"
#include "host/host.h"

typedef struct slp_metrics_push {
  /* Set by the owner before open. */
  int (*sample)(void *arg, slp_sample *into);       /* 0, SLP_ENOMEM, SLP_ELIMIT */
  void (*on_trouble)(void *arg, const slp_fail *f); /* the first failure, and the first of another kind */
  void (*on_fine)(void *arg);                       /* after that: it works again */
  void *arg;
  const char *ns; /* borrowed */
  uint8_t as_motorway;
  uint32_t every_ms;

  uint64_t data_told, failures; /* out */

  slp_host *h;
  slp_aws *aws; /* owns a reference */
  slp_timer timer;
  uint8_t busy, in_trouble;
  int trouble_code; /* of the failure that was reported last */
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
