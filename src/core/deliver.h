/* deliver.h - batches out of the merge. */
#ifndef SLP_CORE_DELIVER_H
#define SLP_CORE_DELIVER_H

#include "core/batch.h"
#include "host/host.h"

typedef struct slp_delivery { /* of an engine */
  int64_t latest_ms;          /* the latest key time handed over; INT64_MIN: none was */
  uint64_t waits_since_us;    /* when the next record to leave came; 0: not looked for yet */
  int64_t waits_time;         /* its time in the order */
  int64_t waits_came_ms;      /* waits_since_us by the clock of its service; INT64_MIN: not known */
  /* Since a record left last; 0: not so yet. */
  uint64_t blocked_since_us; /* a shard holds the others back */
  uint64_t held_since_us; /* a record waits for silent shards; looked for when one was silent for too long */
  /* So long the loop has run without a pause, as far as shards held the others back. */
  uint64_t looked_us, alive_since_us;
  uint8_t prolonged; /* since a record left last: a wait was over, and went on because the loop had stood */
  uint64_t backlog_until_us; /* what waits was found too old to be at the tip; look again then */
  slp_timer timer;
} slp_delivery;

void slp_deliver_init(slp_engine *e);
void slp_deliver_free(slp_engine *e);
void slp_deliver_anew(slp_engine *e); /* the order begins anew: nothing to come is late */

#endif
