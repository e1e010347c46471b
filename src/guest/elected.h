/* elected.h - an upgrade from KCL 2 to 3 that waits for this worker. (elected.c) */
#ifndef SLP_GUEST_ELECTED_H
#define SLP_GUEST_ELECTED_H

#include "lease/context.h"
#include "lease/store.h"

/* The rows of a round while such an upgrade is under way. 1: it waits for this worker, which is said unless
 * it was so before. */
int slp_elected_saw(slp_fleet *f, const slp_store_rows *rows, int was);

#endif
