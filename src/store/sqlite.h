/* sqlite.h - a store (lease/store.h) that keeps leases in a SQLite file, for many processes on one
 * machine. Every access to the file runs on a worker thread, not in the event loop. The command `sqlite3`
 * can read the file. */
#ifndef SLP_STORE_SQLITE_H
#define SLP_STORE_SQLITE_H

#include "base/library.h"
#include "host/host.h"
#include "lease/store.h"

/* Returns 1 if this library was built with SQLite. If it returns 0, slp_sqlite_store returns SLP_ENOENT. */
int slp_sqlite_there(void);
slp_library slp_sqlite_library(void); /* the one that runs; its name is NULL if there is none */
/* Creates a store for one table in the file; copies the names in `table`. A list request without a hash
 * key returns all rows of the table. If the table's name is "", a list request returns a row for each
 * table of the file, with the texts name, hash_name and range_name. This function does not touch the file.
 * If the file does not exist, the first request `prepare` with `create` 1 creates it. Returns 0,
 * SLP_ENOMEM or SLP_ENOENT. */
int slp_sqlite_store(slp_store **ret, slp_host *h, const char *path, const slp_table_spec *table);

#endif
