/* sqlite_file.h - requests to the file of leases, each in a transaction. All functions except _new and _free
 * may block, and run on a thread. */
#ifndef SLP_STORE_SQLITE_FILE_H
#define SLP_STORE_SQLITE_FILE_H

#include "lease/store.h"

#include <stdatomic.h>

typedef struct slp_sqlite_file slp_sqlite_file;
slp_sqlite_file *slp_sqlite_file_new(slp_mem *mem, const char *path,
                                     const slp_table_spec *table); /* NULL: no memory */
void slp_sqlite_file_close(slp_sqlite_file *f);
void slp_sqlite_file_free(slp_sqlite_file *f); /* must be closed */
const char *slp_sqlite_file_path(const slp_sqlite_file *f);
/* Counts the answers of the file: requests, and rows of a list. The loop may call this while a thread uses
 * the file. */
uint32_t slp_sqlite_file_answers(slp_sqlite_file *f);
/* a thread is working on the file now; the loop may call this too */
int slp_sqlite_file_asked(slp_sqlite_file *f);

typedef enum { SLP_SQLITE_PREPARE, SLP_SQLITE_GET, SLP_SQLITE_LIST, SLP_SQLITE_WRITE } slp_sqlite_kind;

typedef struct slp_sqlite_ask {
  slp_sqlite_kind kind;
  slp_sqlite_file *file;
  slp_store_rows in; /* holds all that the request points to */
  uint8_t create;    /* PREPARE */
  const slp_row_key *keys;
  size_t keys_n;
  slp_str hash, prefix; /* LIST */
  slp_store_bound bound;
  slp_store_write write; /* in: key, kind, condition and changes. Out: the outcome */
  _Atomic uint8_t stop;  /* set by the loop while a thread runs it: nobody waits any more, so end soon */

  slp_fail fail;
  uint8_t busy; /* another process has locked the file: nothing was done, try again later; `fail` says so */
  uint8_t created;
  slp_store_rows out; /* rows, or the image of a write */
} slp_sqlite_ask;
void slp_sqlite_do(slp_sqlite_ask *a);

#endif
