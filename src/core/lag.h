/* lag.h - how far a shard is behind its tip. */
#ifndef SLP_CORE_LAG_H
#define SLP_CORE_LAG_H

#include "codec/page.h"

typedef struct slp_shard slp_shard;

typedef struct slp_lag { /* of a shard */
  int64_t behind_ms;     /* -1: not known */
  uint8_t warned;        /* the user was told that it is far behind */
} slp_lag;

/* In ms, as the page tells it or by its records; -1: it tells nothing. */
int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page);
void slp_lag_note(slp_shard *s, int64_t behind_ms);                /* may warn the user */
void slp_lag_note_page(slp_shard *s, int64_t told_ms, int at_tip); /* of a page just taken */
int64_t slp_lag_ms(const slp_shard *s);                            /* -1: not known */
void slp_lag_forget(slp_shard *s);

#endif
