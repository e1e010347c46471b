/* later.c - keeps ops whose outcome is known, and calls their on_done from the event queue. */
#include "host/later.h"

#include "host/host.h"
#include "host/op.h"

static void answer_next_request(slp_event *ev) {
  slp_later *l = SLP_OWNER(ev, slp_later, ev);
  slp_op *op = l->first;
  if (!op) return;
  l->first = op->impl;
  if (l->first) slp_post(l->h, ev);
  op->impl = NULL;
  op->on_done(op);
}

void slp_later_init(slp_later *l, slp_host *h) {
  *l = (slp_later){.h = h, .ev = {.run = answer_next_request}};
}

void slp_later_add(slp_later *l, slp_op *op) {
  op->impl = l->first;
  l->first = op;
  slp_post(l->h, &l->ev);
}

int slp_later_has(const slp_later *l, const slp_op *op) {
  for (const slp_op *it = l->first; it; it = it->impl) {
    if (it == op) return 1;
  }
  return 0;
}

int slp_later_cancel(slp_later *l, slp_op *op) {
  slp_op *before = NULL;
  for (slp_op *it = l->first; it; before = it, it = it->impl) {
    if (it != op) continue;
    if (before)
      before->impl = it->impl;
    else
      l->first = it->impl;
    op->impl = NULL;
    return 1;
  }
  return 0;
}

void slp_later_end(slp_later *l) {
  SLP_CHECK(!l->first);
  slp_unpost(&l->ev);
}
