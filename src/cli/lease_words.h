/* lease_words.h - what a lease table says, in the words people read. */
#ifndef SLP_CLI_LEASE_WORDS_H
#define SLP_CLI_LEASE_WORDS_H

#include "base/buf.h"
#include "sloop.h"

typedef enum slp_lease_mood { /* what becomes of a shard; the first ones want to be looked at */
                              SLP_LEASE_IS_DEAD,   /* its owner is */
                              SLP_LEASE_IS_SILENT, /* its owner is silent, and nobody has evicted it */
                              SLP_LEASE_IS_FREE,
                              SLP_LEASE_IS_PARKED,
                              SLP_LEASE_IS_REFUSED, /* nobody's: the service refuses its position */
                              SLP_LEASE_IS_OWNED,
                              SLP_LEASE_IS_ENDED,
                              SLP_LEASE_MOODS
} slp_lease_mood;
/* Without its owner's row: a silent owner counts as dead. */
slp_lease_mood slp_lease_mood_of(const sloop_lease_t *l);
slp_lease_mood slp_lease_mood_in(const sloop_lease_t *l, const sloop_leases_t *all);
const char *slp_lease_mood_word(slp_lease_mood mood); /* static */

typedef struct slp_lease_lag { /* how far behind its tip a shard is, as far as the table knows */
  int64_t ms;                  /* -1: it does not know, or nobody reads the shard */
  int at_most;                 /* it may be less: the table knows no more than that */
} slp_lease_lag;
/* now_ms: by our wall clock. What was read at the position comes first. What a row told grows by the time
 * since, and is the most that the lag can be.
 * The owner's word is of the worst of its shards. That all of them are at their tip holds until its next
 * word is overdue, unless the lease was written later and says otherwise: an idle shard's lease need not be
 * written. */
slp_lease_lag slp_lease_lag_of(const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms);
/* The same with the row of its owner; NULL: it has none. */
slp_lease_lag slp_lease_lag_by(const sloop_lease_t *l, const sloop_worker_t *owner, int64_t now_ms);
/* How that lag is known, or why it is not: "read", "told", "ended", "trimmed", "unknown" ... */
const char *slp_lease_lag_word(const sloop_lease_t *l, slp_lease_lag lag);
/* "trimmed", "gone" or "refused": nobody can go on from its position. NULL: it is no such lease. */
const char *slp_lease_lost_word(const sloop_lease_t *l);
/* Of the worst of its shards; -1: not known, or it reads none any more. */
slp_lease_lag slp_worker_lag_of(const sloop_worker_t *w, int64_t now_ms);
/* "leads", "works", "leaving", "left", "silent" (not heard of for a lease, by our clock), "dead", or
 * "owns": leases name it, and no row says whether it lives. */
const char *slp_worker_word(const sloop_worker_t *w, int64_t now_ms);
/* NULL: not in the table. */
const sloop_worker_t *slp_lease_worker(const sloop_leases_t *all, const char *instance);

/* "oldest", "latest", "time:MS", "at SEQ", "after SEQ", "after SEQ sub N", "end"; "" when it has no kind. */
void slp_position_text(const sloop_position_t *p, char out[200]);
/* The same of a lease; "as -o says" where its row tells no beginning. */
void slp_lease_position_text(const sloop_lease_t *l, char out[200]);
int slp_lease_begin_is_untold(const sloop_lease_t *l);
/* Adds a line with slp_say_to, at most 1023 bytes of it. A line that the buffer may
 * not hold is left out. */
void slp_lease_say(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);

/* A length of time in at most 6 characters: "0", "340ms", "12s", "59m", "23h", "365d"; "-": not known. */
void slp_span_text(int64_t ms, char out[24]);
/* How long ago; "-": not told. A clock ahead of ours says 0. */
void slp_age_text(int64_t at_ms, int64_t now_ms, char out[24]);
/* The same for a lag: 0 is "tip". */
void slp_lag_text(int64_t ms, char out[24]);
/* The same; "<12s" where it is so much at most, rounded up. */
void slp_lease_lag_text(slp_lease_lag lag, char out[24]);
/* Bytes a second: "0", "999B", "12kB", "3MB"; "-": not told. */
void slp_rate_text(int64_t bytes, char out[24]);

#endif
