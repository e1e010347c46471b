/* sqlite_none.c - stands in for sqlite_file.c if the library is built without SQLite. Every request fails
 * with a message that says so. */
#include "base/fail.h"
#include "base/mem.h"
#include "lease/store.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"

int slp_sqlite_there(void) { return 0; }
int slp_sqlite_network_fs(uint64_t type) { return (void)type, 0; }
slp_sqlite_file *slp_sqlite_file_new(slp_mem *mem, const char *path, const slp_table_spec *table) {
  return (void)mem, (void)path, (void)table, NULL;
}
void slp_sqlite_file_close(slp_sqlite_file *f) { (void)f; }
void slp_sqlite_file_free(slp_sqlite_file *f) { (void)f; }
const char *slp_sqlite_file_path(const slp_sqlite_file *f) { return (void)f, ""; }
uint32_t slp_sqlite_file_answers(slp_sqlite_file *f) { return (void)f, 0; }
void slp_sqlite_do(slp_sqlite_ask *a) {
  slp_fail_set(&a->fail, SLP_REFUSED, SLP_ENOENT, "built without SQLite");
}
