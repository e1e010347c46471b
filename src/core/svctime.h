/* svctime.h - learns the service's clock from the Date headers of its answers. Each answer proves that the
 * service's clock stood within one second at some moment between our sending and our receiving. The proofs
 * are intersected, so a few dozen answers tell the clock to milliseconds. */
#ifndef SLP_CORE_SVCTIME_H
#define SLP_CORE_SVCTIME_H

#include "base/base.h"

typedef struct slp_svctime {
  int known;               /* 1: an answer has told the clock */
  int64_t low_us, high_us; /* the service's time minus our monotonic time lies between these */
  /* at seen_us the difference was at least this, even if our clock ran twice too fast */
  int64_t sure_us;
  uint64_t seen_us; /* when the bounds were last narrowed */
} slp_svctime;

/* Learns from an answer. date_ms: its Date, whole seconds. sent_us, done_us: our monotonic clock around the
 * call. */
void slp_svctime_learn(slp_svctime *t, int64_t date_ms, uint64_t sent_us, uint64_t done_us);
static inline int slp_svctime_known(const slp_svctime *t) { return t->known; }
/* Returns the service's Unix time in ms at our time at_us. low never runs ahead of the truth, high never
 * behind it. Before the first answer: INT64_MIN, INT64_MAX. */
int64_t slp_svctime_low_ms(const slp_svctime *t, uint64_t at_us);
int64_t slp_svctime_high_ms(const slp_svctime *t, uint64_t at_us);
/* Returns the service's time now, never ahead of the truth even if our clock runs twice too fast. A clock
 * that is slewed gains up to a tenth (chrony), and the bounds from older answers are then ahead by up to a
 * second. */
int64_t slp_svctime_sure_ms(const slp_svctime *t, uint64_t now_us);

/* The service's time at our time `us`, as it was known then. */
typedef struct slp_moment {
  int64_t ms; /* INT64_MIN: not known */
  uint64_t us;
} slp_moment;

/* Returns m->ms, or less if later answers show that the service's clock had not come so far: a Date may be
 * wrong. */
int64_t slp_svctime_moment_ms(const slp_svctime *t, const slp_moment *m);
/* Sets *m to `to` if that is later. */
void slp_svctime_raise(const slp_svctime *t, slp_moment *m, slp_moment to);

#endif
