/* memory.h - keeps leases in this process, in tables that several consumers share. The last consumer frees
 * the tables. */
#ifndef SLP_STORE_MEMORY_H
#define SLP_STORE_MEMORY_H

#include "lease/store.h"

typedef struct slp_memory slp_memory;     /* the tables; used by one thread only */
slp_memory *slp_memory_new(slp_mem *mem); /* with one reference; NULL: no memory */
void slp_memory_drop(slp_memory *m);      /* frees it when all its stores are closed too; m may be NULL */
/* Makes a store on one of its tables. Copies the names. Returns 0 or SLP_ENOMEM. */
int slp_memory_store(slp_store **ret, slp_memory *m, slp_host *h, const slp_table_spec *spec);

#endif
