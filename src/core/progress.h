/* progress.h - computes what is told of a shard's progress. Statistics, metrics, rows of leases and screens
 * all ask here, so that they can't contradict each other. Nothing is stored: everything is computed when it
 * is asked for. */
#ifndef SLP_CORE_PROGRESS_H
#define SLP_CORE_PROGRESS_H

#include <sloop.h>
#include <stdint.h>

typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;

typedef struct slp_progress { /* of one shard, now */
  int64_t behind_ms;          /* lag behind its tip; -1: not known, or read to its end */
  int64_t unknown_ms;         /* for how long the lag has not been known; -1: it is known, or there is none */
  int at_tip;                 /* 1: read to its tip and acknowledged, by an answer no older than a poll */
  sloop_shard_state_t state;
  int64_t state_ms;       /* how long it has been in `state`; -1: not told */
  const slp_shard *other; /* the shard that it waits for; NULL: none, or not known */
  const char *error;      /* in the states FAILS and GIVEN_UP; else "" */
  uint32_t fails;         /* calls in a row that failed */
  int64_t acked_age_ms;   /* time since records were last acknowledged; -1: none was */
} slp_progress;

void slp_progress_of(const slp_shard *s, slp_progress *ret);
int64_t slp_progress_behind_ms(const slp_shard *s);
/* Returns 1 if records of the shard may still come, or its end is still to be told. */
int slp_progress_is_told(const slp_shard *s);

typedef struct slp_progress_sum { /* of all shards with slp_progress_is_told */
  int64_t behind_ms;    /* the largest lag; -1: the lag of some shard is not known, or there is no shard */
  int64_t unknown_ms;   /* the longest; -1: all lags are known */
  uint64_t tip_n;       /* shards at their tip */
  int64_t acked_age_ms; /* the shortest; -1: nothing was acknowledged */
} slp_progress_sum;

void slp_progress_of_all(slp_consumer *c, slp_progress_sum *ret);

/* With leases: returns 1 if the service has refused a shard's position to this worker. It does so until the
 * worker reads that shard again, or the rows of the leases tell of the refusal (leases.h, shut). */
int slp_progress_refused(slp_consumer *c, const char **ret_shard, uint64_t *ret_ago_ms);

/* Returns since when records of the shard have waited for the user without one being acknowledged; 0: none
 * waits. */
uint64_t slp_progress_held_us(const slp_shard *s);

#endif
