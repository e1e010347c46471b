/* rows.h - checks conditions and changes rows as DynamoDB would, for the stores that are not DynamoDB.
 * Pure. */
#ifndef SLP_STORE_ROWS_H
#define SLP_STORE_ROWS_H

#include "lease/store.h"

int slp_val_equal(const slp_val *a, const slp_val *b); /* numbers by value; NONE equals nothing */
/* 1: the condition holds for the row (NULL: there is none). */
int slp_rows_hold(const slp_row *row, const slp_atom *when, size_t when_n);

/* Makes the row that a write leaves behind (row NULL: there was none): one more row in `to`, which shares
 * nothing with the old one. 0; SLP_ENOMEM; SLP_EINVAL: the change can't be made (a sum with a value that is
 * no number, more than 38 digits, a change of a value that is no set, a changed key), and *ret_why says why.
 * Not for deletes. */
int slp_rows_change(slp_store_rows *to, const slp_row *row, const slp_table_spec *table,
                    const slp_store_write *w, const char **ret_why);
/* The row of that key has the attributes of its key; the service's limit is 400 KB. */
size_t slp_row_size(const slp_row *row); /* names and values, by the service's rules; numbers by their text */

#endif
