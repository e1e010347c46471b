/* delay.h - learns how long a pushed record takes from the service to this process. The service stamps the
 * record by its own clock; the arrival here is measured by our clock. So a delay includes the difference
 * between the two clocks. That difference is the same for all records, and need not be known. */
#ifndef SLP_CORE_DELAY_H
#define SLP_CORE_DELAY_H

#include <stdint.h>

typedef struct slp_delay_span {
  uint32_t n; /* how many events were seen; 0: the other fields mean nothing */
  /* the least and the greatest delay, including the difference between the two clocks */
  int64_t least_us, most_us;
  uint64_t since_us; /* when the first event of the span came */
} slp_delay_span;

typedef struct slp_delay { /* one per consumer */
  /* now: the span that is being filled; before: the span before it (see delay.c) */
  slp_delay_span now, before;
} slp_delay;

/* Learns from an event that came at came_us on our clock. first_ms and last_ms: the service's stamps of the
 * event's first and last record. */
void slp_delay_learn(slp_delay *d, int64_t first_ms, int64_t last_ms, uint64_t came_us);
/* Returns the time on our clock by which every record with a stamp before at_ms should have come. UINT64_MAX:
 * not known. */
uint64_t slp_delay_over_us(const slp_delay *d, int64_t at_ms);
/* Returns a time on the service's clock: every record with an earlier stamp should have come when our clock
 * shows now_us. INT64_MIN: not known. */
int64_t slp_delay_came_until_ms(const slp_delay *d, uint64_t now_us);

#endif
