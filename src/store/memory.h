/* memory.h - a store (lease/store.h) that keeps leases in this process, in tables that several consumers
 * share. The tables are freed when the last reference to them is dropped. */
#ifndef SLP_STORE_MEMORY_H
#define SLP_STORE_MEMORY_H

#include "base/mem.h"
#include "host/host.h"
#include "lease/store.h"

typedef struct slp_memory slp_memory; /* a set of tables; may be used by one thread only */
/* Creates a set of tables; the caller owns one reference. Returns NULL if there is no memory. */
slp_memory *slp_memory_new(slp_mem *mem);
/* Drops a reference. The tables are freed when all their stores are closed too. m may be NULL. */
void slp_memory_drop(slp_memory *m);
/* Creates a store for the table that `spec` describes, and copies the names in `spec`. The store holds a
 * reference on m. Returns 0 or SLP_ENOMEM. */
int slp_memory_store(slp_store **ret, slp_memory *m, slp_host *h, const slp_table_spec *spec);

#endif
