/* sqlite_none.h - what a user is told who asks for a lease file where slp_sqlite_there() is 0. A header of
 * its own, because the command can't include sqlite.h. */
#ifndef SLP_STORE_SQLITE_NONE_H
#define SLP_STORE_SQLITE_NONE_H

#define SLP_SQLITE_NONE \
  "this build has no SQLite: build sloop with -Dsqlite=enabled, or keep leases in DynamoDB"

#endif
