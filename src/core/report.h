/* report.h - makes callbacks to the user: later, and one at a time. */
#ifndef SLP_CORE_REPORT_H
#define SLP_CORE_REPORT_H

#include "base/fail.h"
#include "base/list.h"
#include "core/core.h"
#include "host/host.h"

#include <sloop.h>

typedef struct slp_notices { /* one per consumer */
  slp_list all;   /* the notices (see report.c): callbacks that are still to be made, oldest first */
  slp_list spare; /* the notices in `all` that may be dropped */
  /* n: how many notices are in `all`. lost: how many were dropped since `lost` was last reported to the
   * user. */
  uint32_t n, lost;
  /* a reserved block of memory, so that a fatal error can be reported when there is no memory; NULL: used */
  void *fatal;
  slp_event ev; /* its handler makes the callback of the oldest notice */
} slp_notices;

typedef struct slp_loss { /* has the same members as sloop_loss_t */
  slp_str shard, from, to;
  int64_t since_ms, until_ms;
  int certain;
  const char *message;
} slp_loss;

/* The next functions add a notice if the user has set the callback for it. They copy all texts, and make no
 * callback themselves. */
void slp_report_error(slp_consumer *c, const slp_fail *f, const slp_shard *s, int fatal, uint32_t attempt,
                      uint64_t retry_in_ms);
void slp_report_shard(slp_consumer *c, const slp_shard *s, sloop_shard_event_kind_t what);
/* Reports a loss to the user, and writes it to the log. */
void slp_report_loss(slp_consumer *c, const slp_loss *loss);
void slp_report_lease(slp_consumer *c, sloop_lease_event_kind_t what, slp_str shard, slp_str worker,
                      slp_str text, uint64_t epoch);
/* If slp_source.news says that the source has a message (slp_source.told), reports that message. */
void slp_report_news(slp_consumer *c);
/* if all shards are at their tip, and this was not reported yet, reports it */
void slp_report_tip(slp_consumer *c);
void slp_report_log(slp_consumer *c, sloop_log_level_t level, const char *fmt, ...) SLP_PRINTF(3, 4);
int slp_report_pending(const slp_consumer *c); /* returns 1 if a callback is still to be made */
void slp_report_drop(slp_consumer *c);         /* drops all callbacks that are still to be made */
/* reserves memory for the report of a fatal error. Returns 0 or SLP_ENOMEM. */
int slp_report_init(slp_consumer *c);
void slp_report_free(slp_consumer *c);

#endif
