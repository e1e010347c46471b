/* ahead.c - learns how many bytes are worth fetching before they are needed. */
#include "core/ahead.h"

#include "base/base.h"

/* A span is at least this long. A faster or slower pace shows after at most two spans. */
#define SPAN_US 250000u
/* No round trip counts as longer than this, so that no product below overflows. */
#define TRIP_US_MAX 10000000u
/* A shard of which a page comes so often is fast enough: smallest pages are then 50 MB a second. */
#define OFTEN_US 10000u
#define BYTES_MAX (UINT64_C(1) << 38)
/* If the last page after which more records waited is older than this, the consumer is at its tip. */
#define FORGET_US (2 * (uint64_t)TRIP_US_MAX)

static const slp_ahead_span nothing = {.trip_us = UINT64_MAX};

void slp_ahead_init(slp_ahead *a) { *a = (slp_ahead){.now = nothing, .before = {nothing, nothing}}; }

/* Returns twice the bytes that came back during trip_us in that span. */
static uint64_t needs_at_pace(const slp_ahead_span *span, uint64_t trip_us) {
  return span->long_us ? 2 * trip_us * span->bytes / span->long_us : 0;
}

/* Returns the shortest round trip of all spans; UINT64_MAX: there was none. */
static uint64_t shortest_trip_us(const slp_ahead *a) {
  return slp_min_u64(a->now.trip_us, slp_min_u64(a->before[0].trip_us, a->before[1].trip_us));
}

static uint64_t compute_needs(const slp_ahead *a) {
  const slp_ahead_span *last = &a->before[0], *earlier = &a->before[1];
  uint64_t trip_us = shortest_trip_us(a);
  return slp_max_u64(needs_at_pace(last, trip_us), needs_at_pace(earlier, trip_us));
}

void slp_ahead_came_back(slp_ahead *a, uint64_t bytes) {
  a->now.bytes = slp_min_u64(a->now.bytes + bytes, BYTES_MAX);
}

void slp_ahead_trip(slp_ahead *a, uint64_t trip_us, uint64_t now_us) {
  if (!a->since_us) a->since_us = now_us;
  a->now.trip_us = slp_min_u64(a->now.trip_us, slp_min_u64(trip_us, TRIP_US_MAX));
  uint64_t long_us = now_us - slp_min_u64(now_us, a->since_us);
  if (long_us >= SPAN_US) {
    a->now.long_us = long_us;
    a->before[1] = a->before[0];
    a->before[0] = a->now;
    a->now = nothing;
    a->since_us = now_us;
  }
  a->needs = compute_needs(a);
}

void slp_ahead_forget_old(slp_ahead *a, uint64_t now_us) {
  if (a->since_us && now_us > a->since_us + FORGET_US) slp_ahead_init(a);
}

uint64_t slp_ahead_page(uint64_t needs, uint32_t shards) {
  if (needs <= SLP_AHEAD_PAGE_MIN) return SLP_AHEAD_PAGE_MIN;
  return slp_max_u64(SLP_AHEAD_PAGE_MIN, needs / slp_max_u64(shards, 1));
}

uint64_t slp_ahead_page_after(const slp_ahead *a, uint64_t bytes, uint64_t since_us) {
  uint64_t trip_us = shortest_trip_us(a);
  if (trip_us == UINT64_MAX) return 0;
  return 4 * trip_us * slp_min_u64(bytes, BYTES_MAX) / slp_max_u64(OFTEN_US, slp_max_u64(since_us, trip_us));
}

uint64_t slp_ahead_most(uint64_t needs, uint32_t shards) {
  uint64_t n = slp_max_u64(shards, 1), page = slp_ahead_page(needs, shards);
  uint64_t more = slp_max_u64(2 * page, n * page / 4);
  return n * page + slp_max_u64(more, needs);
}
