/* sqlite_file.h - requests to the SQLite file that has the leases; each is a transaction of its own.
 * slp_sqlite_file_close and slp_sqlite_do may block, so they are called on a worker thread. All other
 * functions return at once. */
#ifndef SLP_STORE_SQLITE_FILE_H
#define SLP_STORE_SQLITE_FILE_H

#include "base/fail.h"
#include "base/mem.h"
#include "lease/store.h"

#include <stdatomic.h>

typedef struct slp_sqlite_file slp_sqlite_file;
slp_sqlite_file *slp_sqlite_file_new(
    slp_mem *mem, const char *path,
    const slp_table_spec *table); /* creates the object; the file is not opened yet. NULL: no memory */
void slp_sqlite_file_close(slp_sqlite_file *f);
void slp_sqlite_file_free(slp_sqlite_file *f); /* frees the object; the file must be closed */
const char *slp_sqlite_file_path(const slp_sqlite_file *f);
/* Returns how many answers the file has given: each finished request counts, and each row of a list. May be
 * called by the event loop while a thread uses the file. */
uint32_t slp_sqlite_file_answers(slp_sqlite_file *f);
/* Returns 1 while a thread is inside slp_sqlite_do. May be called by the event loop at any time. */
int slp_sqlite_file_asked(slp_sqlite_file *f);

typedef enum { SLP_SQLITE_PREPARE, SLP_SQLITE_GET, SLP_SQLITE_LIST, SLP_SQLITE_WRITE } slp_sqlite_kind;

typedef struct slp_sqlite_ask {
  slp_sqlite_kind kind;
  slp_sqlite_file *file;
  slp_store_rows in; /* owns everything that the request points to */
  uint8_t create;    /* with PREPARE: 1 if a missing file or table is created */
  const slp_row_key *keys;
  size_t keys_n;
  /* LIST: the hash key of the rows, and the prefix of their range keys. hash.p NULL: all rows of the table */
  slp_str hash, prefix;
  slp_store_bound bound;
  slp_store_write write; /* WRITE: its key, kind, condition and changes; out: the outcome */
  /* Set by the event loop while a thread runs the request: the request was cancelled or has failed, so it
   * should end soon. */
  _Atomic uint8_t stop;

  slp_fail fail;
  /* out: 1 if another process has locked the file. Then nothing was done, `fail` is set, and the request
   * may be tried again. */
  uint8_t busy;
  uint8_t created;
  slp_store_rows out; /* out: the rows that a GET or LIST has found, or the row that a WRITE returns */
} slp_sqlite_ask;
/* Runs the request a and sets its out members. Must be called on a worker thread. */
void slp_sqlite_do(slp_sqlite_ask *a);

#endif
