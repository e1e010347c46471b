/* seek.h - going on from somewhere else while running. */
#ifndef SLP_CORE_SEEK_H
#define SLP_CORE_SEEK_H

#include "base/list.h"
#include "host/host.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

typedef struct slp_seek { /* of a consumer */
  slp_list moves;
  slp_event ev;
} slp_seek;

void slp_seek_init(slp_consumer *c);
/* 0: cb comes, once, unless slp_seek_take gives it back first. SLOOP_EOPTION, SLOOP_ESTATE, SLOOP_ETOKEN
 * (on_error says more), SLP_ENOMEM. */
int slp_consumer_seek(slp_consumer *c, const sloop_position_t *to, sloop_cb cb, void *arg);
void slp_seek_listed(slp_consumer *c);             /* a listing was taken in; its rows are still there */
void slp_seek_cancel(slp_consumer *c, int status); /* those not yet carried out come to nothing */
int slp_seek_pending(const slp_consumer *c);       /* some callback is still to be made */
/* 1: a move that was not told, and is forgotten now. */
int slp_seek_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
void slp_seek_silence(slp_consumer *c); /* no callback is made any more */
void slp_seek_free(slp_consumer *c);

#endif
