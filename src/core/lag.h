/* lag.h - how far behind its tip the last good answer left a shard. That answer grows old: progress.h
 * computes the lag of now. */
#ifndef SLP_CORE_LAG_H
#define SLP_CORE_LAG_H

#include "codec/page.h"

typedef struct slp_shard slp_shard;

typedef struct slp_lag { /* one per shard */
  int64_t told_ms;       /* -1: not known */
  /* when the answer was asked for, or since when the lag is not known; 0: no call yet */
  uint64_t told_us;
  uint8_t warned; /* 1: the user was warned that the shard is far behind */
} slp_lag;

/* Returns the lag in ms that the page tells, or that its newest record shows; -1: neither. */
int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page);
/* Notes the lag of an answer that was asked for at asked_us. May warn the user. */
void slp_lag_note(slp_shard *s, int64_t told_ms, uint64_t asked_us);
/* Notes the lag of a page that was just taken. */
void slp_lag_note_page(slp_shard *s, int64_t told_ms, uint64_t asked_us, int at_tip);
/* Notes the lag of a page that was only looked at. Its records were not taken, so even at the tip the lag is
 * the age of its first new record. */
void slp_lag_note_peek(slp_shard *s, const slp_page *page, uint64_t asked_us);
/* Warns again by the stream's new retention. */
void slp_lag_kept_for(slp_shard *s);
int64_t slp_lag_told_ms(const slp_shard *s); /* -1: not known */
uint64_t slp_lag_told_us(const slp_shard *s);
void slp_lag_init(slp_shard *s);
void slp_lag_forget(slp_shard *s); /* the lag is not known from now on */

#endif
