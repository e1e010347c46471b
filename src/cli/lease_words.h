/* lease_words.h - what a lease table says, in words for people. */
#ifndef SLP_CLI_LEASE_WORDS_H
#define SLP_CLI_LEASE_WORDS_H

#include "base/buf.h"
#include "sloop.h"

/* The state of a shard, for a person. The states that need attention most come first. */
typedef enum slp_lease_mood {
  SLP_LEASE_IS_DEAD,    /* its owner is dead */
  SLP_LEASE_IS_SILENT,  /* its owner is silent, and nobody has evicted the owner yet */
  SLP_LEASE_IS_FREE,    /* nobody owns it */
  SLP_LEASE_IS_PARKED,  /* nobody reads it until an operator releases it */
  SLP_LEASE_IS_REFUSED, /* nobody owns it: the service refuses its position */
  SLP_LEASE_IS_OWNED,   /* its owner looks alive */
  SLP_LEASE_IS_ENDED,   /* read to its end */
  SLP_LEASE_MOODS       /* how many there are */
} slp_lease_mood;
/* Returns the state by the lease's row alone, so a silent owner counts as dead. */
slp_lease_mood slp_lease_mood_of(const sloop_lease_t *l);
/* Returns the state by the lease's row and its owner's row. */
slp_lease_mood slp_lease_mood_in(const sloop_lease_t *l, const sloop_leases_t *all);
const char *slp_lease_mood_word(slp_lease_mood mood); /* static */

typedef struct slp_lease_lag { /* how far a shard is behind its tip, as far as the table tells */
  int64_t ms;                  /* -1: the table does not tell, or nobody reads the shard */
  int at_most;                 /* 1: it may be less, but not more */
} slp_lease_lag;
/* Returns the lag of a lease. now_ms: this machine's wall clock. The rules, in order:
 *   1. The lag that was read at the position counts, if sloop_admin_lag() has read it.
 *   2. A lag that a row told grows by the time since the row was written. That is the most it can be.
 *   3. The owner's row tells the lag of the worst of its shards. If it says that all are at their tip, that
 *      holds until its next row is overdue, although the lease may be old: the lease of an idle shard need
 *      not be written. It does not hold if the lease was written later and says otherwise. */
slp_lease_lag slp_lease_lag_of(const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms);
/* Does the same with the row of the lease's owner. owner NULL: it has no row. */
slp_lease_lag slp_lease_lag_by(const sloop_lease_t *l, const sloop_worker_t *owner, int64_t now_ms);
/* Returns how that lag is known, or why it is not: "read", "told", "ended", "trimmed", "unknown" ...
 * Static. */
const char *slp_lease_lag_word(const sloop_lease_t *l, slp_lease_lag lag);
/* Returns "trimmed", "gone" or "refused" if nobody can go on from the lease's position, otherwise NULL.
 * Static. */
const char *slp_lease_lost_word(const sloop_lease_t *l);
/* Returns the lag of the worst shard of a worker; ms -1: not known, or the worker reads no shard any more. */
slp_lease_lag slp_worker_lag_of(const sloop_worker_t *w, int64_t now_ms);
/* Returns the state of a worker: "leads", "works", "leaving", "left", "dead", "silent" (not heard of for a
 * lease, by this machine's clock), or "owns" (leases name it, and no row says whether it lives). Static. */
const char *slp_worker_word(const sloop_worker_t *w, int64_t now_ms);
/* Returns the row of the worker, or NULL. */
const sloop_worker_t *slp_lease_worker(const sloop_leases_t *all, const char *instance);

/* Writes "oldest", "latest", "time:MS", "at SEQ", "after SEQ", "after SEQ sub N" or "end"; "" if the position
 * has no kind. */
void slp_position_text(const sloop_position_t *p, char out[200]);
/* Writes the position of a lease in the same way; "as -o says" if it is not known where reading begins. */
void slp_lease_position_text(const sloop_lease_t *l, char out[200]);
/* Returns 1 if neither the row nor -o says where reading begins. */
int slp_lease_begin_is_untold(const sloop_lease_t *l);
/* Adds a line with slp_say_to, at most 1023 bytes of it. Leaves the line out if the buffer has no room for
 * it. */
void slp_lease_say(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);

/* Writes a length of time in at most 6 characters: "0", "340ms", "12s", "59m", "23h", "365d"; "-": not
 * known. */
void slp_span_text(int64_t ms, char out[24]);
/* Writes how long ago at_ms is; "-": not told. A time in the future counts as 0, because another clock may be
 * ahead. */
void slp_age_text(int64_t at_ms, int64_t now_ms, char out[24]);
/* Writes a lag as slp_span_text does, except that 0 is "tip". */
void slp_lag_text(int64_t ms, char out[24]);
/* Writes a lag as slp_lag_text does; "<12s", rounded up, if it is only known to be at most that. */
void slp_lease_lag_text(slp_lease_lag lag, char out[24]);
/* Writes bytes a second: "0", "999B", "12kB", "3MB"; "-": not told. */
void slp_rate_text(int64_t bytes, char out[24]);

#endif
