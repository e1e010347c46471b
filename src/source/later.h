/* later.h - requests that a source answers without a call. Each is answered in a later turn of the event
 * queue, one in each turn, so that no callback runs inside core's call. */
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
/* Has rq->on_done called in a later turn. The caller has put the answer into rq already. */
void slp_later_add(slp_later *l, slp_src_req *rq);
int slp_later_has(const slp_later *l, const slp_src_req *rq);
/* Returns 1 if rq was waiting; on_done will not run then */
int slp_later_cancel(slp_later *l, slp_src_req *rq);
void slp_later_end(slp_later *l); /* Called at close; nothing may be waiting */

#endif
