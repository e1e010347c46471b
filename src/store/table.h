/* table.h - a store's copy of the name and keys of its table, and the failures that all stores have in
 * common. */
#ifndef SLP_STORE_TABLE_H
#define SLP_STORE_TABLE_H

#include "lease/store.h"

/* Makes a deep copy in one block, to be freed with slp_free. NULL: no memory. */
slp_table_spec *slp_table_copy(slp_mem *mem, const slp_table_spec *table);
/* Sets f: the table has other keys. `range` is "" if it has no range key. */
void slp_table_other_keys(slp_fail *f, const slp_table_spec *want, const char *hash, const char *range);
void slp_table_missing(slp_fail *f, const slp_table_spec *want);
/* Sets f: a list of its rows would keep more memory than it may. Returns SLP_ELIMIT. */
int slp_table_too_long(slp_fail *f, const slp_table_spec *table, const slp_store_bound *bound);
void slp_table_no_memory(slp_fail *f);

#endif
