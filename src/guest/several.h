/* several.h - one store over several tables: the table of leases, and those that its schema keeps beside it.
 * A request names its table by slp_store_req.table. (several.c) */
#ifndef SLP_GUEST_SEVERAL_H
#define SLP_GUEST_SEVERAL_H

#include "lease/store.h"

#define SLP_SEVERAL_MAX 4

/* Makes a store over n stores, the store of the table of leases first. The new store owns them and closes
 * them with itself; if this function fails, it has closed them. specs: their tables, copied. Returns 0 or
 * SLP_ENOMEM.
 *
 * To prepare the new store prepares each table:
 *   - Needed tables are all made, or none. If some are there and others stay missing, that is an error, and
 *     nothing is made.
 *   - An optional table is never made. While it is missing, it reads as empty, and a write to it fails as
 *     gone. It is looked for twice a minute, as long as lists of it are asked for.
 *   - If an optional table is there, the table of leases is not made: an application that has the first
 *     without the second is not a new one. */
int slp_several_store(slp_store **ret, slp_mem *mem, slp_host *h, slp_store *const *stores,
                      const slp_table_spec *specs, size_t n);

#endif
