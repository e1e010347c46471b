/* meet.h - makes polls of several shards go out together. A call that wakes the loop for itself alone costs
 * twice what it costs among others. So a shard that may be asked within a span of time is asked when another
 * one is. Pure. */
#ifndef SLP_CORE_MEET_H
#define SLP_CORE_MEET_H

#include "base/base.h"

#define SLP_MEET_PLACES 64u
/* How many polls go out at one moment: as many as one run of the pump starts. More would hold up the loop,
 * and need more connections. */
#define SLP_MEET_MOST 8u

typedef struct slp_meet { /* zeroed: no poll is planned */
  struct {
    uint64_t at_us;          /* a moment at which polls go out */
    uint32_t n;              /* how many polls go out then */
  } places[SLP_MEET_PLACES]; /* by time; a later moment overwrites an earlier one */
} slp_meet;

/* Returns when to poll, within [from_us, until_us]: at the first planned moment that has room, or else at
 * from_us. */
uint64_t slp_meet_at(slp_meet *m, uint64_t from_us, uint64_t until_us);

#endif
