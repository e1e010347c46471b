/* later.c - keeps requests that have been answered, and calls their on_done from the event queue. */
#include "source/later.h"

#include "core/source.h"
#include "host/host.h"

static void run(slp_event *ev) {
  slp_later *l = SLP_OWNER(ev, slp_later, ev);
  slp_src_req *rq = l->first;
  if (!rq) return;
  l->first = rq->impl;
  if (l->first) slp_post(l->h, ev);
  rq->impl = NULL;
  rq->on_done(rq);
}

void slp_later_init(slp_later *l, slp_host *h) { *l = (slp_later){.h = h, .ev = {.run = run}}; }

void slp_later_add(slp_later *l, slp_src_req *rq) {
  rq->impl = l->first;
  l->first = rq;
  slp_post(l->h, &l->ev);
}

int slp_later_has(const slp_later *l, const slp_src_req *rq) {
  for (const slp_src_req *it = l->first; it; it = it->impl) {
    if (it == rq) return 1;
  }
  return 0;
}

int slp_later_cancel(slp_later *l, slp_src_req *rq) {
  slp_src_req *before = NULL;
  for (slp_src_req *it = l->first; it; before = it, it = it->impl) {
    if (it != rq) continue;
    if (before)
      before->impl = it->impl;
    else
      l->first = it->impl;
    rq->impl = NULL;
    return 1;
  }
  return 0;
}

void slp_later_end(slp_later *l) {
  SLP_CHECK(!l->first);
  slp_unpost(&l->ev);
}
