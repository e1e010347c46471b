/* deliver.h - batches out of the merge. */
#ifndef SLP_CORE_DELIVER_H
#define SLP_CORE_DELIVER_H

#include "core/batch.h"
#include "host/host.h"

typedef struct slp_delivery { /* of an engine */
  int64_t latest_ms;          /* the latest key time handed over; INT64_MIN: none was */
  slp_shard *blocker;         /* it held the merge back when that was last looked at */
  uint64_t blocked_since_us;
  uint64_t waits_since_us;   /* when the next record to leave came; 0: not looked for yet */
  int64_t waits_time;        /* its time in the order */
  uint64_t backlog_until_us; /* what waits was found too old to be at the tip; look again then */
  slp_timer timer;
} slp_delivery;

void slp_deliver_init(slp_engine *e);
void slp_deliver_free(slp_engine *e);
void slp_deliver_anew(slp_engine *e);  /* the order begins anew: nothing to come is late */
void slp_deliver_forget(slp_shard *s); /* the shard goes */

#endif
