/* silence.c - decides when a worker may be taken for dead (silence.h). */
#include "lease/silence.h"

/* Returns 1 if the silence began before the reader's last trouble with the table was over. trouble_us 0:
 * there was no trouble. */
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

/* If the row exists, three reads must show the same sign. The reason is an outage of the table that keeps
 * every worker from writing its row, while no read of this worker fails. With two reads, one before and one
 * after the outage, a whole fleet could be evicted, and each worker would lose all its leases.
 *
 * If the row is missing, one read is enough. No outage removes a row, and none brings a row back. The
 * worker's heartbeats are refused now, so the only thing to wait for is its lease deadline. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us) {
  return slp_silence_dead_us(s, s->last.missing ? 1 : 3, span_us, trouble_us);
}

uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us,
                             uint64_t trouble_us) {
  int heard = s->reads >= reads_min && !is_in_trouble(s, trouble_us);
  return heard ? slp_max_u64(s->since_us + span_us, s->last.until_us) : UINT64_MAX;
}
