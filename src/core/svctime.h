/* svctime.h - what the service's clock says, from the Date headers of its answers. Each answer
 * proves that service time was within one second somewhere between our sending and our receiving;
 * the proofs are intersected, so after a few dozen answers the clock is known to milliseconds. */
#ifndef SLP_CORE_SVCTIME_H
#define SLP_CORE_SVCTIME_H

#include "base/base.h"

typedef struct slp_svctime {
  int known;
  int64_t low_us, high_us; /* service time minus our monotonic time lies between them */
  int64_t sure_us;         /* it was not less than that at seen_us, though our clock runs twice too fast */
  uint64_t seen_us;        /* when they were last narrowed */
} slp_svctime;

/* date_ms: whole seconds; sent/done: our monotonic clock around the call. */
void slp_svctime_learn(slp_svctime *t, int64_t date_ms, uint64_t sent_us, uint64_t done_us);
static inline int slp_svctime_known(const slp_svctime *t) { return t->known; }
/* Service time at our time `at_us` in Unix ms: never ahead of the truth / never behind it. Without
 * any answer yet: INT64_MIN / INT64_MAX. */
int64_t slp_svctime_low_ms(const slp_svctime *t, uint64_t at_us);
int64_t slp_svctime_high_ms(const slp_svctime *t, uint64_t at_us);
/* Service time now, and never ahead of the truth though our clock runs up to twice too fast: one that is
 * slewed gains a tenth (chrony), and what older answers taught is then ahead by up to a second. */
int64_t slp_svctime_sure_ms(const slp_svctime *t, uint64_t now_us);

/* Service time had come so far at our time `us`, as was known then. */
typedef struct slp_moment {
  int64_t ms; /* INT64_MIN: not known */
  uint64_t us;
} slp_moment;

/* ms, or less where later answers show that it had not come so far: a Date may be wrong. */
int64_t slp_svctime_moment_ms(const slp_svctime *t, const slp_moment *m);
/* It becomes `to`, where that is later. */
void slp_svctime_raise(const slp_svctime *t, slp_moment *m, slp_moment to);

#endif
