/* meet.h - pure: which polls go out together. A call for which alone the loop wakes up costs twice what
 * it costs among others, so a shard that may be asked within a span of time is asked when another one is. */
#ifndef SLP_CORE_MEET_H
#define SLP_CORE_MEET_H

#include "base/base.h"

#define SLP_MEET_PLACES 64u
/* As many as one event of the pump starts: more would hold the loop, and ask for more connections. */
#define SLP_MEET_MOST 8u

typedef struct slp_meet { /* zeroed: nobody goes */
  struct {
    uint64_t at_us;
    uint32_t n;
  } places[SLP_MEET_PLACES]; /* by time; a later moment takes the place of an earlier one */
} slp_meet;

/* When to go, within [from_us, until_us]: with others, with the first who go then; or else at from_us. */
uint64_t slp_meet_at(slp_meet *m, uint64_t from_us, uint64_t until_us);

#endif
