/* rows.h - checks conditions and changes rows as DynamoDB would, for the stores that are not DynamoDB.
 * Pure. */
#ifndef SLP_STORE_ROWS_H
#define SLP_STORE_ROWS_H

#include "lease/store.h"

/* numbers are compared by value; NONE equals nothing */
int slp_val_equal(const slp_val *a, const slp_val *b);
/* Returns 1 if the condition holds for the row, which is NULL if it does not exist. */
int slp_rows_hold(const slp_row *row, const slp_atom *when, size_t when_n);

/* Adds the row that a write leaves behind to `to`. `row` is the old row, or NULL if there was none; the new
 * one does not point into it. Returns 0, SLP_ENOMEM, or SLP_EINVAL with the reason in *ret_why: a sum with a
 * value that is not a number, more than 38 digits, a set operation on another kind, a changed key, or more
 * than 400 KB. Not for deletes. */
int slp_rows_change(slp_store_rows *to, const slp_row *row, const slp_table_spec *table,
                    const slp_store_write *w, const char **ret_why);
/* Returns the size of names and values by the service's rules; numbers count as their text. */
size_t slp_row_size(const slp_row *row);

#endif
