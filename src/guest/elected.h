/* elected.h - tells the user when an upgrade from KCL 2 to 3 waits for this worker. (elected.c) */
#ifndef SLP_GUEST_ELECTED_H
#define SLP_GUEST_ELECTED_H

#include "lease/context.h"
#include "lease/store.h"

/* Looks at the rows of one round over the table, while an upgrade is under way. Returns 1 if the upgrade
 * waits for this worker, and then tells the user, unless `was` is 1. `was` is what this function returned
 * in the round before. */
int slp_elected_saw(slp_fleet *f, const slp_store_rows *rows, int was);

#endif
