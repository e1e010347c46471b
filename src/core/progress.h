/* progress.h - computes what is reported about a shard's progress. Statistics, metrics, lease rows and
 * screens all use these functions, so that they can't contradict each other. No result is stored; each call
 * computes its result again. */
#ifndef SLP_CORE_PROGRESS_H
#define SLP_CORE_PROGRESS_H

#include "core/core.h"

#include <sloop.h>
#include <stdint.h>

typedef struct slp_progress { /* the progress of one shard, now */
  /* how far the shard is behind its tip, in ms; -1: not known, or the shard was read to its end */
  int64_t behind_ms;
  /* for how long the lag has been unknown, in ms; -1: the lag is known, or the shard was read to its end */
  int64_t unknown_ms;
  /* 1: the last answer found the shard at its tip, the next answer is not overdue, and every record is
   * acknowledged */
  int at_tip;
  sloop_shard_state_t state;
  int64_t state_ms; /* for how long the shard has been in `state`; -1: not reported */
  /* with SLOOP_SHARD_WAITS_FOR_ANOTHER: the shard that this one waits for; NULL: not known which one */
  const slp_shard *other;
  const char *error; /* with SLOOP_SHARD_FAILS and SLOOP_SHARD_IS_GIVEN_UP: what failed; else "" */
  /* with SLOOP_SHARD_FAILS and SLOOP_SHARD_IS_GIVEN_UP: how many calls in a row failed; else 0 */
  uint32_t fails;
  int64_t acked_age_ms; /* time since a record of the shard was last acknowledged; -1: none was */
} slp_progress;

void slp_progress_of(const slp_shard *s, slp_progress *ret);
int64_t slp_progress_behind_ms(const slp_shard *s);
/* Returns 1 if the progress of the shard is to be reported: it is being read, or its end is still to be
 * reported, or it was given up. */
int slp_progress_is_told(const slp_shard *s);

typedef struct slp_progress_sum { /* sums over all shards for which slp_progress_is_told returns 1 */
  /* the largest lag in ms; -1: the lag of at least one shard is unknown, or there is no shard */
  int64_t behind_ms;
  /* the longest time for which the lag of a shard has been unknown; -1: all lags are known */
  int64_t unknown_ms;
  uint64_t tip_n;       /* shards at their tip */
  int64_t acked_age_ms; /* the shortest slp_progress.acked_age_ms; -1: no record was acknowledged */
} slp_progress_sum;

void slp_progress_of_all(slp_consumer *c, slp_progress_sum *ret);

/* With leases: returns 1 if the service has refused a shard's position to this worker. Returns 0 once the
 * worker reads that shard again, or once another worker reports the refusal from the rows of the lease table
 * (slp_leases_ops.shut). */
int slp_progress_refused(slp_consumer *c, const char **ret_shard, uint64_t *ret_ago_ms);

/* Returns since when fetched records of the shard have waited for the user while none was acknowledged; 0: no
 * record waits. */
uint64_t slp_progress_held_us(const slp_shard *s);

#endif
