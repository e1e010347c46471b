/* table.h - a store's copy of the name and keys of its table, and the failures that all kinds of store
 * share. */
#ifndef SLP_STORE_TABLE_H
#define SLP_STORE_TABLE_H

#include "base/fail.h"
#include "base/mem.h"
#include "lease/store.h"

/* Returns a deep copy in one block, which the caller frees with slp_free; NULL if there is no memory. */
slp_table_spec *slp_table_copy(slp_mem *mem, const slp_table_spec *table);
/* Sets f to the failure that the table has other keys than `want`. hash, range: the keys that it has; range
 * "": it has no range key. */
void slp_table_other_keys(slp_fail *f, const slp_table_spec *want, const char *hash, const char *range);
/* Sets f to the failure that the table does not exist. */
void slp_table_missing(slp_fail *f, const slp_table_spec *want);
/* Sets f to the failure that the rows of a list would take more memory than `bound` allows. Returns
 * SLP_ELIMIT. */
int slp_table_too_long(slp_fail *f, const slp_table_spec *table, const slp_store_bound *bound);
/* Sets f to the failure that there is no memory for a request. */
void slp_table_no_memory(slp_fail *f);

#endif
