/* poll_coalescing.c - makes polls of several shards go out at the same moment. (poll: a call that asks a
 * shard for records) */
#include "core/poll_coalescing.h"

/* Time is divided into pieces of this length; each piece has one entry of slp_meet.places. */
#define PLACE_US 8192u

uint64_t slp_meet_at(slp_meet *m, uint64_t from_us, uint64_t until_us) {
  uint64_t first = from_us / PLACE_US, last = until_us / PLACE_US;
  if (last - first >= SLP_MEET_PLACES) last = first + SLP_MEET_PLACES - 1;
  for (uint64_t place = first; place <= last; place++) {
    uint64_t at_us = m->places[place % SLP_MEET_PLACES].at_us;
    uint32_t *n = &m->places[place % SLP_MEET_PLACES].n;
    if (at_us < from_us || at_us > until_us || *n >= SLP_MEET_MOST) continue;
    ++*n;
    return at_us;
  }
  m->places[first % SLP_MEET_PLACES].at_us = from_us;
  m->places[first % SLP_MEET_PLACES].n = 1;
  return from_us;
}
