/* metrics_push.h - publishes values of a program's consumers to CloudWatch at an interval. A round makes as
 * many calls as it needs. A failure is counted, and reported once; the next round publishes what was
 * missed. */
#ifndef SLP_API_METRICS_PUSH_H
#define SLP_API_METRICS_PUSH_H

#include "api/metrics_data.h"
#include "host/host.h"

typedef struct slp_metrics_push {
  /* These members are set by the owner before slp_metrics_push_open. */
  int (*sample)(void *arg, slp_sample *into);       /* 0, SLP_ENOMEM, SLP_ELIMIT */
  void (*on_trouble)(void *arg, const slp_fail *f); /* for the first failure, and the first of another kind */
  void (*on_fine)(void *arg);                       /* for the first success after on_trouble */
  void *arg;
  const char *ns; /* borrowed */
  uint8_t as_motorway;
  uint32_t every_ms;

  uint64_t data_told, failures; /* results: data that CloudWatch took, calls that failed */

  slp_host *h;
  slp_aws *aws; /* owns a reference */
  slp_timer timer;
  /* busy: a round is under way. in_trouble: on_trouble was called, and no round succeeded since. */
  uint8_t busy, in_trouble;
  int trouble_code; /* of the failure that was reported last */
  /* The values of the round that is under way. */
  slp_sample now;
  sloop_stats_t *told; /* by member: the values that CloudWatch has taken */
  size_t told_n;
  slp_metrics_data data;
  slp_cw_datum next; /* a datum that did not fit into the last call */
  uint8_t next_waits;
  /* the consumers whose totals are in the current call: from totals_from, before totals_to */
  size_t totals_from, totals_to;
  slp_cw_put put;
} slp_metrics_push;

int slp_metrics_push_open(slp_metrics_push *p, slp_host *h, slp_aws *aws); /* SLP_ENOMEM */
/* publishes in the next turn of the loop, unless a round is under way; nothing if closed */
void slp_metrics_push_soon(slp_metrics_push *p);
void slp_metrics_push_close(slp_metrics_push *p); /* takes effect at once; nothing if closed already */

#endif
