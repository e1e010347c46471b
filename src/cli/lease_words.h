/* lease_words.h - turns the facts of a lease table into words for people. */
#ifndef SLP_CLI_LEASE_WORDS_H
#define SLP_CLI_LEASE_WORDS_H

#include "base/buf.h"

#include <sloop.h>
#include <sloop_admin.h>

/* The state of a shard, as people see it. States that need attention most come first. */
typedef enum slp_lease_mood {
  SLP_LEASE_IS_DEAD,    /* the owner is dead */
  SLP_LEASE_IS_SILENT,  /* the owner is silent, and no worker has evicted it yet */
  SLP_LEASE_IS_FREE,    /* the lease has no owner */
  SLP_LEASE_IS_PARKED,  /* the shard is not read until an operator releases the lease */
  SLP_LEASE_IS_REFUSED, /* the lease has no owner, because the service refuses its position */
  SLP_LEASE_IS_OWNED,   /* the owner looks alive */
  SLP_LEASE_IS_ENDED,   /* the shard was read to its end */
  SLP_LEASE_MOODS       /* the number of states */
} slp_lease_mood;
/* Returns the state by the lease's row alone. Without the owner's row, a silent owner counts as dead. */
slp_lease_mood slp_lease_mood_of(const sloop_lease_t *l);
/* Returns the state by the lease's row and its owner's row. */
slp_lease_mood slp_lease_mood_in(const sloop_lease_t *l, const sloop_leases_t *all);
/* returns the state as a word for people, a static string */
const char *slp_lease_mood_word(slp_lease_mood mood);

/* how far the reader of a shard is behind the newest record, as far as the lease table shows */
typedef struct slp_lease_lag {
  int64_t ms;  /* -1: the lag is not known from the table, or no worker reads the shard */
  int at_most; /* 1: the real lag may be smaller than `ms`, but not larger */
} slp_lease_lag;
/* Returns the lag of a lease. now_ms: this machine's wall clock. The rules, in order:
 *   1. If sloop_admin_lag() has asked for the lag at the lease's position, its result is returned.
 *   2. If no worker reads the shard, the lag is not known; it is 0 if the shard was read to its end.
 *   3. The lease's row has a lag. The owner's row has the lag of the worst of the owner's shards. Each is an
 *      upper bound after the time since its row was written is added. A lag of 0 in the owner's row stays 0
 *      until the owner's next row is overdue.
 *   4. The smaller bound is returned, even if the lease's row is old, because the lease of an idle shard need
 *      not be written. But if the lease's row is newer than the owner's row and has a lag, its bound is
 *      returned. */
slp_lease_lag slp_lease_lag_of(const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms);
/* Returns the same, for a caller that has the row of the lease's owner. owner NULL: the owner has no row. */
slp_lease_lag slp_lease_lag_by(const sloop_lease_t *l, const sloop_worker_t *owner, int64_t now_ms);
/* Returns a static word for where the lag comes from ("read": asked from the stream, "told": stated in a row,
 * "ended"), or for why it is not known ("trimmed", "unknown" ...). */
const char *slp_lease_lag_word(const sloop_lease_t *l, slp_lease_lag lag);
/* Returns "trimmed", "gone" or "refused" if reading can't go on from the lease's position, otherwise NULL.
 * The string is static. */
const char *slp_lease_lost_word(const sloop_lease_t *l);
/* Returns the lag of a worker's worst shard. `ms` is -1 if that lag is not known, or if the worker no longer
 * reads any shard. */
slp_lease_lag slp_worker_lag_of(const sloop_worker_t *w, int64_t now_ms);
/* Returns the state of a worker as a static string: "leads", "works", "leaving", "left", "dead",
 *     "silent": its row is older than a lease by this machine's clock;
 *     "drained": it waits for --undrain;
 *     "owns": it owns leases, and no row shows whether it is alive. */
const char *slp_worker_word(const sloop_worker_t *w, int64_t now_ms);
/* Writes the id of a worker: its instance ("ID.PART") without the last dot and the part after it. Writes "-"
 * if there is no worker. */
#define SLP_WORKER_ID 80
void slp_worker_id(const char *instance, char out[SLP_WORKER_ID]);
/* Returns 1 and writes a sentence for people if the table has no row of this application and stream. Returns
 * 0 otherwise. */
#define SLP_LEASE_NOBODY 300
int slp_lease_is_nobody(const sloop_leases_t *l, const char *app, const char *stream,
                        char line[SLP_LEASE_NOBODY]);
/* Returns the row of the worker with this instance; NULL: it has no row. */
const sloop_worker_t *slp_lease_worker(const sloop_leases_t *all, const char *instance);

/* Writes a position: "oldest", "latest", "time:MS", "at SEQ", "after SEQ", "after SEQ sub N" or "end". Writes
 * "" if the position has no kind. */
void slp_position_text(const sloop_position_t *p, char out[200]);
/* Writes the position of a lease for people, as slp_position_text does, with two exceptions. A time is
 * written as local time with its zone. If slp_lease_begin_is_untold(), "as -o says" is written. */
void slp_lease_position_text(const sloop_lease_t *l, char out[200]);
/* Returns 1 if it is not known where reading of the shard will begin: the lease's row contains no position,
 * and the command was given no -o. */
int slp_lease_begin_is_untold(const sloop_lease_t *l);
/* Appends a line to the buffer with slp_say_to, cut to 1023 bytes. Appends nothing if the buffer has no room
 * for the line. */
void slp_lease_say(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);

/* Writes a length of time in at most 6 characters, such as "0", "340ms", "12s", "59m", "23h" or "365d".
 * Writes "-" if the length is not known (negative). */
void slp_span_text(int64_t ms, char out[24]);
/* Writes how long ago at_ms is, or "-" if at_ms is not known. A time in the future counts as now, because
 * another machine's clock may be ahead. */
void slp_age_text(int64_t at_ms, int64_t now_ms, char out[24]);
/* Writes a lag as slp_span_text does, except that 0 is "tip". */
void slp_lag_text(int64_t ms, char out[24]);
/* Writes a lag as slp_lag_text does. If the lag is only an upper bound, rounds it up and writes it as
 * "<12s". */
void slp_lease_lag_text(slp_lease_lag lag, char out[24]);
/* Writes bytes per second: "0", "999B", "12kB", "3MB". Writes "-" if the number is not known. */
void slp_rate_text(int64_t bytes, char out[24]);

#endif
