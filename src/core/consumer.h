/* consumer.h - what api/ calls in core: makes a family's engine, and starts, stops and describes a
 * consumer. */
#ifndef SLP_CORE_CONSUMER_H
#define SLP_CORE_CONSUMER_H

#include "core/core.h"

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o);
void slp_engine_free(slp_engine *e); /* no consumer may be left; NULL is fine */

/* Takes ownership of source and start_position. Borrows o and handle until slp_consumer_free. */
int slp_consumer_new(slp_consumer **ret, slp_engine *e, slp_source *source, sloop_t *handle,
                     const sloop_opts_t *o, slp_start_position *start_position);
int slp_consumer_start(slp_consumer *c);
int slp_consumer_stop(slp_consumer *c, uint64_t limit_ms, sloop_cb cb, void *arg);
/* Ends all callbacks to the user. Only slp_consumer_free may follow. */
void slp_consumer_silence(slp_consumer *c);
/* Frees the consumer at once: cancels its calls and orphans its batches. The callback of a pending stop is
 * dropped, and the caller must tell the user. */
void slp_consumer_free(slp_consumer *c);
int slp_consumer_pause(slp_consumer *c, const char *shard, int on);
int slp_consumer_list(slp_consumer *c, sloop_list_cb cb, void *arg);
void slp_consumer_fatal(slp_consumer *c, const slp_fail *f);    /* c fails for good; f says why */
int slp_consumer_save(slp_consumer *c, char *buf, size_t *len); /* in save.c */
void slp_consumer_stats(slp_consumer *c, slp_counts *out);
void slp_consumer_each(slp_consumer *c, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg);

#endif
