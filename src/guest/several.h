/* several.h - a store over several tables: the table of leases, and those that its schema keeps beside it.
 * A request says by slp_store_req.table which of them it goes to. */
#ifndef SLP_GUEST_SEVERAL_H
#define SLP_GUEST_SEVERAL_H

#include "lease/store.h"

#define SLP_SEVERAL_MAX 4

/* stores: of the table of leases first; the new store's from here on, closed with it, even when this fails.
 * specs: theirs, copied. SLP_ENOMEM.
 *
 * Preparing it prepares each. Of tables that are all needed either all are made or none: when some are
 * there and some stay missing, that is an error and nothing is made. An optional table is never made: while
 * it is not there it reads as empty, and writes to it are answered as gone; it is looked for again twice a
 * minute while lists of it are asked for. When one is there, the table of
 * leases is not made either: an application that has the one without the other is not a new one. */
int slp_several_store(slp_store **ret, slp_mem *mem, slp_host *h, slp_store *const *stores,
                      const slp_table_spec *specs, size_t n);

#endif
