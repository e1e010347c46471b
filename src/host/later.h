/* later.h - answers ops that could not be sent, for example because there was no memory. Each op is answered
 * by an event of its own, so that no callback runs inside the function that sends the op. */
#ifndef SLP_HOST_LATER_H
#define SLP_HOST_LATER_H

#include "host/host.h"
#include "host/op.h"

typedef struct slp_later {
  slp_host *h;
  slp_op *first; /* the ops that wait to be answered, newest first, linked by op->impl */
  slp_event ev;
} slp_later;

void slp_later_init(slp_later *l, slp_host *h);
/* Makes op->on_done run in a later turn. The caller must have put the answer into op already. */
void slp_later_add(slp_later *l, slp_op *op);
/* Returns 1 if op waits to be answered. */
int slp_later_has(const slp_later *l, const slp_op *op);
/* If op waits to be answered, removes it and returns 1: its on_done is not called. Otherwise returns 0. */
int slp_later_cancel(slp_later *l, slp_op *op);
void slp_later_end(slp_later *l); /* called at close; no op may be waiting */

#endif
