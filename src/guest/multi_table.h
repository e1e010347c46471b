/* multi_table.h - one store for several tables: the table of leases, and the further tables of its schema.
 * Each request has the number of its table (slp_store_req.table). (multi_table.c) */
#ifndef SLP_GUEST_MULTI_TABLE_H
#define SLP_GUEST_MULTI_TABLE_H

#include "base/mem.h"
#include "host/host.h"
#include "lease/store.h"

#define SLP_SEVERAL_MAX 4

/* Creates one store from n stores; stores[0] is the store of the table of leases. The new store owns the n
 * stores, and closes them when it is closed. If this function fails, it has closed them. specs: the
 * descriptions of the n tables; they are copied. Returns 0 or SLP_ENOMEM.
 *
 * Preparing the new store prepares each table:
 *   - Either all needed tables are created, or none. If some are there and others stay missing, that is an
 *     error, and no table is created.
 *   - An optional table is never created. While it is missing, a read of it finds no rows, and a write to it
 *     fails as if the table were gone. While the caller lists its rows, the store looks for the table twice a
 *     minute.
 *   - If an optional table is there, the table of leases is not created: an application that has an optional
 *     table and no table of leases is not a new one. */
int slp_several_store(slp_store **ret, slp_mem *mem, slp_host *h, slp_store *const *stores,
                      const slp_table_spec *specs, size_t n);

#endif
