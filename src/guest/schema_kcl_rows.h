/* schema_kcl_rows.h - reads the rows that KCL 3 keeps beside its leases. KCL 3.5 and later keep them in the
 * table of leases itself; KCL 3.0 to 3.4 have two tables for them. (schema_kcl_rows.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_ROWS_H
#define SLP_GUEST_SCHEMA_KCL_ROWS_H

#include "lease/schema.h"

/* Reads a row that is no lease into f. f must be zeroed, with its key set if the row has a leaseKey; its kind
 * stays OTHER if the row is none of those known here. */
void slp_kcl_read_other(const slp_row *row, slp_parsed_row *f);

#endif
