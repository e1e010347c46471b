/* sqlite_none.c - stands in for sqlite.c and sqlite_file.c in a build without SQLite (-Dsqlite=disabled).
 * Callers ask slp_sqlite_there() first and refuse a lease file with a message of their own. */
#include "store/sqlite.h"

#include "base/base.h"
#include "base/library.h"
#include "host/host.h"
#include "lease/store.h"

int slp_sqlite_there(void) { return 0; }
slp_library slp_sqlite_library(void) { return (slp_library){0}; }
int slp_sqlite_store(slp_store **ret, slp_host *h, const char *path, const slp_table_spec *table) {
  (void)h, (void)path, (void)table;
  *ret = NULL;
  return SLP_ENOENT;
}
