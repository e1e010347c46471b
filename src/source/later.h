/* later.h - answers requests for which a source needs no call to AWS. Each request is answered in a later
 * turn of the event queue, and one request in each turn, so that no callback runs while core is still in
 * the function that made the request. */
#ifndef SLP_SOURCE_LATER_H
#define SLP_SOURCE_LATER_H

#include "core/source.h"
#include "host/host.h"

typedef struct slp_later {
  slp_host *h;
  slp_src_req *first; /* the requests that wait to be answered, newest first, linked by rq->impl */
  slp_event ev;
} slp_later;

void slp_later_init(slp_later *l, slp_host *h);
/* Makes rq->on_done run in a later turn. The caller must have put the answer into rq already. */
void slp_later_add(slp_later *l, slp_src_req *rq);
/* Returns 1 if rq waits to be answered. */
int slp_later_has(const slp_later *l, const slp_src_req *rq);
/* If rq waits to be answered, removes it and returns 1: its on_done is not called. Otherwise returns 0. */
int slp_later_cancel(slp_later *l, slp_src_req *rq);
void slp_later_end(slp_later *l); /* to be called at close; no request may be waiting */

#endif
