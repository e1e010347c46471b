/* delay.h - how long pushed records take from their arrival at the service until they are here, learned from
 * those that came. The service stamps them by its clock and we note ours, so a delay contains the difference
 * between the two, which nobody has to know: it is the same for all. */
#ifndef SLP_CORE_DELAY_H
#define SLP_CORE_DELAY_H

#include "base/base.h"

typedef struct slp_delay_span {
  uint32_t n; /* events; 0: the others mean nothing */
  int64_t least_us, most_us;
  uint64_t since_us;
} slp_delay_span;

typedef struct slp_delay { /* of a consumer */
  slp_delay_span now, before;
} slp_delay;

/* An event came at our time `came_us`; the first and the last of its records are stamped so. */
void slp_delay_learn(slp_delay *d, int64_t first_ms, int64_t last_ms, uint64_t came_us);
/* Our time from which on every record stamped earlier than at_ms should be here. UINT64_MAX: not known. */
uint64_t slp_delay_over_us(const slp_delay *d, int64_t at_ms);
/* Records stamped earlier than that should all be here at our time now_us. INT64_MIN: not known. */
int64_t slp_delay_came_until_ms(const slp_delay *d, uint64_t now_us);

#endif
