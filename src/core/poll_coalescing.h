/* poll_coalescing.h - makes polls of several shards go out at the same moment. A poll that alone wakes the
 * loop costs twice as much as one of several polls. So if a shard may be asked at any time between two
 * moments, it is asked at the same time as another shard. Pure. */
#ifndef SLP_CORE_POLL_COALESCING_H
#define SLP_CORE_POLL_COALESCING_H

#include <stdint.h>

#define SLP_MEET_PLACES 64u
/* The most polls that go out at one moment: as many calls as one run of the pump starts (STARTS_PER_EVENT).
 * More polls would hold up the loop, and need more connections. */
#define SLP_MEET_MOST 8u

typedef struct slp_meet { /* all zero: no poll is planned */
  struct {
    uint64_t at_us; /* a moment at which polls go out */
    uint32_t n;     /* how many polls go out at that moment */
    /* The entry for a time is found by dividing the time by PLACE_US. A later time with the same entry
     * replaces the earlier one. */
  } places[SLP_MEET_PLACES];
} slp_meet;

/* Plans a poll and returns its time, from from_us to until_us: the first planned moment that has room for
 * another poll or, if there is none, from_us. */
uint64_t slp_meet_at(slp_meet *m, uint64_t from_us, uint64_t until_us);

#endif
