/* svctime.h - learns the service's clock from the Date headers of its answers. An answer proves: at some
 * moment between sending the call and receiving the answer, the service's clock showed the second in its Date
 * header. So each answer gives an interval for the difference of the two clocks. The intervals are
 * intersected, so after a few dozen answers the service's time is known to milliseconds. */
#ifndef SLP_CORE_SVCTIME_H
#define SLP_CORE_SVCTIME_H

#include <stdint.h>

typedef struct slp_svctime {
  int known;               /* 1: at least one answer had a Date */
  int64_t low_us, high_us; /* bounds of the service's time minus our monotonic time */
  /* A lower bound of the service's time minus our monotonic time at seen_us. The bound holds even if our
   * clock runs twice as fast as it should. */
  int64_t sure_us;
  uint64_t seen_us; /* when the last answer with a Date came, on our monotonic clock */
} slp_svctime;

/* Learns from an answer. date_ms: its Date header, in whole seconds. sent_us, done_us: when the call was sent
 * and answered, on our monotonic clock. */
void slp_svctime_learn(slp_svctime *t, int64_t date_ms, uint64_t sent_us, uint64_t done_us);
static inline int slp_svctime_known(const slp_svctime *t) { return t->known; }
/* The next two functions return the service's Unix time in ms when our clock shows at_us. The low time is
 * never later than the true time, the high time never earlier. Before the first answer they return INT64_MIN
 * and INT64_MAX. */
int64_t slp_svctime_low_ms(const slp_svctime *t, uint64_t at_us);
int64_t slp_svctime_high_ms(const slp_svctime *t, uint64_t at_us);
/* Returns a lower bound of the service's time now, in ms. The bound holds even if our clock runs twice as
 * fast as it should. (A clock that chrony adjusts may run a tenth too fast. slp_svctime_low_ms uses older
 * answers, so it may then be later than the true time, by up to a second.) */
int64_t slp_svctime_sure_ms(const slp_svctime *t, uint64_t now_us);

/* A moment: a time on our clock, and what the service's time was then, as far as it was known. */
typedef struct slp_moment {
  int64_t ms;  /* the service's time; INT64_MIN: not known */
  uint64_t us; /* our monotonic time */
} slp_moment;

/* Returns m->ms, the service's time at the moment. Returns an earlier time if later answers prove that the
 * service's clock had not come so far at m->us, because the Date of an older answer was wrong. */
int64_t slp_svctime_moment_ms(const slp_svctime *t, const slp_moment *m);
/* Sets *m to `to` if `to` is the later moment, as far as is known now. */
void slp_svctime_raise(const slp_svctime *t, slp_moment *m, slp_moment to);

#endif
