/* silence.c - when a worker may be taken for dead. */
#include "lease/silence.h"

#include "lease/expiry.h"

slp_sign slp_sign_of_lease(slp_liveness_kind kind, const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                           uint32_t lease_ms) {
  slp_sign sign = {.counter = row->epoch};
  if (kind == SLP_BY_EXPIRY) sign.until_us = slp_expiry_past_us(row->epoch, wall_ms, now_us, lease_ms);
  return sign;
}

/* It began before the trouble was over. 0: there never was any. */
static int is_in_trouble(const slp_silence *s, uint64_t trouble_us) {
  return trouble_us && s->since_us <= trouble_us;
}

int slp_silence_saw(slp_silence *s, const slp_sign *sign, uint64_t done_us, uint64_t trouble_us) {
  int changed = !s->reads || sign->missing != s->last.missing || sign->counter != s->last.counter;
  if (changed || is_in_trouble(s, trouble_us)) {
    s->since_us = done_us;
    s->reads = 0;
  }
  s->last = *sign;
  s->reads++;
  return changed;
}

/* How many reads must have shown the sign.
 *
 * A worker's row that is there: three. An outage of the table that no read met keeps every worker from
 * beating; one read before it and one behind it would evict a whole fleet, and each eviction costs a worker
 * all it has.
 *
 * A row that is missing: one. No outage removes a row, and none brings it back; what is waited for is only
 * that its worker, whose heartbeats are refused now, comes to its lease deadline.
 *
 * A lease's counter, or its time: one. The take asks for that counter again, so a counter that had moved
 * meanwhile refuses it, and it costs its owner this one lease. KCL's own takers judge so. */
static uint32_t reads_min(const slp_silence *s, slp_liveness_kind kind) {
  switch (kind) {
    case SLP_BY_WORKER: return s->last.missing ? 1 : 3;
    case SLP_BY_COUNTER:
    case SLP_BY_EXPIRY: return 1;
  }
  return UINT32_MAX;
}

uint64_t slp_silence_dead_us(const slp_silence *s, slp_liveness_kind kind, uint64_t span_us,
                             uint64_t trouble_us) {
  int heard = s->reads >= reads_min(s, kind) && !is_in_trouble(s, trouble_us);
  return heard ? slp_max_u64(s->since_us + span_us, s->last.until_us) : UINT64_MAX;
}
