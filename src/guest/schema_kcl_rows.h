/* schema_kcl_rows.h - the rows that KCL 3 keeps beside its leases, read: in the table of leases itself (3.5
 * and later), or in the two tables that 3.0 to 3.4 had for them. */
#ifndef SLP_GUEST_SCHEMA_KCL_ROWS_H
#define SLP_GUEST_SCHEMA_KCL_ROWS_H

#include "lease/schema.h"

/* A row that is no lease. f is zeroed; it stays of kind OTHER when it is none that is understood. */
void slp_kcl_read_other(const slp_row *row, slp_parsed_row *f);

#endif
