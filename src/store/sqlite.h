/* sqlite.h - leases in a SQLite file: for many processes on one machine. Everything that touches the file
 * runs off the loop; the schema is meant to be read with `sqlite3`. */
#ifndef SLP_STORE_SQLITE_H
#define SLP_STORE_SQLITE_H

#include "lease/store.h"

/* 1: built with SQLite. Without it slp_sqlite_store says SLP_ENOENT. */
int slp_sqlite_there(void);
/* A handle on one table in the file, which is made when it is not there, at the first `prepare` that may
 * create. Does no I/O. Copies the names. SLP_ENOMEM, SLP_ENOENT. */
int slp_sqlite_store(slp_store **ret, slp_host *h, const char *path, const slp_table_spec *table);
/* For tests: 1 when a file system of that type (statfs) is reached over a network. */
int slp_sqlite_network_fs(uint64_t type);

#endif
