/* consumer.h - a consumer whose shards are shared by leases. The fleet says which shard to read, from which
 * position and in which epoch; the consumer reads, hands records out, and reports how far they are
 * acknowledged. */
#ifndef SLP_LEASE_CONSUMER_H
#define SLP_LEASE_CONSUMER_H

#include "core/core.h"
#include "lease/fleet.h"

typedef struct slp_leased slp_leased;
typedef struct slp_leased_opts {
  /* Opens the table and its layout for the stream in d; the consumer owns both. Returns 0, or f says why
   * not. */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f);
  void *ctx;
  slp_str worker;                  /* its id; copied when the consumer is made */
  slp_str machine;                 /* told in its row; likewise */
  void *guest;                     /* for the strategy; NULL: it needs nothing */
  void (*guest_drop)(void *guest); /* called with the consumer's end; may be NULL */
  slp_position start;              /* of the application, when it is new */
} slp_leased_opts;

/* Gives the consumer c, which is not started yet, leases. Returns 0 or SLP_ENOMEM. */
int slp_leased_make(slp_consumer *c, const slp_leased_opts *o);

/* ---- functions for src/api -------------------------------------------------------------------------- */
int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg);
/* Returns 1 and drops a save that was not answered yet. */
int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
/* For sloop_checkpoint_at(), sloop_rewind() and sloop_hand_over(), where the user names positions. */
int slp_leased_name(slp_consumer *c, const char *shard, const slp_position *where, sloop_cb cb, void *arg);
int slp_leased_rewind(slp_consumer *c, const char *shard);
int slp_leased_hand_over(slp_consumer *c, const char *shard);
/* Returns 1 and drops a naming (slp_leased_name) whose outcome was not told yet. */
int slp_leased_naming_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
const char *slp_leased_instance(const slp_consumer *c); /* "" before it has joined */

#endif
