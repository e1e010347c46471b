/* pace.c - decides when to ask a shard again: at poll_ms when it is at its tip, at once after a full page,
 * and after random waits when calls fail. */
#include "core/pace.h"

#include "base/base.h"
#include "base/mutant.h"

/* Bytes that a record takes in addition to its payload: sequence number, key, field names, its entry in the
 * page's table. */
#define RECORD_OVERHEAD_BYTES 300
#define SLACK_US_MAX 5000
#define SECOND_US 1000000
#define IDLE_RESERVE_BYTES (64u * 1024)

void slp_pace_init(slp_pace *p) {
  *p = (slp_pace){.limit = SLP_PACE_FIRST_LIMIT, .rec_bytes = 1024 + RECORD_OVERHEAD_BYTES};
}

void slp_pace_page(slp_pace *p, uint32_t records, uint32_t largest_bytes, int full, int nearer,
                   uint32_t limit_max) {
  /* base64 makes the payload a third larger in the answer */
  uint32_t seen = largest_bytes + largest_bytes / 3 + RECORD_OVERHEAD_BYTES;
  p->fails = 0;
  p->gap_us -= p->gap_us / 2048;
  p->seen = 1;
  p->idle = records == 0;
  if (records == 0) {
    p->empties = nearer ? 0 : p->empties + 1;
    return;
  }
  p->empties = 0;
  uint32_t faded = p->rec_bytes / 4 * 3;
  p->rec_bytes = seen > faded ? seen : faded;
  /* While pages come full, the limit doubles. Otherwise it shrinks towards twice the number of records in a
   * page. So the reservation follows the traffic. */
  uint64_t next = full ? (uint64_t)p->limit * 2 : slp_max_u64((uint64_t)records * 2, p->limit / 2);
  next = slp_max_u64(next, SLP_PACE_LEAST_LIMIT);
  p->limit = (uint32_t)slp_min_u64(next, limit_max);
}

uint64_t slp_pace_reserve(const slp_pace *p, uint64_t share_max, uint64_t page_max, uint32_t *ret_limit) {
  uint64_t fits = slp_max_u64(share_max / p->rec_bytes, 1);
  *ret_limit = (uint32_t)slp_min_u64(p->limit, fits);
  if (p->idle) return slp_min_u64(IDLE_RESERVE_BYTES, share_max);
  uint64_t bytes = (uint64_t)*ret_limit * p->rec_bytes;
  return slp_min_u64(slp_min_u64(bytes, page_max), share_max);
}

void slp_pace_shrink(slp_pace *p) {
  p->limit = 1;
  p->idle = 0;
}

void slp_pace_sent(slp_pace *p, uint64_t now_us, int floor) {
  if (!floor && p->seen && now_us - p->sent_us < SLP_PACE_FLOOR_US) p->hasty_us = now_us;
  p->sent_us = now_us;
  p->calls_n += p->calls_n < UINT8_MAX;
}

int slp_pace_confirms_tip(slp_pace *p, uint32_t records, int full, int64_t behind_ms) {
  if (p->tip_seen || full || behind_ms != 0) return 0;
  p->tip_seen = 1;
  /* without a hasty call in the last second, calls are SLP_PACE_FLOOR_US apart */
  int hasty = slp_pace_haste_over_us(p) > p->sent_us + SLP_PACE_FLOOR_US;
  return records > 0 && (p->calls_n < SLP_PACE_CALLS_A_SECOND || !hasty);
}

uint64_t slp_pace_haste_over_us(const slp_pace *p) { return p->hasty_us ? p->hasty_us + SECOND_US : 0; }

void slp_pace_throttled(slp_pace *p) {
  uint64_t gap = slp_max_u64(p->gap_us, SLP_PACE_FLOOR_US);
  p->gap_us = (uint32_t)slp_min_u64(gap + gap / 8, SLP_PACE_GAP_US_MAX);
}

uint64_t slp_pace_gap_wait_us(const slp_pace *p, uint32_t random) {
  return p->gap_us + (uint64_t)p->gap_us / 4 * random / 1000;
}

static uint64_t usual_wait_us(const slp_pace *p, int full, int behind, uint64_t poll_us, uint32_t random) {
  if (full) return SLP_PACE_FLOOR_US;
  if (behind && p->empties < SLP_PACE_EMPTIES_AT_TIP) return slp_min_u64(SLP_PACE_FLOOR_US, poll_us);
  /* waits up to a tenth less, so that shards that started together are not all asked together */
  uint64_t early = poll_us - poll_us / 10 * random / 1000;
  return poll_us < SLP_PACE_FLOOR_US ? early : slp_max_u64(early, SLP_PACE_FLOOR_US);
}

uint64_t slp_pace_wait_us(const slp_pace *p, int full, int behind, uint32_t poll_ms, int floor,
                          uint32_t random) {
  if (!p->seen || (full && !floor)) return 0;
  if (!full && !(behind && p->empties < SLP_PACE_EMPTIES_AT_TIP) && SLP_MUTANT(no_wait_at_tip)) return 0;
  return slp_max_u64(usual_wait_us(p, full, behind, (uint64_t)poll_ms * 1000, random), p->gap_us);
}

uint64_t slp_pace_slack_us(uint64_t wait_us, int full, int behind, uint32_t poll_ms) {
  uint64_t poll_us = (uint64_t)poll_ms * 1000;
  if (!wait_us || full || behind) return 0;
  return wait_us < poll_us ? poll_us - wait_us : slp_min_u64(poll_us / 40, SLACK_US_MAX);
}

uint64_t slp_pace_backoff_us(uint32_t attempt, int throttled, uint32_t random) {
  uint64_t base = throttled ? 1000000 : 200000, cap = 20000000;
  uint64_t most = attempt > 8 ? cap : slp_min_u64(base << (attempt ? attempt - 1 : 0), cap);
  return most / 5 + most / 5 * 4 * random / 1000;
}

/* ---- polls that go out together ----------------------------------------------------------------------- */

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
