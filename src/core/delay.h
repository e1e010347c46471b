/* delay.h - learns how long pushed records take from the service to us. The service stamps records by its
 * clock and we by ours, so a delay includes the difference of the clocks. That difference is the same for all
 * records, so nobody has to know it. */
#ifndef SLP_CORE_DELAY_H
#define SLP_CORE_DELAY_H

#include "base/base.h"

typedef struct slp_delay_span {
  uint32_t n;                /* events seen; 0: the other fields mean nothing */
  int64_t least_us, most_us; /* the least and the greatest delay, difference of the clocks included */
  uint64_t since_us;         /* when the first event of the span came */
} slp_delay_span;

typedef struct slp_delay {    /* one per consumer */
  slp_delay_span now, before; /* the span that is being filled, and the one before it */
} slp_delay;

/* Learns from an event that came at our time came_us. first_ms and last_ms are the service's stamps of its
 * first and last record. */
void slp_delay_learn(slp_delay *d, int64_t first_ms, int64_t last_ms, uint64_t came_us);
/* Returns our time from which on every record stamped earlier than at_ms should be here; UINT64_MAX: not
 * known. */
uint64_t slp_delay_over_us(const slp_delay *d, int64_t at_ms);
/* Returns the stamp before which, at our time now_us, every record should be here; INT64_MIN: not known. */
int64_t slp_delay_came_until_ms(const slp_delay *d, uint64_t now_us);

#endif
