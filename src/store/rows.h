/* rows.h - checks conditions and applies changes to rows as DynamoDB does, for the stores that have no
 * server: SQLite and memory. Does no I/O. */
#ifndef SLP_STORE_ROWS_H
#define SLP_STORE_ROWS_H

#include "lease/store.h"

/* Returns 1 if a and b are equal. Numbers are compared by value. A value of kind SLP_VAL_NONE equals
 * nothing. */
int slp_val_equal(const slp_val *a, const slp_val *b);
/* Returns 1 if the row satisfies the condition `when`. row NULL: there is no row. */
int slp_rows_hold(const slp_row *row, const slp_atom *when, size_t when_n);

/* Applies the write w to `row`, and adds the resulting row to `to`. The new row does not point into `row`.
 * row NULL: there is no row yet. Must not be called for a delete. Returns 0, SLP_ENOMEM, or SLP_EINVAL
 * with the reason in *ret_why: a sum with a value that is no number or with more than 38 digits, a set
 * operation on another kind of value, a changed key, or a row of more than 400 KB. */
int slp_rows_change(slp_store_rows *to, const slp_row *row, const slp_table_spec *table,
                    const slp_store_write *w, const char **ret_why);
/* Returns the size of a row by DynamoDB's rules: the bytes of all names and values. A number has the size
 * of its text. */
size_t slp_row_size(const slp_row *row);

#endif
