/* delay.c - keeps the least and the greatest delay of pushed records, and computes when a record must have
 * come at the latest. Delays are collected in periods of time, called spans; the newest two spans count. */
#include "core/delay.h"

#include "base/base.h"

/* A span (a period in which delays are collected) ends when it is older than SPAN_US and also has SPAN_EVENTS
 * events. So an estimate from few events is kept for longer. */
#define SPAN_US 10000000u
#define SPAN_EVENTS 64u
/* With fewer events than EVENTS_MIN, slp_delay_over_us and slp_delay_came_until_ms return "not known". */
#define EVENTS_MIN 8u
/* If delays differ by more than GUARD_US_MAX, slp_delay_over_us and slp_delay_came_until_ms return "not
 * known": a clock jumped, or the server stamps records in whole seconds. */
#define GUARD_US_MAX 10000000
/* A later arrival time, in ms, would overflow when converted to microseconds. */
#define STAMP_MS_MAX (INT64_MAX / 4000)

/* Returns the spans d->now and d->before joined into one. */
static slp_delay_span join_delay_spans(const slp_delay *d) {
  slp_delay_span all = d->now;
  if (!d->before.n) return all;
  if (!all.n) return d->before;
  all.n += d->before.n;
  all.least_us = slp_min_i64(all.least_us, d->before.least_us);
  all.most_us = slp_max_i64(all.most_us, d->before.most_us);
  return all;
}

static void add_delay_to_span(slp_delay_span *span, int64_t delay_us) {
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
  add_delay_to_span(&d->now, (int64_t)came_us - last_ms * 1000);
  d->now.most_us = slp_max_i64(d->now.most_us, (int64_t)came_us - first_ms * 1000);
}

/* Computes the greatest delay to expect, including the difference between the two clocks. It is the greatest
 * delay seen, plus three margins:
 *   1. a quarter of the difference between the greatest and the least delay;
 *   2. 16 times that difference, divided by the number of events, because few events say little;
 *   3. 2 ms for the resolution of the service's time stamps and of our timers.
 * Sets *ret to that delay. Returns 0 if too little is known. */
static int greatest_us(const slp_delay *d, int64_t *ret) {
  slp_delay_span all = join_delay_spans(d);
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
  /* Rounded down to ms: a record stamped with the last, incomplete millisecond may still come. */
  return ((int64_t)now_us - greatest) / 1000;
}
