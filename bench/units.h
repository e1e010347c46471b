/* units.h - the cost of DynamoDB requests, from the sizes of rows: DynamoDB's published rules, implemented a
 * second time and independently of the sandbox. Amounts are halves of a unit. */
#ifndef BENCH_UNITS_H
#define BENCH_UNITS_H

#include "lease/store.h"

size_t units_row_size(const slp_row *row); /* bytes, as DynamoDB counts an item */
/* The cost of a write is that of the larger of the row before and after; 0: there is none. A refused write
 * costs as much as the row that refused it. */
uint64_t units_write(size_t before, size_t after);
uint64_t units_get(size_t row, int consistent);   /* of one key; 0: no such row */
uint64_t units_list(size_t rows, int consistent); /* of all the rows of a query together */

#endif
