/* lag.h - remembers how far behind its tip the last good answer left a shard. The answer gets older;
 * progress.h computes the lag as it is now. */
#ifndef SLP_CORE_LAG_H
#define SLP_CORE_LAG_H

#include "codec/page.h"

typedef struct slp_shard slp_shard;

typedef struct slp_lag { /* one per shard */
  int64_t told_ms;       /* the lag in the last good answer, in ms; -1: not known */
  /* when that answer was asked for; if the lag is not known, since when it is not known; 0: no call was made
   * yet */
  uint64_t told_us;
  uint8_t warned; /* 1: the user was warned that the shard is far behind */
} slp_lag;

/* Returns the lag in ms that the page states, or that its newest record shows; -1: neither. */
int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page);
/* Remembers told_ms as the shard's lag; the answer with it was asked for at asked_us. May warn the user.
 * told_ms -1: as slp_lag_forget. */
void slp_lag_note(slp_shard *s, int64_t told_ms, uint64_t asked_us);
/* Remembers the lag of a page that was just taken into the queue. told_ms: from slp_lag_of_page. at_tip: the
 * page left the shard at its tip. */
void slp_lag_note_page(slp_shard *s, int64_t told_ms, uint64_t asked_us, int at_tip);
/* Remembers the lag of a page that was fetched only for its lag, and not taken into the queue. Its records
 * are still to be read, so even at the tip the lag is the age of the first new record. */
void slp_lag_note_peek(slp_shard *s, const slp_page *page, uint64_t asked_us);
/* To be called when the stream's retention has changed: warns by the new retention. */
void slp_lag_kept_for(slp_shard *s);
/* Returns the lag in ms that the last good answer told; -1: not known. */
int64_t slp_lag_told_ms(const slp_shard *s);
/* Returns slp_lag.told_us. */
uint64_t slp_lag_told_us(const slp_shard *s);
void slp_lag_init(slp_shard *s);
void slp_lag_forget(slp_shard *s); /* from now on the lag is not known */

#endif
