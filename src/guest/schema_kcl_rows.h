/* schema_kcl_rows.h - reads the rows of KCL 3 that are not leases. KCL 3.5 and later have them in the table
 * of leases, KCL 3.0 to 3.4 in two further tables. (schema_kcl_rows.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_ROWS_H
#define SLP_GUEST_SCHEMA_KCL_ROWS_H

#include "lease/schema.h"
#include "lease/store.h"

/* Reads a row that is no lease into *f. The caller must have zeroed *f, and set f->key if the row has a
 * leaseKey. If the row is of no known kind, f->kind stays OTHER. */
void slp_kcl_read_other(const slp_row *row, slp_parsed_row *f);

#endif
