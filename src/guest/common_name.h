/* common_name.h - the name that the fleets of one process have in common, where rows of all streams of an
 * application are in one table and fair shares are counted over all of them: other workers see one worker,
 * whatever the number of its streams. */
#ifndef SLP_GUEST_COMMON_NAME_H
#define SLP_GUEST_COMMON_NAME_H

#include "lease/context.h"

typedef struct slp_common_name slp_common_name; /* slp_fleet_opts.guest */

/* Finds in `all` the one of this table and configured worker id; made when there is none. With one hold.
 * NULL: no memory. */
slp_common_name *slp_common_name_of(slp_list *all, slp_mem *mem, slp_str table, slp_str worker);
void slp_common_name_drop(slp_common_name *c); /* NULL is fine */

/* f takes the name: the present one, or a new one when no fleet has it. */
void slp_common_name_take(slp_fleet *f);
void slp_common_name_leave(slp_fleet *f); /* it does not go by it any more; once more is fine */
/* Leases of the other fleets of this name: held, or about to be. */
uint32_t slp_common_name_held_elsewhere(slp_fleet *f);
/* Work that all of them need only once is done by the first. */
int slp_common_name_is_first(const slp_fleet *f);
int slp_common_name_is_last(const slp_fleet *f); /* no other one is left */
/* Nothing is taken from the living before, by any of them. */
uint64_t slp_common_name_steal_us(const slp_fleet *f);
void slp_common_name_stole(slp_fleet *f, uint64_t next_us);

#endif
