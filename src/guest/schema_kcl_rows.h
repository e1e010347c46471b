/* schema_kcl_rows.h - reads those rows of KCL 3 that are not leases. KCL 3.5 and later have them in the
 * table of leases. KCL 3.0 to 3.4 have two further tables for them. (schema_kcl_rows.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_ROWS_H
#define SLP_GUEST_SCHEMA_KCL_ROWS_H

#include "lease/schema.h"

/* Reads a row that is no lease into *f. The caller has zeroed *f, and set f->key if the row has a
 * leaseKey. If the row is of no kind known here, f->kind stays OTHER. */
void slp_kcl_read_other(const slp_row *row, slp_parsed_row *f);

#endif
