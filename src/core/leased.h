/* leased.h - a consumer whose shards come by leases: the fleet says which shard to read, from where and in
 * which epoch; this side reads, hands out, and tells how far everything is acknowledged. */
#ifndef SLP_CORE_LEASED_H
#define SLP_CORE_LEASED_H

#include "core/core.h"
#include "core/fleet.h"

typedef struct slp_leased_opts {
  /* Opens table and layout for the stream as described; both become the consumer's. 0, or f says why not. */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f);
  void *ctx;
  slp_str worker;  /* its id; copied when the consumer is made */
  slp_str machine; /* told in its row; likewise */
  slp_spot start;  /* of the application, when it is new */
} slp_leased_opts;

/* Makes c, not started, a consumer with leases. SLP_ENOMEM. */
int slp_leased_make(slp_consumer *c, const slp_leased_opts *o);
/* Everything of it goes, at once: nothing is written any more. NULL is fine. */
void slp_leased_free(slp_leased *ld);

/* ---- what the consumer tells ------------------------------------------------------------------------ */
void slp_leased_described(slp_consumer *c);
/* A listing has come, in c->list unless it failed. */
void slp_leased_listed(slp_consumer *c, const slp_fail *f);
/* Gives all it has to the others; slp_consumer_check finds slp_leased_left true in the end. */
void slp_leased_leave(slp_consumer *c, uint64_t limit_ms);
int slp_leased_left(const slp_consumer *c);
int slp_leased_undone(const slp_consumer *c); /* left, and not all of it was written */
/* It can't go on: told as a fatal error, and nothing more is written to the table. */
void slp_leased_end(slp_consumer *c, const slp_fail *f);
/* Before anything is handed out: sends a heartbeat that is due, and looks whether the fence has passed. */
void slp_leased_gate(slp_consumer *c);
/* A batch with records of it was given back, some of them acknowledged or none. */
void slp_leased_settled(slp_shard *s, int acked);
void slp_leased_read_out(slp_shard *s); /* read to its end, and all of it was handed out */
/* The children of a shard that is being read, as its last answer named them. */
void slp_leased_children(slp_shard *s, const slp_shard_desc *children, size_t n);
void slp_leased_listed_children(slp_shard *s); /* or the listing that is being taken in */
/* A record of it came back too often. */
void slp_leased_hopeless(slp_shard *s, int park);

/* ---- for api ---------------------------------------------------------------------------------------- */
int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg);
/* 1: a save that was not answered, and is forgotten now. */
int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
const char *slp_leased_instance(const slp_consumer *c); /* "" while it has none */
void slp_leased_stats(slp_consumer *c, slp_counts *out);

#endif
