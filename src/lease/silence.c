/* silence.c - when a worker may be taken for dead. */
#include "lease/silence.h"

#include "lease/expiry.h"

static uint64_t mix_text(uint64_t h, slp_str s) {
  for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
  return (h ^ s.n) * UINT64_C(0x100000001b3);
}

/* A number that may begin anew proves nothing without its owner's name; and a program may save and move
 * nothing else. */
static uint64_t mix(const slp_lease_row *row) {
  uint64_t h = mix_text(UINT64_C(0xcbf29ce484222325), row->owner);
  h = (h ^ row->epoch) * UINT64_C(0x100000001b3);
  return mix_text(h ^ (uint64_t)row->position.kind, slp_mark_seq(&row->position.mark));
}

slp_sign slp_sign_of_lease(slp_liveness_kind kind, const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                           uint32_t lease_ms) {
  slp_sign sign = {.counter = row->epoch};
  if (kind == SLP_BY_TICK) sign.counter = mix(row);
  if (kind == SLP_BY_EXPIRY) sign.until_us = slp_expiry_past_us(row->epoch, wall_ms, now_us, lease_ms);
  return sign;
}

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

/* How many reads must have shown the sign.
 *
 * A worker's row that is there: three. An outage of the table that no read met keeps every worker from
 * beating; one read before it and one behind it would evict a whole fleet, and each eviction costs a worker
 * all it has.
 *
 * A row that is missing: one. No outage removes a row, and none brings it back; what is waited for is only
 * that its worker, whose heartbeats are refused now, comes to its lease deadline.
 *
 * A lease's counter, its tick, or its time: one. The take asks for that counter again, so a counter that had
 * moved meanwhile refuses it, and it costs its owner this one lease. KCL's own takers judge so. */
static uint32_t reads_min(const slp_silence *s, slp_liveness_kind kind) {
  switch (kind) {
    case SLP_BY_WORKER: return s->last.missing ? 1 : 3;
    case SLP_BY_COUNTER:
    case SLP_BY_EXPIRY:
    case SLP_BY_TICK: return 1;
  }
  return UINT32_MAX;
}

/* A program of motorway's waits its span out twice before it takes a lease, and does not tick for as long
 * when it was throttled. */
uint64_t slp_silence_span_us(slp_liveness_kind kind, uint64_t lease_us) {
  return kind == SLP_BY_TICK ? 2 * lease_us : lease_us;
}

uint64_t slp_silence_dead_us(const slp_silence *s, slp_liveness_kind kind, uint64_t lease_us,
                             uint64_t trouble_us) {
  uint64_t span_us = slp_silence_span_us(kind, lease_us);
  int heard = s->reads >= reads_min(s, kind) && !is_in_trouble(s, trouble_us);
  return heard ? slp_max_u64(s->since_us + span_us, s->last.until_us) : UINT64_MAX;
}
