/* lag.h - how far behind its tip the last good answer left a shard. That answer grows old: what is told of a
 * shard now is progress.h's. */
#ifndef SLP_CORE_LAG_H
#define SLP_CORE_LAG_H

#include "codec/page.h"

typedef struct slp_shard slp_shard;

typedef struct slp_lag { /* of a shard */
  int64_t told_ms;       /* -1: not known */
  uint64_t told_us;      /* when that answer was asked for; not known: since when. 0: nothing was asked */
  uint8_t warned;        /* the user was told that it is far behind */
} slp_lag;

/* In ms, as the page tells it or by its records; -1: it tells nothing. */
int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page);
/* asked_us: when the answer was asked for. May warn the user. */
void slp_lag_note(slp_shard *s, int64_t told_ms, uint64_t asked_us);
/* Of a page just taken. */
void slp_lag_note_page(slp_shard *s, int64_t told_ms, uint64_t asked_us, int at_tip);
/* Of a page that was only looked at: its records wait, and the first one that was not taken before is as old
 * as it is, also where the page reaches the tip. */
void slp_lag_note_peek(slp_shard *s, const slp_page *page, uint64_t asked_us);
/* The stream's retention has changed. May warn the user. */
void slp_lag_kept_for(slp_shard *s);
int64_t slp_lag_told_ms(const slp_shard *s); /* -1: not known */
uint64_t slp_lag_told_us(const slp_shard *s);
void slp_lag_init(slp_shard *s);
void slp_lag_forget(slp_shard *s); /* not known from now on */

#endif
