/* seek.h - moves a running consumer to another position in its stream (sloop_seek). */
#ifndef SLP_CORE_SEEK_H
#define SLP_CORE_SEEK_H

#include "core/core.h"

#include <sloop.h>

void slp_seek_init(slp_consumer *c);
/* Asks for a seek. Returns 0 if cb will be called once (by a caller of slp_seek_take, if that function
 * returns cb). Otherwise cb is never called, and the result is SLOOP_EOPTION, SLOOP_ESTATE, SLOOP_ETOKEN
 * (on_error then gets the details) or SLP_ENOMEM. */
int slp_consumer_seek(slp_consumer *c, const sloop_position_t *to, sloop_cb cb, void *arg);
/* To be called when a listing was taken in, while its rows are still valid: carries out the newest seek. */
void slp_seek_listed(slp_consumer *c);
/* Ends all seeks that were not carried out yet; their callbacks get this status. */
void slp_seek_cancel(slp_consumer *c, int status);
int slp_seek_pending(const slp_consumer *c); /* returns 1 if the callback of a seek is still to be made */
/* Removes the oldest seek whose callback is still to be made, and gives that callback to the caller, who must
 * make it. Returns 0 if there is no such seek. */
int slp_seek_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
/* Makes sure that no callback of a seek is made any more, except by a caller of slp_seek_take. */
void slp_seek_silence(slp_consumer *c);
void slp_seek_free(slp_consumer *c);

#endif
