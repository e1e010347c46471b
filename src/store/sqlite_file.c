/* sqlite_file.c - opens and checks the SQLite file, reads and changes rows in it.
 *
 *   tables(name, hash_name, range_name)      one row for each table
 *   rows(tbl, hash, range, attrs)            attrs: the item in DynamoDB's JSON; range: '' if there is none
 *
 * A rollback journal makes the file safe against crashes. The folder of the file is synchronised too, so
 * that after a power cut no epoch is given out twice. A write-ahead log (WAL) is not used, because its
 * index, FILE-shm, is mapped memory. A process dies of SIGBUS if a file that it has mapped is truncated,
 * and `cp` truncates the file when somebody restores a backup. The price of the journal: a write costs
 * four or five synchronisations instead of one, and readers and writers exclude each other for a moment.
 *
 * Workers of version 0.1.0 switch the file to WAL when they open it. While one of them has the file open, the
 * file stays in WAL for all processes. SQLite leaves WAL only for a process that is alone with the file. So
 * while the file is in WAL, this program closes it after each request. The first process that finds itself
 * alone with the file switches it back.
 *
 * No function here waits for another process. If SQLite returns SQLITE_BUSY, the request ends with `busy`
 * set. */
#include "store/sqlite_file.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/library.h"
#include "base/mem.h"
#include "codec/json.h"
#include "host/err.h"
#include "host/os.h"
#include "lease/store.h"
#include "store/item.h"
#include "store/rows.h"
#include "store/sqlite.h"
#include "store/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sloop.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* the bytes "slop", which the command `file` shows as the file's application */
#define APPLICATION_ID 0x736c6f70
#define FORMAT 1
/* SQLite's virtual machine looks at `stop` after this many steps. A write takes some hundred steps. */
#define STOP_STEPS 10000
#define TABLES_SQL \
  "CREATE TABLE tables(name TEXT PRIMARY KEY, hash_name TEXT NOT NULL, range_name TEXT NOT NULL)"
#define ROWS_SQL                                                                                       \
  "CREATE TABLE rows(tbl TEXT NOT NULL, hash TEXT NOT NULL, range TEXT NOT NULL, attrs TEXT NOT NULL," \
  " PRIMARY KEY(tbl, hash, range))"
/* most bytes of an item's text: 400 KB with every byte escaped, or in base64 */
#define ITEM_TEXT_MAX (4u * 1024 * 1024)

struct slp_sqlite_file {
  slp_mem *mem;          /* slp_sqlite_file holds a reference */
  char *path;            /* owned */
  slp_table_spec *table; /* owned */
  sqlite3 *db;           /* NULL: the file is not open */
  struct stat opened;    /* the device and the inode of the file that was opened */
  slp_sqlite_ask *ask;   /* the request that is running; NULL: none */
  /* 1: a system error occurred. The connection keeps the errno of that error, which could be taken for the
   * cause of a later failure. So the connection is closed after this request. */
  uint8_t stained;
  _Atomic uint32_t answers;
  _Atomic uint8_t asked; /* 1: a thread is inside slp_sqlite_do */
};

slp_sqlite_file *slp_sqlite_file_new(slp_mem *mem, const char *path, const slp_table_spec *table) {
  slp_sqlite_file *f = SLP_NEW(mem, slp_sqlite_file);
  if (!f) return NULL;
  f->mem = slp_mem_hold(mem);
  f->path = slp_strdup(mem, slp_str_of(path));
  f->table = slp_table_copy(mem, table);
  if (f->path && f->table) return f;
  slp_sqlite_file_free(f);
  return NULL;
}

void slp_sqlite_file_close(slp_sqlite_file *f) {
  sqlite3_close(f->db);
  f->db = NULL;
  f->stained = 0;
}

void slp_sqlite_file_free(slp_sqlite_file *f) {
  slp_mem *mem = f->mem;
  SLP_CHECK(!f->db);
  slp_free(mem, f->path);
  slp_free(mem, f->table);
  slp_free(mem, f);
  slp_mem_drop(mem);
}

const char *slp_sqlite_file_path(const slp_sqlite_file *f) { return f->path; }
uint32_t slp_sqlite_file_answers(slp_sqlite_file *f) { return atomic_load(&f->answers); }
int slp_sqlite_file_asked(slp_sqlite_file *f) { return atomic_load(&f->asked); }

int slp_sqlite_there(void) { return 1; }
slp_library slp_sqlite_library(void) {
  return (slp_library){"sqlite", sqlite3_libversion(), (void (*)(void))sqlite3_libversion};
}

/* ---- what went wrong ----------------------------------------------------------------------------------- */
static const char *path_of(const slp_sqlite_ask *a) { return a->file->path; }

/* Returns the system error (errno) behind the SQLite error rc; 0: there is none. SQLite sets errno only for
 * SQLITE_IOERR and SQLITE_CANTOPEN, and keeps it while the connection is open. So with any other rc, the
 * errno belongs to an earlier failure. A rollback can clear the errno; then the last error of the database
 * file is used. */
static int system_error(slp_sqlite_file *f, int rc) {
  int os = 0, kind = rc & 0xff;
  if (!f->db || (kind != SQLITE_IOERR && kind != SQLITE_CANTOPEN)) return 0;
  f->stained = 1; /* the connection keeps this errno, so a later failure could show it */
  os = sqlite3_system_errno(f->db);
  if (!os && kind == SQLITE_IOERR) (void)sqlite3_file_control(f->db, "main", SQLITE_FCNTL_LAST_ERRNO, &os);
  return os;
}

/* Examines the folder of the file and its journal. If the file is a symbolic link, that is the folder of the
 * link's target, as for SQLite. Returns 0 if the folder exists. */
static int ask_folder(const slp_sqlite_file *f, struct statvfs *ret, int *ret_may_write) {
  const char *name = f->db ? sqlite3_db_filename(f->db, "main") : NULL;
  char folder[PATH_MAX] = "./";
  struct stat st;
  if (!name || !name[0]) {
    name = f->path;
    /* returns -1 for a symbolic link: SQLite has not opened its target, so the target does not exist */
    if (!lstat(name, &st) && S_ISLNK(st.st_mode)) return -1;
  }
  const char *slash = strrchr(name, '/');
  size_t n = slash ? (size_t)(slash + 1 - name) : 0;
  if (n >= sizeof folder) return -1;
  if (n) memcpy(folder, name, n), folder[n] = 0;
  *ret_may_write = faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) == 0;
  return statvfs(folder, ret);
}

/* Finds out why a file could not be created. If SQLite can't create a file, it tries to open it for
 * reading, and reports the error of this second try: no such file. If the folder exists, the true cause is
 * that the database or its journal could not be created. Returns 1 in this case, with a->fail set. */
static int is_not_made(slp_sqlite_ask *a) {
  const char *path = path_of(a);
  struct statvfs fs;
  struct stat st;
  int may_write = 0;
  if (ask_folder(a->file, &fs, &may_write)) return 0;
  if (fs.f_flag & ST_RDONLY)
    slp_fail_set(&a->fail, SLP_ACCESS, SLOOP_EACCESS, "lease file %.150s: its file system is read-only",
                 path);
  else if (!may_write)
    slp_fail_set(&a->fail, SLP_ACCESS, SLOOP_EACCESS,
                 "lease file %.150s: no permission to write in its folder, as user %u", path,
                 (unsigned)geteuid());
  /* f_blocks and f_files are 0 if the file system does not count blocks or files */
  else if ((fs.f_blocks && !fs.f_bavail) || (fs.f_files && !fs.f_favail))
    slp_fail_set(&a->fail, SLP_TRANSIENT, -ENOSPC, "lease file %.150s: the disk is full", path);
  else
    slp_fail_set(
        &a->fail, SLP_TRANSIENT, -ENOSPC,
        "lease file %.150s: %s can't be made: is the disk full, a quota used up, or the disk read-only?",
        path, stat(path, &st) ? "it" : "its journal beside it");
  return 1;
}

static int has_no_folder(const char *path) {
  char folder[PATH_MAX];
  struct stat st;
  const char *slash = strrchr(path, '/');
  size_t n = slash ? (size_t)(slash + 1 - path) : 0;
  if (!n || n >= sizeof folder) return 0;
  memcpy(folder, path, n);
  folder[n] = 0;
  return stat(folder, &st) != 0 && errno == ENOENT;
}

/* Sets a->fail for the SQLite error rc, in words that a user understands. */
static void explain_sqlite_error(slp_sqlite_ask *a, int rc) {
  sqlite3 *db = a->file->db;
  const char *path = path_of(a);
  slp_fail *f = &a->fail;
  int os = system_error(a->file, rc);
  switch (os == ENOSPC ? SQLITE_FULL : rc & 0xff) { /* a full disk is an I/O error for SQLite */
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      a->busy = 1;
      slp_fail_set(f, SLP_TRANSIENT, SLP_ETIMEDOUT, "lease file %.150s: another process keeps it locked",
                   path);
      break;
    case SQLITE_NOTADB:
      slp_fail_set(f, SLP_REFUSED, SLOOP_EREFUSED, "lease file %.150s: this is not a SQLite database", path);
      break;
    case SQLITE_CORRUPT:
      slp_fail_set(f, SLP_REFUSED, SLOOP_EREFUSED, "lease file %.150s is damaged: %.80s", path,
                   sqlite3_errmsg(db));
      break;
    case SQLITE_FULL:
      slp_fail_set(f, SLP_TRANSIENT, -ENOSPC, "lease file %.150s: the disk is full", path);
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      slp_fail_set(f, SLP_ACCESS, SLOOP_EACCESS, "lease file %.150s: no permission to write it or its folder",
                   path);
      break;
    case SQLITE_CANTOPEN:
      if (os == ENOENT && is_not_made(a)) break;
      if (os == EMFILE || os == ENFILE || os == ENOMEM || os == EINTR) {
        /* these errors go away by themselves */
        slp_fail_set(f, SLP_TRANSIENT, -os, "lease file %.150s can't be opened now: %s", path, strerror(os));
        break;
      }
      slp_fail_set(f, os == EACCES || os == EPERM ? SLP_ACCESS : SLP_REFUSED,
                   os == EACCES || os == EPERM ? SLOOP_EACCESS : SLOOP_EREFUSED,
                   "lease file %.150s can't be opened: %s", path,
                   os == ENOENT && has_no_folder(path) ? "its folder is not there"
                   : os                                ? slp_file_why(-os)
                                                       : "is the folder there?");
      break;
    case SQLITE_NOMEM: slp_table_no_memory(f); break;
    default:
      slp_fail_set(f, SLP_TRANSIENT, os ? -os : -EIO, "lease file %.150s: %.100s (SQLite %d, %s)", path,
                   db ? sqlite3_errmsg(db) : sqlite3_errstr(rc), rc, os ? strerror(os) : "no system error");
  }
}

/* Returns 0 if rc is no error. Otherwise sets a->fail and returns rc. */
static int check_sqlite_result(slp_sqlite_ask *a, int rc) {
  if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW) return 0;
  explain_sqlite_error(a, rc);
  return rc;
}

static int run_sql(slp_sqlite_ask *a, const char *sql) {
  return check_sqlite_result(a, sqlite3_exec(a->file->db, sql, NULL, NULL, NULL));
}

static int refuse_lease_file(slp_sqlite_ask *a, const char *what) {
  slp_fail_set(&a->fail, SLP_REFUSED, SLOOP_EREFUSED, "lease file %.150s: %s", path_of(a), what);
  return SQLITE_ERROR;
}

/* ---- statements ---------------------------------------------------------------------------------------- */
static sqlite3_stmt *prepare_statement(slp_sqlite_ask *a, const char *sql) {
  sqlite3_stmt *st = NULL;
  return check_sqlite_result(a, sqlite3_prepare_v2(a->file->db, sql, -1, &st, NULL)) ? NULL : st;
}

static int bind_text(slp_sqlite_ask *a, sqlite3_stmt *st, int at, slp_str s) {
  return check_sqlite_result(a, sqlite3_bind_text64(st, at, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8));
}

/* Steps to the next row of the result. Returns 1 if there is one, 0 after the last one, -1 with a->fail
 * set. */
static int step_to_next_row(slp_sqlite_ask *a, sqlite3_stmt *st) {
  int rc = sqlite3_step(st);
  if (rc == SQLITE_ROW) return 1;
  return check_sqlite_result(a, rc) ? -1 : 0;
}

static slp_str text_at(sqlite3_stmt *st, int column) {
  const char *p = (const char *)sqlite3_column_text(st, column);
  return (slp_str){p ? p : "", (size_t)sqlite3_column_bytes(st, column)};
}

/* Runs a query whose result is one number. Returns 0, or SQLITE_ERROR with a->fail set. */
static int query_number(slp_sqlite_ask *a, const char *sql, int64_t *ret) {
  sqlite3_stmt *st = prepare_statement(a, sql);
  if (!st) return SQLITE_ERROR;
  int r = step_to_next_row(a, st);
  if (r > 0) *ret = sqlite3_column_int64(st, 0);
  sqlite3_finalize(st);
  return r < 0 ? SQLITE_ERROR : 0;
}

/* ---- opening ------------------------------------------------------------------------------------------- */
/* Refuses a file on a network, because locks there are not reliable. */
static int on_this_machine(slp_sqlite_ask *a) {
  if (!slp_os_is_remote(path_of(a))) return 0;
  return refuse_lease_file(
      a, "it is on a network file system; processes of one machine share such a file, on a local disk");
}

static int is_stopped(void *arg) {
  slp_sqlite_file *f = arg;
  return f->ask && atomic_load(&f->ask->stop);
}

/* Prevents SQL code that is in the file (views, triggers, functions) from running, because anybody may have
 * written the file. Also installs the handler that looks at `stop`. */
static int run_nothing_of_it(slp_sqlite_ask *a) {
  static const int settings[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
  int r = 0;
  for (size_t i = 0; i < SLP_COUNT(settings) && !r; i++)
    r = check_sqlite_result(a, sqlite3_db_config(a->file->db, settings[i][0], settings[i][1], NULL));
  sqlite3_progress_handler(a->file->db, STOP_STEPS, is_stopped, a->file);
  return r;
}

/* Returns 1 if the file was in WAL when SQLite last read it. Does not read the file. */
static int is_in_wal(sqlite3 *db) {
  sqlite3_stmt *st = NULL;
  int r = sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &st, NULL) == SQLITE_OK &&
          sqlite3_step(st) == SQLITE_ROW && slp_str_is(text_at(st, 0), "wal");
  sqlite3_finalize(st);
  return r;
}

/* Switches the file from WAL to a rollback journal. While other processes have the file open in WAL,
 * SQLite returns SQLITE_BUSY. This is no failure, because the file can be used in WAL too. */
static int leave_wal(slp_sqlite_ask *a) {
  if (!run_sql(a, "PRAGMA journal_mode=DELETE")) return 0;
  if (!a->busy || !is_in_wal(a->file->db)) return SQLITE_ERROR;
  slp_fail_clear(&a->fail);
  a->busy = 0;
  return 0;
}

/* Checks that both tables are defined exactly as this program defines them, and that there are no triggers or
 * other indexes. A view could produce rows without end, and a trigger could write what no request asked
 * for. */
static int check_tables(slp_sqlite_ask *a) {
  int64_t made = 0;
  char text[160];
  sqlite3_stmt *st =
      prepare_statement(a,
                        "SELECT type, name FROM sqlite_schema WHERE lower(tbl_name) IN ('tables', 'rows')"
                        " AND sql NOT IN ('" TABLES_SQL "', '" ROWS_SQL "')");
  if (!st) return SQLITE_ERROR;
  int r = step_to_next_row(a, st);
  if (r > 0) {
    slp_str type = text_at(st, 0), name = text_at(st, 1);
    snprintf(text, sizeof text, "its %.10s \"%.80s\" was not made by this program", type.p, name.p);
    refuse_lease_file(a, text);
  }
  sqlite3_finalize(st);
  if (r ||
      query_number(a, "SELECT count(*) FROM sqlite_schema WHERE sql IN ('" TABLES_SQL "', '" ROWS_SQL "')",
                   &made))
    return SQLITE_ERROR;
  return made == 2 ? 0 : refuse_lease_file(a, "it lacks its table \"tables\" or \"rows\"");
}

/* Checks that this program created the file, in a format that it knows. *ret_empty 1: the file is empty, so
 * the caller must create the format. The caller must have begun a transaction, because another process could
 * create the format between two queries. */
static int check_format(slp_sqlite_ask *a, int *ret_empty) {
  int64_t id = 0, format = 0, things = 0;
  char text[120];
  if (query_number(a, "PRAGMA application_id", &id) || query_number(a, "PRAGMA user_version", &format) ||
      query_number(a, "SELECT count(*) FROM sqlite_schema", &things))
    return SQLITE_ERROR;
  *ret_empty = !things && !id;
  if (*ret_empty) return 0;
  if (id != APPLICATION_ID) return refuse_lease_file(a, "this SQLite database belongs to another program");
  if (format == FORMAT) return check_tables(a);
  snprintf(text, sizeof text, "its format is %lld, but this program knows only %d: newer workers use it",
           (long long)format, FORMAT);
  return refuse_lease_file(a, text);
}

static int make_format(slp_sqlite_ask *a) {
  return run_sql(a,
                 "PRAGMA application_id=0x736c6f70;"
                 "PRAGMA user_version=1;" TABLES_SQL ";" ROWS_SQL ";");
}

static void roll_back(slp_sqlite_ask *a) {
  /* ignores the result, because ROLLBACK fails only if SQLite has rolled back by itself */
  (void)sqlite3_exec(a->file->db, "ROLLBACK", NULL, NULL, NULL);
}

static int read_format(slp_sqlite_ask *a, int *ret_empty) {
  if (run_sql(a, "BEGIN")) return SQLITE_ERROR;
  if (!check_format(a, ret_empty) && !run_sql(a, "COMMIT")) return 0;
  roll_back(a);
  return SQLITE_ERROR;
}

static int open_checked(slp_sqlite_ask *a) {
  int empty = 0;
  if (on_this_machine(a) || run_nothing_of_it(a) || read_format(a, &empty) || leave_wal(a) ||
      run_sql(a, "PRAGMA synchronous=EXTRA"))
    return SQLITE_ERROR;
  if (!empty) return 0;
  if (run_sql(a, "BEGIN IMMEDIATE")) return SQLITE_ERROR;
  /* checks again, because another process may have created the format since read_format */
  if (!check_format(a, &empty) && (!empty || !make_format(a)) && !run_sql(a, "COMMIT")) return 0;
  roll_back(a);
  return SQLITE_ERROR;
}

/* Returns 1 if the path does not lead to the opened file any more, because the opened file was removed or
 * replaced. Other workers would never see what is written to it. */
static int is_another(const slp_sqlite_file *f) {
  struct stat now;
  return stat(f->path, &now) || now.st_ino != f->opened.st_ino || now.st_dev != f->opened.st_dev;
}

/* Remembers device and inode of the file that was opened. Returns 0, or SQLITE_ERROR with a->fail set. */
static int remember_file(slp_sqlite_ask *a) {
  if (!stat(path_of(a), &a->file->opened)) return 0;
  slp_fail_set(&a->fail, SLP_TRANSIENT, -errno, "lease file %.150s was opened and can't be found: %s",
               path_of(a), strerror(errno));
  return SQLITE_ERROR;
}

/* Returns 1 if the path is a FIFO or a device. SQLite would open it, and then report an error that hides the
 * cause. */
static int is_no_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Opens the file, unless it is open already. If `create` is 0, a missing file is not created. Returns 0,
 * or an error with a->fail set. */
static int open_file(slp_sqlite_ask *a, int create) {
  slp_sqlite_file *f = a->file;
  int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (create ? SQLITE_OPEN_CREATE : 0);
  if (f->db && is_another(f)) slp_sqlite_file_close(f);
  if (f->db) return 0;
  if (is_no_file(f->path)) return refuse_lease_file(a, "it is not a file");
  int rc = sqlite3_open_v2(f->path, &f->db, flags, NULL);
  if (rc == SQLITE_CANTOPEN && !create && f->db && sqlite3_system_errno(f->db) == ENOENT)
    slp_fail_set(&a->fail, SLP_GONE, SLP_ENOENT, "there is no lease file %.200s", f->path);
  else if (!check_sqlite_result(a, rc) && !open_checked(a) && !remember_file(a))
    return 0;
  slp_sqlite_file_close(f);
  return SQLITE_ERROR;
}

/* ---- tables -------------------------------------------------------------------------------------------- */
/* Looks up the table. Returns 1 if the table exists with the keys that the caller wants; 0 if it does not
 * exist; -1 with a->fail set on any failure. */
static int find_table(slp_sqlite_ask *a) {
  const slp_table_spec *t = a->file->table;
  sqlite3_stmt *st = prepare_statement(a, "SELECT hash_name, range_name FROM tables WHERE name=?1");
  if (!st) return -1;
  int r = bind_text(a, st, 1, slp_str_of(t->name)) ? -1 : step_to_next_row(a, st);
  if (r > 0) {
    const char *hash = (const char *)sqlite3_column_text(st, 0),
               *range = (const char *)sqlite3_column_text(st, 1);
    if (!hash || !range || strcmp(hash, t->hash_name) != 0 ||
        strcmp(range, t->range_name ? t->range_name : "") != 0) {
      slp_table_other_keys(&a->fail, t, hash ? hash : "", range ? range : "");
      r = -1;
    }
  }
  sqlite3_finalize(st);
  return r;
}

static int add_table(slp_sqlite_ask *a) {
  const slp_table_spec *t = a->file->table;
  sqlite3_stmt *st = prepare_statement(a, "INSERT INTO tables VALUES(?1,?2,?3)");
  if (!st) return -1;
  int r = bind_text(a, st, 1, slp_str_of(t->name)) || bind_text(a, st, 2, slp_str_of(t->hash_name)) ||
                  bind_text(a, st, 3, slp_str_of(t->range_name ? t->range_name : ""))
              ? -1
              : step_to_next_row(a, st);
  sqlite3_finalize(st);
  return r;
}

static void do_prepare(slp_sqlite_ask *a) {
  int there = find_table(a);
  if (there) return;
  if (!a->create) {
    slp_table_missing(&a->fail, a->file->table);
    return;
  }
  if (run_sql(a, "BEGIN IMMEDIATE")) return;
  there = find_table(a); /* looks again, because another process may have created the table since */
  int bad = there < 0 || (there == 0 && add_table(a) < 0) || run_sql(a, "COMMIT");
  if (bad) roll_back(a);
  a->created = !bad && there == 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */
/* Adds a row with only the key attributes, in place of a stored row that another program wrote and that
 * can't be read. The schema then reports this row as bad, and all other rows stay usable. */
static int key_alone(slp_sqlite_ask *a, const slp_row_key *key, slp_store_rows *rows) {
  const slp_table_spec *t = a->file->table;
  size_t n = t->range_name ? 2 : 1;
  slp_str names[2] = {slp_str_of(t->hash_name), slp_str_of(t->range_name ? t->range_name : "")};
  slp_str values[2] = {key->hash, key->range};
  slp_attr *attrs = slp_store_rows_get(rows, n * sizeof *attrs);
  for (size_t i = 0; attrs && i < n; i++) {
    attrs[i].name = slp_store_rows_text(rows, names[i]);
    attrs[i].val = (slp_val){.kind = SLP_VAL_S, .s = slp_store_rows_text(rows, values[i])};
    if (!attrs[i].name.p || !attrs[i].val.s.p) attrs = NULL;
  }
  return attrs ? slp_store_rows_add(rows, attrs, n) : SLP_ENOMEM;
}

/* Parses a stored row and adds it to `rows`. If the row can't be parsed, a GET or LIST gets a row with only
 * the key. A WRITE then fails, because it would have to write the row's other attributes back. Returns 0, or
 * an error with a->fail set. */
static int read_attrs(slp_sqlite_ask *a, slp_str attrs, const slp_row_key *key, slp_store_rows *rows) {
  slp_json j;
  size_t n = rows->n;
  slp_str text = slp_store_rows_text(rows, attrs); /* a copy, because parsing changes the text */
  int r = text.p ? 0 : SLP_ENOMEM;
  if (!r) {
    slp_json_begin(&j, (char *)(uintptr_t)text.p, text.n);
    r = slp_item_read(&j, rows);
    if (r == 1 && slp_json_next(&j) == SLP_JSON_END) return 0;
  }
  if (r != SLP_ENOMEM && a->kind == SLP_SQLITE_WRITE)
    return refuse_lease_file(a, "a row in it was written by something else and can't be read");
  if (r != SLP_ENOMEM) {
    rows->n = n;
    r = key_alone(a, key, rows);
  }
  if (!r) return 0;
  slp_table_no_memory(&a->fail);
  return SQLITE_NOMEM;
}

/* Reads the row with this key and adds it to `rows`. Returns 1 if there is one, 0 if there is none, -1 with
 * a->fail set. */
static int read_row(slp_sqlite_ask *a, sqlite3_stmt *st, const slp_row_key *key, slp_store_rows *rows) {
  int r = bind_text(a, st, 1, slp_str_of(a->file->table->name)) || bind_text(a, st, 2, key->hash) ||
                  bind_text(a, st, 3, key->range)
              ? -1
              : step_to_next_row(a, st);
  if (r > 0 && read_attrs(a, text_at(st, 0), key, rows)) r = -1;
  sqlite3_reset(st);
  return r;
}

#define SELECT_ROW "SELECT attrs FROM rows WHERE tbl=?1 AND hash=?2 AND range=?3"

static void do_get(slp_sqlite_ask *a) {
  sqlite3_stmt *st = prepare_statement(a, SELECT_ROW);
  if (!st) return;
  if (!run_sql(a, "BEGIN")) { /* one transaction, so that all rows are of the same moment */
    int r = 0;
    for (size_t i = 0; i < a->keys_n && r >= 0; i++) r = read_row(a, st, &a->keys[i], &a->out);
    roll_back(a);
  }
  sqlite3_finalize(st);
}

static int range_has_prefix(slp_str s, slp_str with) {
  return s.n >= with.n && (!with.n || memcmp(s.p, with.p, with.n) == 0);
}

/* Adds a row for each table of the file: its name, and the names of its keys. */
static void list_tables(slp_sqlite_ask *a) {
  static const char *const names[] = {"name", "hash_name", "range_name"};
  sqlite3_stmt *st = prepare_statement(a, "SELECT name, hash_name, range_name FROM tables ORDER BY name");
  while (st && step_to_next_row(a, st) > 0) {
    slp_attr *attrs = slp_store_rows_get(&a->out, SLP_COUNT(names) * sizeof *attrs);
    int r = attrs ? 0 : SLP_ENOMEM;
    for (size_t i = 0; !r && i < SLP_COUNT(names); i++) {
      attrs[i].name = slp_str_of(names[i]);
      attrs[i].val = (slp_val){.kind = SLP_VAL_S, .s = slp_store_rows_text(&a->out, text_at(st, (int)i))};
      if (!attrs[i].val.s.p) r = SLP_ENOMEM;
    }
    if (!r) r = slp_store_rows_add(&a->out, attrs, SLP_COUNT(names));
    if (r) slp_table_no_memory(&a->fail);
    if (r) break;
  }
  sqlite3_finalize(st);
}

static void do_list(slp_sqlite_ask *a) {
  int whole = !a->file->table->range_name || !a->hash.p;
  sqlite3_stmt *st = prepare_statement(
      a, whole ? "SELECT attrs, range, hash FROM rows WHERE tbl=?1 ORDER BY hash"
               : "SELECT attrs, range, hash FROM rows WHERE tbl=?1 AND hash=?2 AND range>=?3"
                 " ORDER BY range");
  if (!st) return;
  int r = bind_text(a, st, 1, slp_str_of(a->file->table->name));
  if (!r && !whole) r = bind_text(a, st, 2, a->hash);
  if (!r && !whole) r = bind_text(a, st, 3, a->prefix);
  while (!r && step_to_next_row(a, st) > 0) {
    if (!whole && !range_has_prefix(text_at(st, 1), a->prefix)) break;
    slp_row_key key = {text_at(st, 2), text_at(st, 1)};
    r = read_attrs(a, text_at(st, 0), &key, &a->out);
    atomic_fetch_add(&a->file->answers, 1);
    if (!r && a->out.bytes > slp_store_bytes_left(&a->bound))
      r = slp_table_too_long(&a->fail, a->file->table, &a->bound);
  }
  if (a->fail.class != SLP_FINE) slp_store_rows_free(&a->out);
  sqlite3_finalize(st);
}

static int put_row(slp_sqlite_ask *a, const slp_row *row) {
  slp_buf text;
  int r = -1;
  slp_buf_init(&text, a->in.mem, ITEM_TEXT_MAX);
  int q = slp_attrs_put(&text, row->attrs, row->n);
  if (q == SLP_ENOMEM) slp_table_no_memory(&a->fail);
  if (q && q != SLP_ENOMEM)
    slp_fail_set(&a->fail, SLP_REFUSED, SLOOP_EREFUSED, "a text in a row is not UTF-8");
  sqlite3_stmt *st = q ? NULL : prepare_statement(a, "INSERT OR REPLACE INTO rows VALUES(?1,?2,?3,?4)");
  if (st && !bind_text(a, st, 1, slp_str_of(a->file->table->name)) &&
      !bind_text(a, st, 2, a->write.key.hash) && !bind_text(a, st, 3, a->write.key.range) &&
      !bind_text(a, st, 4, slp_buf_str(&text)))
    r = step_to_next_row(a, st);
  sqlite3_finalize(st);
  slp_buf_free(&text);
  return r;
}

static int delete_row(slp_sqlite_ask *a) {
  sqlite3_stmt *st = prepare_statement(a, "DELETE FROM rows WHERE tbl=?1 AND hash=?2 AND range=?3");
  int r = -1;
  if (st && !bind_text(a, st, 1, slp_str_of(a->file->table->name)) &&
      !bind_text(a, st, 2, a->write.key.hash) && !bind_text(a, st, 3, a->write.key.range))
    r = step_to_next_row(a, st);
  sqlite3_finalize(st);
  return r;
}

/* Applies a->write to the row `old`, inside the transaction. Returns 0 if the transaction must be
 * committed. */
static int change_row(slp_sqlite_ask *a, const slp_row *old) {
  slp_store_write *w = &a->write;
  const char *why = "";
  if (!slp_rows_hold(old, w->when, w->when_n)) {
    w->written = SLP_WRITTEN_REFUSED;
    w->image_known = 1;
    if (!old || !slp_store_rows_copy(&a->out, old)) return 0;
    slp_table_no_memory(&a->fail);
    return SQLITE_NOMEM;
  }
  w->written = SLP_WRITTEN_YES;
  if (w->kind == SLP_WRITE_DELETE) return delete_row(a);
  int r = slp_rows_change(&a->out, old, a->file->table, w, &why);
  if (r == SLP_EINVAL) slp_fail_set(&a->fail, SLP_REFUSED, SLOOP_EREFUSED, "%s", why);
  if (r && r != SLP_EINVAL) slp_table_no_memory(&a->fail);
  if (r || put_row(a, &a->out.rows[0])) return SQLITE_ERROR;
  w->image_known = w->kind == SLP_WRITE_UPDATE;
  if (!w->image_known) slp_store_rows_free(&a->out);
  return 0;
}

static int write_in_transaction(slp_sqlite_ask *a) {
  slp_store_rows before;
  slp_store_rows_init(&before, a->in.mem);
  sqlite3_stmt *st = prepare_statement(a, SELECT_ROW);
  int found = st ? read_row(a, st, &a->write.key, &before) : -1;
  sqlite3_finalize(st);
  int r = found < 0 ? SQLITE_ERROR : change_row(a, found ? &before.rows[0] : NULL);
  slp_store_rows_free(&before);
  if (!r) r = run_sql(a, "COMMIT");
  return r;
}

static void do_write(slp_sqlite_ask *a) {
  if (run_sql(a, "BEGIN IMMEDIATE") || !write_in_transaction(a)) return;
  roll_back(a);
  slp_store_rows_free(&a->out);
  a->write.written = SLP_WRITTEN_NOT_SURE;
  a->write.image_known = 0;
}

static void do_kind(slp_sqlite_ask *a) {
  slp_fail_clear(&a->fail);
  a->busy = 0;
  a->write.written = SLP_WRITTEN_NOT_SURE;
  slp_store_rows_free(&a->out);
  if (open_file(a, a->kind == SLP_SQLITE_PREPARE && a->create)) return;
  if (a->kind == SLP_SQLITE_PREPARE) {
    do_prepare(a);
    return;
  }
  if (a->kind == SLP_SQLITE_LIST && !*a->file->table->name) {
    list_tables(a);
    return;
  }
  int there = find_table(a);
  if (there == 0) slp_table_missing(&a->fail, a->file->table);
  if (there <= 0) return;
  if (a->kind == SLP_SQLITE_GET) do_get(a);
  if (a->kind == SLP_SQLITE_LIST) do_list(a);
  if (a->kind == SLP_SQLITE_WRITE) do_write(a);
}

void slp_sqlite_do(slp_sqlite_ask *a) {
  slp_sqlite_file *f = a->file;
  atomic_store(&f->asked, 1);
  f->ask = a;
  do_kind(a);
  f->ask = NULL;
  if (f->db && (f->stained || is_in_wal(f->db))) slp_sqlite_file_close(f);
  atomic_fetch_add(&f->answers, 1);
  /* must come last: a thread that reads 0 then also sees the answer that was counted before */
  atomic_store(&f->asked, 0);
}
