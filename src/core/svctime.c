/* svctime.c - learns the service's clock. The Date header of each answer limits the difference of the two
 * clocks to an interval of about one second, and the intervals are intersected. */
#include "core/svctime.h"

#include "base/base.h"

/* The clocks of two machines drift apart by less than this, even while one of them is adjusted slowly (at
 * most 500 ppm). Older intervals are widened by this drift, so that drift alone never makes an older interval
 * contradict a newer one. */
#define DRIFT_PPM 1000

static int64_t floor_ms(int64_t us) { return us >= 0 ? us / 1000 : -((-us + 999) / 1000); }

void slp_svctime_learn(slp_svctime *t, int64_t date_ms, uint64_t sent_us, uint64_t done_us) {
  if (date_ms < 0 || date_ms > INT64_MAX / 2000 || done_us < sent_us) return;
  /* The service wrote the Date header between sent_us and done_us of our clock. Its own clock then showed a
   * time from date_ms to less than date_ms + 1 s. */
  int64_t low = date_ms * 1000 - (int64_t)done_us, sure = low;
  int64_t high = (date_ms + 1000) * 1000 - (int64_t)sent_us;
  if (t->known) {
    uint64_t since_us = done_us > t->seen_us ? done_us - t->seen_us : 0;
    int64_t was_sure = t->sure_us - (int64_t)since_us / 2;
    if (was_sure <= high) sure = slp_max_i64(sure, was_sure);
    int64_t drift = (int64_t)(since_us * DRIFT_PPM / 1000000) + 1;
    int64_t was_low = t->low_us - drift, was_high = t->high_us + drift;
    int64_t both_low = slp_max_i64(low, was_low), both_high = slp_min_i64(high, was_high);
    /* If the intervals do not overlap, one of the clocks was set, or another server of the service answered.
     * Then only the newest interval counts. */
    if (both_low <= both_high) {
      low = both_low;
      high = both_high;
    }
  }
  *t = (slp_svctime){1, low, high, sure, done_us};
}

int64_t slp_svctime_low_ms(const slp_svctime *t, uint64_t at_us) {
  return t->known ? floor_ms(t->low_us + (int64_t)at_us) : INT64_MIN;
}

int64_t slp_svctime_sure_ms(const slp_svctime *t, uint64_t now_us) {
  uint64_t since_us = now_us > t->seen_us ? now_us - t->seen_us : 0;
  return t->known ? floor_ms(t->sure_us + (int64_t)now_us - (int64_t)(since_us + 1) / 2) : INT64_MIN;
}

int64_t slp_svctime_high_ms(const slp_svctime *t, uint64_t at_us) {
  return t->known ? floor_ms(t->high_us + (int64_t)at_us) + 1 : INT64_MAX;
}

int64_t slp_svctime_moment_ms(const slp_svctime *t, const slp_moment *m) {
  return slp_min_i64(m->ms, slp_svctime_low_ms(t, m->us));
}

void slp_svctime_raise(const slp_svctime *t, slp_moment *m, slp_moment to) {
  if (slp_svctime_moment_ms(t, m) < slp_svctime_moment_ms(t, &to)) *m = to;
}
