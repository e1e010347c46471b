/* leased_consumer.h - a consumer whose shards come by leases. Its fleet says which shard to read, from which
 * position and in which epoch. The consumer reads the shard, hands its records out, and reports to the fleet
 * how far they are acknowledged. */
#ifndef SLP_LEASE_LEASED_CONSUMER_H
#define SLP_LEASE_LEASED_CONSUMER_H

#include "base/fail.h"
#include "core/core.h"
#include "core/position.h"
#include "core/source.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>

typedef struct slp_leased slp_leased;
typedef struct slp_leased_opts {
  /* Opens the store and the schema for the stream that d describes; the consumer owns both. Returns 0, or a
   * negative error with the reason in *f. */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f);
  void *ctx;
  slp_str worker; /* id of the worker; copied when the consumer is created */
  /* name of the machine, written to the worker's row; copied when the consumer is created */
  slp_str machine;
  void *guest;                     /* passed to the strategy; NULL: the strategy needs nothing */
  void (*guest_drop)(void *guest); /* called for `guest` when the consumer is freed; may be NULL */
  slp_position start;              /* where a new application begins to read */
} slp_leased_opts;

/* Makes c a consumer with leases, before it is started. Returns 0 or SLP_ENOMEM. */
int slp_leased_make(slp_consumer *c, const slp_leased_opts *o);

/* ---- functions for src/api -------------------------------------------------------------------------- */
/* Implements sloop_checkpoint(): saves the acknowledged position of the shard or, if shard is NULL, of all
 * shards. Calls cb when the positions are saved, or their leases are gone. */
int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg);
/* Removes a save that was begun by slp_leased_save and was not reported yet. Returns 1 and the user's
 * callback, which the caller must call; 0 if there is none. */
int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
/* Implement sloop_checkpoint_at(), sloop_seek_checkpoint() and sloop_handover(), for users who choose the
 * positions that are saved. */
int slp_leased_name(slp_consumer *c, const char *shard, const slp_position *where, sloop_cb cb, void *arg);
int slp_leased_rewind(slp_consumer *c, const char *shard);
int slp_leased_hand_over(slp_consumer *c, const char *shard);
/* Removes a request of slp_leased_name whose outcome was not reported yet. Returns 1 and the user's callback,
 * which the caller must call; 0 if there is none. */
int slp_leased_naming_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg);
/* returns the "id.incarnation" of the worker; "" before it has joined */
const char *slp_leased_instance(const slp_consumer *c);

#endif
