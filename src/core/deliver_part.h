/* deliver_part.h - what deliver.c remembers about the records that wait to be handed out; deliver.c owns
 * it. */
#ifndef SLP_CORE_DELIVER_PART_H
#define SLP_CORE_DELIVER_PART_H

#include "host/host.h"

typedef struct slp_delivery { /* one per engine */
  int64_t latest_ms;          /* the latest order time of a record that was handed out; INT64_MIN: none was */
  /* when the earliest record of all shards was taken into its queue; 0: not looked up yet */
  uint64_t waits_since_us;
  int64_t waits_time;    /* order time of that earliest record */
  int64_t waits_came_ms; /* waits_since_us as a time on the service's clock, in ms; INT64_MIN: not known */
  /* The next three fields, and `prolonged`, are set to 0 when a record is handed out, or when no record
   * waits. */
  uint64_t blocked_since_us; /* since when a shard holds the next record back; 0: none does */
  uint64_t held_since_us;    /* since when the next record waits for silent shards; 0: not looked up yet */
  /* looked_us: when settled_us() in deliver.c last ran. alive_since_us: since when the loop has run without a
   * long pause. */
  uint64_t looked_us, alive_since_us;
  /* 1: the present wait was prolonged once already, because the event loop had been blocked */
  uint8_t prolonged;
  /* until this time the waiting records count as a backlog, without another search through all shards */
  uint64_t backlog_until_us;
  slp_timer timer; /* runs the delivery again */
} slp_delivery;

#endif
