/* naming.h - positions that the user named, until they are told what became of each: a list, oldest first.
 *
 *   WAITS --- written with all others that wait ---> SENT ---> OVER: to be told
 *     ^------------ not sent after all ---------------+ */
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
  sloop_cb cb; /* or NULL */
  void *arg;
  slp_str shard;
} slp_naming;

/* SLP_ENOMEM. */
int slp_namings_add(slp_list *all, slp_mem *mem, slp_str shard, slp_naming_state state, sloop_cb cb,
                    void *arg);
/* Is there one in this state, of this shard or ({NULL, 0}) of any? */
int slp_namings_have(const slp_list *all, slp_naming_state state, slp_str shard);
void slp_namings_move(slp_list *all, slp_naming_state from, slp_naming_state to);
/* Those that were sent are over; of a shard that is not here any more, as failed. */
void slp_namings_written(slp_list *all, int (*is_here)(void *ctx, slp_str shard), void *ctx);
/* Takes the oldest out (over: that is to be told) and frees it; ret has no link and no shard. 0: there is
 * none. */
int slp_namings_take(slp_list *all, int over, slp_mem *mem, slp_naming *ret);

#endif
