/* silence.c - decides when a worker may be taken for dead (silence.h). */
#include "lease/silence.h"

#include "base/base.h"

/* Returns 1 if the silence began before this reader's last failure to reach the table. trouble_us: when that
 * was; 0: there was none. */
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

/* If the row exists, three reads must have shown the same sign of life. The reason: an outage of the table
 * may keep every worker from writing its row, while no read of this worker fails. If two reads were enough,
 * one before and one after the outage, a whole fleet could be evicted, and each worker would lose its leases.
 * If the row is missing, one read is enough, because no outage removes a row. The heartbeats of its worker
 * are refused, so only its lease deadline must be waited for. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us) {
  return slp_silence_dead_us(s, s->last.missing ? 1 : 3, span_us, trouble_us);
}

uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us,
                             uint64_t trouble_us) {
  int heard = s->reads >= reads_min && !is_in_trouble(s, trouble_us);
  return heard ? slp_max_u64(s->since_us + span_us, s->last.until_us) : UINT64_MAX;
}
