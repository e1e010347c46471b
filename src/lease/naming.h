/* naming.h - namings: requests of the user to save a position that the user chose (sloop_checkpoint_at).
 * The list has the oldest first. A naming stays in it until its outcome is reported to the user.
 *
 *   WAITS --- one save writes all namings that wait ---> SENT ---> OVER: its outcome must be reported
 *     ^---------- the save could not be sent ---------------+
 *
 * If the consumer ends by itself, every naming goes on to OVER (slp_namings_end). */
#ifndef SLP_LEASE_NAMING_H
#define SLP_LEASE_NAMING_H

#include "base/list.h"
#include "base/mem.h"
#include <sloop.h>

typedef enum slp_naming_state { SLP_NAMING_WAITS, SLP_NAMING_SENT, SLP_NAMING_OVER } slp_naming_state;

typedef struct slp_naming {
  slp_list link;
  slp_naming_state state;
  /* the outcome that cb is called with */
  int status;
  sloop_cb cb; /* called with the outcome; may be NULL */
  void *arg;
  /* the shard's id, in the same block after this struct */
  slp_str shard;
} slp_naming;

/* Appends a naming (a request to save a chosen position). Returns 0 or SLP_ENOMEM. */
int slp_namings_add(slp_list *all, slp_mem *mem, slp_str shard, slp_naming_state state, sloop_cb cb,
                    void *arg);
/* Returns 1 if the list has a naming in this state, of this shard or, if shard is {NULL, 0}, of any shard. */
int slp_namings_have(const slp_list *all, slp_naming_state state, slp_str shard);
/* moves every naming in state `from` to state `to` */
void slp_namings_move(slp_list *all, slp_naming_state from, slp_naming_state to);
/* Moves every naming in state SENT to state OVER. If is_here returns 0, the naming's shard is not open any
 * more, and its outcome is a failure. */
void slp_namings_written(slp_list *all, int (*is_here)(void *ctx, slp_str shard), void *ctx);
/* Moves every naming to state OVER. A naming that was OVER already keeps its outcome; the others get
 * `status`. */
void slp_namings_end(slp_list *all, int status);
/* Removes the oldest naming, or with over 1 the oldest one in state OVER. *ret is a copy of it without link
 * and shard. Returns 1, or 0 if there is none. */
int slp_namings_take(slp_list *all, int over, slp_mem *mem, slp_naming *ret);

#endif
