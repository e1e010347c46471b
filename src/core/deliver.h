/* deliver.h - takes batches of records out of the merge. */
#ifndef SLP_CORE_DELIVER_H
#define SLP_CORE_DELIVER_H

#include "core/batch.h"
#include "host/host.h"

typedef struct slp_delivery { /* one per engine */
  int64_t latest_ms;          /* the latest key time handed out; INT64_MIN: none was */
  uint64_t waits_since_us;    /* when the next record to leave came; 0: not looked up yet */
  int64_t waits_time;         /* the time, in the order, of the next record to leave */
  int64_t waits_came_ms;      /* waits_since_us on the clock of the record's service; INT64_MIN: not known */
  /* The next fields are 0 until the first record in the order can't leave, and again when one leaves. */
  uint64_t blocked_since_us; /* since when a shard holds the others back; 0: none does */
  uint64_t held_since_us;    /* since when the next record waits for silent shards; 0: not looked up */
  /* looked_us: the last look at a wait. alive_since_us: since when those looks found the loop running without
   * a pause. */
  uint64_t looked_us, alive_since_us;
  uint8_t prolonged;         /* 1: the wait was over, but went on because the loop had stood still */
  uint64_t backlog_until_us; /* until then the waiting records count as a backlog, without another look */
  slp_timer timer;           /* runs the delivery again */
} slp_delivery;

void slp_deliver_init(slp_engine *e);
void slp_deliver_free(slp_engine *e);
void slp_deliver_anew(slp_engine *e); /* a new order begins, in which no record to come is late */

#endif
