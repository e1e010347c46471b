/* delay.c - keeps the least and the greatest delay of the last two spans, and concludes by when a record must
 * have come. */
#include "core/delay.h"

/* A span ends after SPAN_US and SPAN_EVENTS, whichever is later, so that a quiet stream keeps its estimate
 * longer. */
#define SPAN_US 10000000u
#define SPAN_EVENTS 64u
/* Nothing is concluded from fewer events. */
#define EVENTS_MIN 8u
/* Nothing is concluded if delays differ by more: the clocks jumped, or the server stamps whole seconds. */
#define GUARD_US_MAX 10000000
/* A later stamp would overflow in microseconds. */
#define STAMP_MS_MAX (INT64_MAX / 4000)

static slp_delay_span both(const slp_delay *d) {
  slp_delay_span all = d->now;
  if (!d->before.n) return all;
  if (!all.n) return d->before;
  all.n += d->before.n;
  all.least_us = slp_min_i64(all.least_us, d->before.least_us);
  all.most_us = slp_max_i64(all.most_us, d->before.most_us);
  return all;
}

static void take(slp_delay_span *span, int64_t delay_us) {
  span->least_us = span->n ? slp_min_i64(span->least_us, delay_us) : delay_us;
  span->most_us = span->n ? slp_max_i64(span->most_us, delay_us) : delay_us;
  span->n++;
}

void slp_delay_learn(slp_delay *d, int64_t first_ms, int64_t last_ms, uint64_t came_us) {
  if (first_ms < 0 || last_ms < first_ms || last_ms > STAMP_MS_MAX) return;
  if (d->now.n >= SPAN_EVENTS && came_us - d->now.since_us >= SPAN_US) {
    d->before = d->now;
    d->now.n = 0;
  }
  if (!d->now.n) d->now.since_us = came_us;
  take(&d->now, (int64_t)came_us - last_ms * 1000);
  d->now.most_us = slp_max_i64(d->now.most_us, (int64_t)came_us - first_ms * 1000);
}

/* Computes the greatest delay to expect, the difference of the clocks in it. That is the greatest delay seen,
 * and a margin: a quarter of the spread of delays, more of it while few events were seen, and 2 ms for the
 * grain of stamps and timers. Returns 0 if too little is known. */
static int greatest_us(const slp_delay *d, int64_t *ret) {
  slp_delay_span all = both(d);
  if (all.n < EVENTS_MIN) return 0;
  int64_t spread = all.most_us - all.least_us;
  if (spread > GUARD_US_MAX) return 0;
  *ret = all.most_us + spread / 4 + spread * 16 / (int64_t)all.n + 2000;
  return 1;
}

uint64_t slp_delay_over_us(const slp_delay *d, int64_t at_ms) {
  int64_t greatest;
  if (at_ms < 0 || at_ms > STAMP_MS_MAX || !greatest_us(d, &greatest)) return UINT64_MAX;
  return (uint64_t)slp_max_i64(at_ms * 1000 + greatest, 0);
}

int64_t slp_delay_came_until_ms(const slp_delay *d, uint64_t now_us) {
  int64_t greatest;
  if (!greatest_us(d, &greatest)) return INT64_MIN;
  return ((int64_t)now_us - greatest) / 1000; /* a record stamped with this very millisecond may still come */
}
