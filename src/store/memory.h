/* memory.h - leases in this process: tables that several consumers share, freed with the last of them. */
#ifndef SLP_STORE_MEMORY_H
#define SLP_STORE_MEMORY_H

#include "lease/store.h"

typedef struct slp_memory slp_memory;     /* the tables; one thread only */
slp_memory *slp_memory_new(slp_mem *mem); /* with one hold; NULL: no memory */
void slp_memory_drop(slp_memory *m);      /* freed when its stores are closed too; NULL is fine */
/* A handle on one of its tables. Copies the names. SLP_ENOMEM. */
int slp_memory_store(slp_store **ret, slp_memory *m, slp_host *h, const slp_table_spec *spec);

#endif
