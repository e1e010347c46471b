/* silence.c - when a worker may be taken for dead. */
#include "lease/silence.h"

/* It began before the trouble was over. 0: there never was any. */
static int is_in_trouble(const slp_silence *s, uint64_t trouble_us) {
  return trouble_us && s->since_us <= trouble_us;
}

int slp_silence_saw(slp_silence *s, const slp_sign *sign, uint64_t done_us, uint64_t trouble_us) {
  int changed = !s->reads || sign->missing != s->last.missing || sign->counter != s->last.counter;
  if (changed && s->reads) s->moved_us = done_us;
  if (changed || is_in_trouble(s, trouble_us)) {
    s->since_us = done_us;
    s->reads = 0;
  }
  s->last = *sign;
  s->reads++;
  return changed;
}

/* A worker's row that is there: three. An outage of the table that no read met keeps every worker from
 * beating; one read before it and one behind it would evict a whole fleet, and each eviction costs a worker
 * all it has.
 *
 * A row that is missing: one. No outage removes a row, and none brings it back; what is waited for is only
 * that its worker, whose heartbeats are refused now, comes to its lease deadline. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us) {
  return slp_silence_dead_us(s, s->last.missing ? 1 : 3, span_us, trouble_us);
}

uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us,
                             uint64_t trouble_us) {
  int heard = s->reads >= reads_min && !is_in_trouble(s, trouble_us);
  return heard ? slp_max_u64(s->since_us + span_us, s->last.until_us) : UINT64_MAX;
}
