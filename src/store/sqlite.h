/* sqlite.h - keeps leases in a SQLite file, for many processes on one machine. Everything that touches the
 * file runs outside the loop. The file can be read with the command `sqlite3`. */
#ifndef SLP_STORE_SQLITE_H
#define SLP_STORE_SQLITE_H

#include "lease/store.h"

/* Returns 1 if this library was built with SQLite. Otherwise slp_sqlite_store returns SLP_ENOENT. */
int slp_sqlite_there(void);
/* Makes a store on one table in the file. The first `prepare` that may create makes the file if it does not
 * exist. Does no I/O itself, and copies the names. Returns 0, SLP_ENOMEM or SLP_ENOENT. */
int slp_sqlite_store(slp_store **ret, slp_host *h, const char *path, const slp_table_spec *table);
/* For tests: returns 1 if a file system of this type (statfs) is reached over a network. */
int slp_sqlite_network_fs(uint64_t type);

#endif
