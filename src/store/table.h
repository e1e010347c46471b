/* table.h - the name and keys of a store's table, copied by the store, and the failure that all stores
 * share. */
#ifndef SLP_STORE_TABLE_H
#define SLP_STORE_TABLE_H

#include "lease/store.h"

/* A deep copy in one block, freed with slp_free. NULL: no memory. */
slp_table_spec *slp_table_copy(slp_mem *mem, const slp_table_spec *table);
/* Sets f: the table has other keys. range: "" when there is none. */
void slp_table_other_keys(slp_fail *f, const slp_table_spec *want, const char *hash, const char *range);
void slp_table_missing(slp_fail *f, const slp_table_spec *want);
/* A list of its rows would keep more than it may. Returns SLP_ELIMIT. */
int slp_table_too_long(slp_fail *f, const slp_table_spec *table, const slp_store_bound *bound);
void slp_table_no_memory(slp_fail *f);

#endif
