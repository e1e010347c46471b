/* consumer.h - a consumer whose shards come by leases: the fleet says which shard to read, from where and in
 * which epoch; this side reads, hands out, and tells how far everything is acknowledged. */
#ifndef SLP_LEASE_CONSUMER_H
#define SLP_LEASE_CONSUMER_H

#include "core/core.h"
#include "lease/fleet.h"

typedef struct slp_leased slp_leased;
typedef struct slp_leased_opts {
  /* Opens table and layout for the stream as described; both become the consumer's. 0, or f says why not. */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f);
  void *ctx;
  slp_str worker;                  /* its id; copied when the consumer is made */
  slp_str machine;                 /* told in its row; likewise */
  void *guest;                     /* for the strategy; NULL: it needs nothing */
  void (*guest_drop)(void *guest); /* called with the consumer's end; may be NULL */
  slp_position start;              /* of the application, when it is new */
} slp_leased_opts;

/* Makes c, not started, a consumer with leases. SLP_ENOMEM. */
int slp_leased_make(slp_consumer *c, const slp_leased_opts *o);

/* ---- for api ---------------------------------------------------------------------------------------- */
int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg);
/* 1: a save that was not answered, and is forgotten now. */
int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
/* sloop_checkpoint_at(), sloop_rewind(), sloop_hand_over(): positions that the user names. */
int slp_leased_name(slp_consumer *c, const char *shard, const slp_position *where, sloop_cb cb, void *arg);
int slp_leased_rewind(slp_consumer *c, const char *shard);
int slp_leased_hand_over(slp_consumer *c, const char *shard);
/* 1: a naming that was not told yet, and is forgotten now. */
int slp_leased_naming_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
const char *slp_leased_instance(const slp_consumer *c); /* "" while it has none */

#endif
