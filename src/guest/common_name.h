/* common_name.h - one name for the fleets of one process. For tables that have the rows of all streams of an
 * application, where fair shares are counted over all streams. Other workers then see one worker, however
 * many streams it reads. (common_name.c) */
#ifndef SLP_GUEST_COMMON_NAME_H
#define SLP_GUEST_COMMON_NAME_H

#include "lease/context.h"

/* slp_fleet_opts.guest points to it; NULL there: the fleet has its name for itself. */
typedef struct slp_common_name slp_common_name;

/* Returns the name in `all` of this table and configured worker id, and makes it if there is none. The caller
 * has one hold on it, which slp_common_name_drop ends. NULL: no memory. */
slp_common_name *slp_common_name_of(slp_list *all, slp_mem *mem, slp_str table, slp_str worker);
void slp_common_name_drop(slp_common_name *c); /* NULL is allowed */

/* Gives f the incarnation that the other fleets of the name have, or a new one if f is the first. */
void slp_common_name_take(slp_fleet *f);
void slp_common_name_leave(slp_fleet *f); /* may be called when f has left already */
/* Returns how many leases the other fleets of the name hold or are about to take. */
uint32_t slp_common_name_held_elsewhere(slp_fleet *f);
/* The first fleet of the name does work that is needed once for all of them. */
int slp_common_name_is_first(const slp_fleet *f);
int slp_common_name_is_last(const slp_fleet *f); /* returns 1 if no other fleet has the name */
/* No fleet of the name takes a lease from a living worker before this time. slp_common_name_stole sets it. */
uint64_t slp_common_name_steal_us(const slp_fleet *f);
void slp_common_name_stole(slp_fleet *f, uint64_t next_us);

#endif
