/* consumer.h - what api/ needs of core: a family's engine and the life of a consumer. */
#ifndef SLP_CORE_CONSUMER_H
#define SLP_CORE_CONSUMER_H

#include "core/core.h"

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o);
void slp_engine_free(slp_engine *e); /* no consumer left. NULL is fine */

/* Takes source and start position. o and handle are borrowed until slp_consumer_free. */
int slp_consumer_new(slp_consumer **ret, slp_engine *e, slp_source *source, sloop_t *handle,
                     const sloop_opts_t *o, slp_start_position *start_position);
int slp_consumer_start(slp_consumer *c);
int slp_consumer_stop(slp_consumer *c, uint64_t limit_ms, sloop_cb cb, void *arg);
/* From here on no callback of the user is made any more; slp_consumer_free must follow. */
void slp_consumer_silence(slp_consumer *c);
/* At once, synchronously: nothing of it is in flight afterwards, batches are orphaned, a pending stop's
 * callback is lost (the caller tells it). */
void slp_consumer_free(slp_consumer *c);
int slp_consumer_pause(slp_consumer *c, const char *shard, int on);
int slp_consumer_list(slp_consumer *c, sloop_list_cb cb, void *arg);
void slp_consumer_fatal(slp_consumer *c, const slp_fail *f);    /* it ends by itself */
int slp_consumer_save(slp_consumer *c, char *buf, size_t *len); /* save.c */
void slp_consumer_stats(slp_consumer *c, slp_counts *out);
void slp_consumer_each(slp_consumer *c, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg);

#endif
