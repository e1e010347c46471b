/* metrics_push.h - publishes values of a program's consumers to CloudWatch. Each interval has one round,
 * which makes as many calls as it needs. Each failed round is counted. Several rounds that fail in the same
 * way are reported once. After a failed round, the next round publishes the growth of the counters since the
 * last call that succeeded. */
#ifndef SLP_API_METRICS_PUSH_H
#define SLP_API_METRICS_PUSH_H

#include "api/metrics_data.h"
#include "api/metrics_sample.h"
#include "aws/aws_impl.h"
#include "aws/cloudwatch.h"
#include "base/fail.h"
#include "host/host.h"

#include <sloop.h>

typedef struct slp_metrics_push {
  /* The next members must be set by the owner before slp_metrics_push_open. */
  int (*sample)(void *arg, slp_sample *into); /* fills a sample; returns 0, SLP_ENOMEM or SLP_ELIMIT */
  /* called for the first failed round, and for each round that fails in another way than the failed round
   * before */
  void (*on_trouble)(void *arg, const slp_fail *f);
  void (*on_fine)(void *arg); /* called for the first round that succeeds after on_trouble was called */
  /* Sets *ret to the values of a consumer that CloudWatch has taken already, when the consumer is seen first.
   * NULL: none were. */
  void (*begin)(void *arg, size_t member, sloop_stats_t *ret);
  /* called when CloudWatch has taken the values of a consumer; may be NULL */
  void (*on_taken)(void *arg, size_t member, const sloop_stats_t *stats);
  /* called in a turn, when slp_metrics_push_is_telling() has become 0; may be NULL; must not close */
  void (*on_rest)(void *arg);
  void *arg;
  const char *ns; /* the namespace in CloudWatch; borrowed */
  const slp_metrics_set *set;
  uint32_t every_ms;

  uint64_t data_told, failures; /* out: how many data CloudWatch has taken, and how many rounds have failed */

  slp_host *h;
  slp_aws *aws; /* a reference is held */
  slp_timer timer;
  /* busy: 1 while a round is under way. in_trouble: 1 if on_trouble was called, and no round has succeeded
   * since. soon: 1 if another round was asked for by slp_metrics_push_soon, and has not begun. */
  uint8_t busy, in_trouble, soon;
  int trouble_code; /* the code of the failure for which on_trouble was last called */
  /* the sample of the round that is under way */
  slp_sample now;
  sloop_stats_t *told; /* the values that CloudWatch has taken, indexed by slp_sample_consumer.member */
  size_t told_n;
  slp_metrics_data data;
  slp_cw_datum next; /* if next_waits is 1: the datum that did not fit into the last call */
  uint8_t next_waits;
  /* The consumers whose totals are in the call that is under way: those with an index from totals_from to
   * totals_to - 1. */
  size_t totals_from, totals_to;
  slp_cw_put put;
} slp_metrics_push;

/* returns 0 or SLP_ENOMEM */
int slp_metrics_push_open(slp_metrics_push *p, slp_host *h, slp_aws *aws);
/* Makes a round begin in the next turn, or after the round that is under way. Does nothing after closing. */
void slp_metrics_push_soon(slp_metrics_push *p);
/* Returns 1 while a round is under way, or one was asked for by slp_metrics_push_soon and has not begun. */
int slp_metrics_push_is_telling(const slp_metrics_push *p);
void slp_metrics_push_close(slp_metrics_push *p); /* stops at once; does nothing if it is closed already */

#endif
