/* later.h - answers requests for which a source needs no call to AWS. Each request is answered in a later
 * turn of the event queue, and one request in each turn, so that no callback runs while core is still in
 * the function that made the request. */
#ifndef SLP_SOURCE_LATER_H
#define SLP_SOURCE_LATER_H

#include "core/source.h"
#include "host/host.h"

typedef struct slp_later {
  slp_host *h;
  slp_src_req *first; /* the requests that wait; linked by rq->impl, newest first */
  slp_event ev;
} slp_later;

void slp_later_init(slp_later *l, slp_host *h);
/* Makes rq->on_done run in a later turn. The caller has already put the answer into rq. */
void slp_later_add(slp_later *l, slp_src_req *rq);
/* Returns 1 if rq waits to be answered. */
int slp_later_has(const slp_later *l, const slp_src_req *rq);
/* Returns 1 if rq was waiting; its on_done will then not be called. */
int slp_later_cancel(slp_later *l, slp_src_req *rq);
void slp_later_end(slp_later *l); /* called at close; no request may be waiting */

#endif
