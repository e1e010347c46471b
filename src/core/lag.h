/* lag.h - remembers how far behind its tip the last successful answer left a shard. progress.h computes the
 * present lag from that. */
#ifndef SLP_CORE_LAG_H
#define SLP_CORE_LAG_H

#include "codec/page.h"
#include "core/core.h"

typedef struct slp_lag { /* one per shard */
  int64_t told_ms;       /* the lag in the last successful answer, in ms; -1: not known */
  /* When the call for that answer was made. If the lag is unknown: since when it is unknown. 0: no call was
   * made yet. */
  uint64_t told_us;
  uint8_t warned; /* 1: the user was warned that the shard is far behind its tip */
  uint8_t far;    /* 1: the last answer left the shard far behind */
} slp_lag;

/* Returns the lag in ms: the lag that the page states or, if the service states none, the age of the page's
 * newest record. -1: not known. */
int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page);
/* Remembers the lag from a page that was just taken into the queue. told_ms: from slp_lag_of_page. at_tip: 1
 * if the page left the shard at its tip. */
void slp_lag_note_page(slp_shard *s, int64_t told_ms, uint64_t asked_us, int at_tip);
/* Remembers the lag from a page that was fetched only to learn the lag, while the shard is paused. The page's
 * records are still to be read. So the lag is the age of the first new record, even if the page says that the
 * shard is at its tip. */
void slp_lag_note_peek(slp_shard *s, const slp_page *page, uint64_t asked_us);
/* To be called when the stream's retention has changed: warns the user if the lag is large compared with the
 * new retention. */
void slp_lag_kept_for(slp_shard *s);
/* Returns the lag in ms that the last successful answer stated; -1: not known. */
int64_t slp_lag_told_ms(const slp_shard *s);
/* Returns slp_lag.told_us: when the call for that answer was made. */
uint64_t slp_lag_told_us(const slp_shard *s);
void slp_lag_init(slp_shard *s);
void slp_lag_forget(slp_shard *s); /* from now on the lag is not known */

#endif
