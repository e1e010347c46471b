/* report.h - makes callbacks to the user: later, and one at a time. */
#ifndef SLP_CORE_REPORT_H
#define SLP_CORE_REPORT_H

#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;

typedef struct slp_notices { /* one per consumer */
  slp_list all;              /* notices: callbacks to be made, oldest first */
  slp_list spare;            /* those notices in `all` that may be dropped */
  uint32_t n, lost; /* n: notices in `all`. lost: notices dropped since the user was last told how many */
  void *fatal;      /* a spare block, so that a fatal error can be reported even without memory */
  slp_event ev;     /* makes the callback of the oldest notice */
} slp_notices;

typedef struct slp_loss { /* see sloop_loss_t, which has the same members */
  slp_str shard, from, to;
  int64_t since_ms, until_ms;
  int certain;
  const char *message;
} slp_loss;

/* These functions add a notice if the user has set the callback. They copy all texts, and make no callback
 * themselves. */
void slp_report_error(slp_consumer *c, const slp_fail *f, const slp_shard *s, int fatal, uint32_t attempt,
                      uint64_t retry_in_ms);
void slp_report_shard(slp_consumer *c, const slp_shard *s, sloop_shard_event_kind_t what);
/* Reports a loss to the user, and writes it to the log. */
void slp_report_loss(slp_consumer *c, const slp_loss *loss);
void slp_report_lease(slp_consumer *c, sloop_lease_event_kind_t what, slp_str shard, slp_str worker,
                      slp_str text, uint64_t epoch);
/* Reports what the source has to say (slp_source.told), if slp_source.news is set. */
void slp_report_news(slp_consumer *c);
/* reports that the tip is reached, if that is so and was not reported yet */
void slp_report_tip(slp_consumer *c);
void slp_report_log(slp_consumer *c, sloop_log_level_t level, const char *fmt, ...) SLP_PRINTF(3, 4);
int slp_report_pending(const slp_consumer *c); /* 1: at least one callback is still to be made */
void slp_report_drop(slp_consumer *c);         /* drops all callbacks that are still to be made */
int slp_report_init(slp_consumer *c); /* reserves memory for a fatal error. Returns 0 or SLP_ENOMEM. */
void slp_report_free(slp_consumer *c);

#endif
