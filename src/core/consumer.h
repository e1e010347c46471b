/* consumer.h - the functions of core that api/ calls: they create and free the engine that joined consumers
 * share, and start, stop and describe a consumer. */
#ifndef SLP_CORE_CONSUMER_H
#define SLP_CORE_CONSUMER_H

#include "base/fail.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/source.h"
#include "core/tally.h"
#include "host/host.h"

#include <sloop.h>

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o);
/* frees the engine; every consumer of it must be freed before. NULL is fine */
void slp_engine_free(slp_engine *e);

/* Creates a consumer. Takes ownership of source and start_position. Borrows o and handle until
 * slp_consumer_free. */
int slp_consumer_new(slp_consumer **ret, slp_engine *e, slp_source *source, sloop_t *handle,
                     const sloop_opts_t *o, slp_start_position *start_position);
int slp_consumer_start(slp_consumer *c);
/* Stops c within limit_ms. cb is called once, when the stop is over. Returns 0 or SLOOP_ESTATE. */
int slp_consumer_stop(slp_consumer *c, uint64_t limit_ms, sloop_cb cb, void *arg);
/* Stops everything that could make a callback to the user. Afterwards only slp_consumer_free may be
 * called. */
void slp_consumer_silence(slp_consumer *c);
/* Frees the consumer at once: cancels its calls, and separates its batches from it. If a stop is pending,
 * core does not make its callback any more; the caller must make it. */
void slp_consumer_free(slp_consumer *c);
/* Pauses (on: 1) or resumes (0) the shard with this id; NULL: all shards, also those to come. Returns 0,
 * SLOOP_ESTATE or SLOOP_ENOSHARD. */
int slp_consumer_pause(slp_consumer *c, const char *shard, int on);
int slp_consumer_list(slp_consumer *c, sloop_list_cb cb, void *arg);
/* stops c for good and reports the fatal error f */
void slp_consumer_fatal(slp_consumer *c, const slp_fail *f);
int slp_consumer_save(slp_consumer *c, char *buf, size_t *len); /* in save.c */
void slp_consumer_stats(slp_consumer *c, slp_counts *out);
/* Calls each() once for every shard that has statistics. */
void slp_consumer_each(slp_consumer *c, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg);

#endif
