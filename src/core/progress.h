/* progress.h - what is told of a shard's progress. Statistics, metrics, rows of leases and screens ask here,
 * so that they can't contradict each other. Nothing is kept: all is computed when it is asked for. */
#ifndef SLP_CORE_PROGRESS_H
#define SLP_CORE_PROGRESS_H

#include <sloop.h>
#include <stdint.h>

typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;

typedef struct slp_progress { /* of a shard, now */
  int64_t behind_ms;          /* how far behind its tip it is; -1: not known, or read to its end */
  int64_t unknown_ms;         /* for how long that has not been known; -1: it is known, or there is none */
  int at_tip; /* read to its tip and acknowledged, by an answer that is no older than a poll */
  sloop_shard_state_t state;
  int64_t state_ms;       /* for how long; -1: not told */
  const slp_shard *other; /* the one waited for; NULL: none, or it is not known */
  const char *error;      /* FAILS, GIVEN_UP; else "" */
  uint32_t fails;
  int64_t acked_age_ms; /* since records were last acknowledged; -1: none was */
} slp_progress;

void slp_progress_of(const slp_shard *s, slp_progress *ret);
int64_t slp_progress_behind_ms(const slp_shard *s);
/* Records of the shard may still come, or its end is still to be told. */
int slp_progress_is_told(const slp_shard *s);

typedef struct slp_progress_sum { /* of the shards of a consumer that are told */
  int64_t behind_ms;    /* the largest of all shards; -1: not known of some shard, or there is no shard */
  int64_t unknown_ms;   /* the most of any; -1: all are known */
  uint64_t tip_n;       /* shards at their tip */
  int64_t acked_age_ms; /* the least of any; -1: of none */
} slp_progress_sum;

void slp_progress_of_all(slp_consumer *c, slp_progress_sum *ret);

/* With leases: returns 1 when the service has refused a shard's position to this worker: until that reads it
 * again, or the rows of the leases tell it (leases.h, shut). */
int slp_progress_refused(slp_consumer *c, const char **ret_shard, uint64_t *ret_ago_ms);

/* Returns since when records of the shard have waited for the user without one being acknowledged; 0: none
 * do. */
uint64_t slp_progress_held_us(const slp_shard *s);

#endif
