/* app_rows.h - finds the applications in the rows of a lease table, of any layout. Pure. */
#ifndef SLP_API_APP_ROWS_H
#define SLP_API_APP_ROWS_H

#include "base/mem.h"

#include <stdint.h>

/* Only declared here, so that the command can include this file without seeing the store. */
struct slp_store_rows;

typedef struct slp_found_app {
  /* schema: the name of the layout of the rows. If no row shows it, because the table is empty or could not
   * be read: the names of all layouts with the table's keys, joined with "or". stream: "" if the rows do not
   * name it. table: the table that the rows are in. */
  const char *app, *schema, *stream, *table;
  /* how many workers are alive according to their rows; -1: rows do not show which workers live */
  int64_t workers;
  int64_t owners;    /* how many workers the leases name */
  int64_t leases;    /* shards that were not read to their end, as far as the rows show */
  int64_t behind_ms; /* how far the worst living worker is behind the tip; -1: not known */
  uint8_t drained;   /* 1: an operator has drained the application, and no worker reads (lease/hold.h) */
  uint8_t draining;  /* 1: an operator drains the application, and a worker has not stopped reading yet */
  /* why the rows could not be read; then only `table` and `schema` are known. "": they were read */
  const char *why;
} slp_found_app;

/* Calls `tell` for each application in the rows of a table with these keys. range "": the table has no range
 * key. wall_ms: the present time. Returns 0 or SLP_ENOMEM. */
int slp_app_rows_tell(slp_mem *mem, const char *table, const char *hash, const char *range,
                      const struct slp_store_rows *rows, int64_t wall_ms,
                      void (*tell)(void *arg, const slp_found_app *app), void *arg);

#endif
