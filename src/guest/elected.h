/* elected.h - tells the user when an upgrade from KCL 2 to 3 waits for this worker. (elected.c) */
#ifndef SLP_GUEST_ELECTED_H
#define SLP_GUEST_ELECTED_H

#include "lease/lease_types.h"
#include "lease/store.h"

/* Looks at the rows of one round while an upgrade of the KCL is under way. Returns 1 if the upgrade waits for
 * this worker, and tells the user so, unless `was` is 1. was: what this function returned in the last
 * round. */
int slp_elected_saw(slp_fleet *f, const slp_store_rows *rows, int was);

#endif
