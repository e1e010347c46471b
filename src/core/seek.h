/* seek.h - goes on from another position while the consumer runs. */
#ifndef SLP_CORE_SEEK_H
#define SLP_CORE_SEEK_H

#include "base/list.h"
#include "host/host.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

typedef struct slp_seek { /* one per consumer */
  slp_list moves;         /* seeks whose callback is still to be made */
  slp_event ev;           /* makes the callback of the oldest seek */
} slp_seek;

void slp_seek_init(slp_consumer *c);
/* Returns 0: cb comes once, unless slp_seek_take takes the seek back. Or SLOOP_EOPTION, SLOOP_ESTATE,
 * SLOOP_ETOKEN (on_error says more), SLP_ENOMEM. */
int slp_consumer_seek(slp_consumer *c, const sloop_position_t *to, sloop_cb cb, void *arg);
void slp_seek_listed(slp_consumer *c);             /* a listing was taken in; its rows are still valid */
void slp_seek_cancel(slp_consumer *c, int status); /* ends the seeks that were not yet carried out */
int slp_seek_pending(const slp_consumer *c);       /* 1: a callback is still to be made */
/* Forgets the oldest seek whose callback was not made, and hands its callback over. Returns 0 if there is
 * none. */
int slp_seek_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
void slp_seek_silence(slp_consumer *c); /* no callback comes any more */
void slp_seek_free(slp_consumer *c);

#endif
