/* naming.h - positions that the user named (sloop_checkpoint_at), oldest first, until the user is told what
 * became of each.
 *
 *   WAITS --- written together with all others that wait ---> SENT ---> OVER: to be told
 *     ^---------------- not sent after all ----------------------+ */
#ifndef SLP_LEASE_NAMING_H
#define SLP_LEASE_NAMING_H

#include "base/list.h"
#include "base/mem.h"
#include <sloop.h>

typedef enum slp_naming_state { SLP_NAMING_WAITS, SLP_NAMING_SENT, SLP_NAMING_OVER } slp_naming_state;

typedef struct slp_naming {
  slp_list link;
  slp_naming_state state;
  int status;
  sloop_cb cb; /* may be NULL */
  void *arg;
  slp_str shard;
} slp_naming;

/* Returns 0 or SLP_ENOMEM. */
int slp_namings_add(slp_list *all, slp_mem *mem, slp_str shard, slp_naming_state state, sloop_cb cb,
                    void *arg);
/* Returns 1 if there is one in this state, of this shard or, with {NULL, 0}, of any. */
int slp_namings_have(const slp_list *all, slp_naming_state state, slp_str shard);
void slp_namings_move(slp_list *all, slp_naming_state from, slp_naming_state to);
/* Moves those in SENT to OVER. A naming of a shard that is no longer here has failed. */
void slp_namings_written(slp_list *all, int (*is_here)(void *ctx, slp_str shard), void *ctx);
/* Takes the oldest one out and frees it; `over`: the oldest in OVER. ret has neither link nor shard. Returns
 * 0 if there is none. */
int slp_namings_take(slp_list *all, int over, slp_mem *mem, slp_naming *ret);

#endif
