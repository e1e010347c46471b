/* common_name.h - one worker's name for all fleets of one process. For tables that have the rows of all
 * streams of an application. There, fair shares are counted over all streams. So the process must look
 * like one worker to the others, however many streams it reads. (common_name.c) */
#ifndef SLP_GUEST_COMMON_NAME_H
#define SLP_GUEST_COMMON_NAME_H

#include "lease/context.h"

/* slp_fleet_opts.guest points to this. If that is NULL, the fleet has a name of its own. */
typedef struct slp_common_name slp_common_name;

/* Finds in the list `all` the name for this table and this configured worker id, or creates it. The caller
 * gets a hold on the name, and must end the hold with slp_common_name_drop. Returns NULL if there is no
 * memory. */
slp_common_name *slp_common_name_of(slp_list *all, slp_mem *mem, slp_str table, slp_str worker);
void slp_common_name_drop(slp_common_name *c); /* c may be NULL */

/* Gives f its incarnation. That is the incarnation of the other fleets with this name, or a new one if f
 * is the first fleet. */
void slp_common_name_take(slp_fleet *f);
void slp_common_name_leave(slp_fleet *f); /* does nothing if f has left the name already */
/* Returns how many leases the other fleets with this name hold or are about to take. */
uint32_t slp_common_name_held_elsewhere(slp_fleet *f);
/* Returns 1 if f is the first fleet with its name. The first fleet does the work that is needed once for
 * all of them. */
int slp_common_name_is_first(const slp_fleet *f);
int slp_common_name_is_last(const slp_fleet *f); /* returns 1 if no other fleet has the name */
/* Before this time, no fleet with this name takes a lease from a living worker. slp_common_name_stole sets
 * the time. */
uint64_t slp_common_name_steal_us(const slp_fleet *f);
void slp_common_name_stole(slp_fleet *f, uint64_t next_us);

#endif
