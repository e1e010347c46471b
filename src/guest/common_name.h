/* common_name.h - one worker name for all fleets of one process. A fleet here is an slp_fleet: this
 * process's worker for one stream. In tables with the rows of all streams of an application, fair shares
 * are counted over all streams. So the process must look like one worker, however many streams it reads.
 * (common_name.c) */
#ifndef SLP_GUEST_COMMON_NAME_H
#define SLP_GUEST_COMMON_NAME_H

#include "base/list.h"
#include "base/mem.h"
#include "lease/lease_types.h"

/* slp_fleet_opts.guest points to a name; NULL: the fleet has a name of its own */
typedef struct slp_common_name slp_common_name;

/* Finds in the list `all` the name for this table and this configured worker id, or creates it. The caller
 * must later call slp_common_name_drop. Returns NULL if there is no memory. */
slp_common_name *slp_common_name_of(slp_list *all, slp_mem *mem, slp_str table, slp_str worker);
void slp_common_name_drop(slp_common_name *c); /* c may be NULL */

/* Adds f to the fleets that use its name. Sets f's incarnation: that of the other fleets with this name,
 * or a new one if f is the first. */
void slp_common_name_take(slp_fleet *f);
/* Removes f from the fleets that use its name. Does nothing if f is not among them. */
void slp_common_name_leave(slp_fleet *f);
/* Returns how many leases the other fleets with this name own or are about to take. */
uint32_t slp_common_name_held_elsewhere(slp_fleet *f);
/* Returns 1 if f is the first of the fleets with its name. The first one does the work that is needed once
 * for all of them. */
int slp_common_name_is_first(const slp_fleet *f);
int slp_common_name_is_last(const slp_fleet *f); /* returns 1 if no other fleet has the name */
/* Returns the time before which no fleet with this name takes a lease from a living worker.
 * slp_common_name_stole sets it. */
uint64_t slp_common_name_steal_us(const slp_fleet *f);
void slp_common_name_stole(slp_fleet *f, uint64_t next_us);

#endif
