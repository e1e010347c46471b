/* later.h - requests that a source answers by itself: in the next turns, one each. */
#ifndef SLP_SOURCE_LATER_H
#define SLP_SOURCE_LATER_H

#include "core/source.h"
#include "host/host.h"

typedef struct slp_later {
  slp_host *h;
  slp_src_req *first; /* linked by rq->impl, the newest first */
  slp_event ev;
} slp_later;

void slp_later_init(slp_later *l, slp_host *h);
/* Its on_done comes later: the answer is in it. */
void slp_later_add(slp_later *l, slp_src_req *rq);
int slp_later_has(const slp_later *l, const slp_src_req *rq);
int slp_later_cancel(slp_later *l, slp_src_req *rq); /* 1: it was to be answered, and will not be */
void slp_later_end(slp_later *l);                    /* nothing is to be answered any more */

#endif
