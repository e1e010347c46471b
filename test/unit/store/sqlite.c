/* store/sqlite.c on a host that does the work at once; threads, processes and damaged files are the
 * integration tests'. */
#include "store/sqlite.h"

#include <errno.h>
#include <sloop.h>
#include <sqlite3.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "aws_fake_host.h"
#include "scarce.h"
#include "store/sqlite_file.h"

/* The program's stat, instead of libc's: the n-th one fails, or the next one stands still until disk_goes_on. */
static int stats_left = -1;
static atomic_int disk_stands;
static sem_t disk_asked, disk_goes_on;
int stat(const char *restrict name, struct stat *restrict st) {
  if (atomic_exchange(&disk_stands, 0)) {
    CHECK_INT(sem_post(&disk_asked), 0);
    while (sem_wait(&disk_goes_on)) CHECK_INT(errno, EINTR);
  }
  if (stats_left == 0) {
    errno = EACCES;
    return -1;
  }
  if (stats_left > 0) stats_left--;
  return fstatat(AT_FDCWD, name, st, 0);
}

/* The program's statvfs: a file system as a test wants it. */
static struct statvfs *told_fs;
int statvfs(const char *restrict name, struct statvfs *restrict fs) {
  int fd = open(name, O_PATH | O_CLOEXEC), r = fd < 0 ? -1 : fstatvfs(fd, fs);
  if (fd >= 0) close(fd);
  if (!r && told_fs) *fs = *told_fs;
  return r;
}

/* SQLite's open, of files whose name ends so. `making`: only those that may make the file. */
static struct {
  const char *end;
  int error, making;
} open_fails;
static int failing_open(const char *name, int flags, int mode) {
  size_t n = strlen(name), end = open_fails.end ? strlen(open_fails.end) : 0;
  if (end && n >= end && !strcmp(name + n - end, open_fails.end) && (!open_fails.making || flags & O_CREAT)) {
    errno = open_fails.error;
    return -1;
  }
  return open(name, flags, mode);
}
static void opens_fail(const char *end, int error, int making) {
  sqlite3_vfs *v = sqlite3_vfs_find(NULL);
  open_fails.end = end, open_fails.error = error, open_fails.making = making;
  CHECK_INT(v->xSetSystemCall(v, "open", end ? (sqlite3_syscall_ptr)failing_open : NULL), SQLITE_OK);
}

static const slp_table_spec table = {"leases", "app", "row"}, other = {"others", "app", NULL};
static int done;
static void on_done(slp_store_req *rq) {
  CHECK(!rq->impl);
  done++;
}

static char path[100];
static void begin(fake_host *f, slp_mem **mem) {
  char dir[] = "/tmp/sloop-sqlite-XXXXXX";
  CHECK(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/l.db", dir);
  *mem = slp_mem_new(NULL, NULL);
  fake_init(f, *mem);
}
static void end(fake_host *f, slp_mem *mem) {
  fake_end(f, mem);
  unlink(path);
  *strrchr(path, '/') = 0;
  CHECK_INT(rmdir(path), 0); /* the log went with the last one who had the file open */
}

static slp_store_prepare prepare(fake_host *f, slp_store *s) {
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  done = 0;
  s->ops->prepare(s, &p);
  CHECK_INT(done, 0);
  fake_run(f, 1000);
  CHECK_INT(done, 1);
  return p;
}

static slp_store *opened(fake_host *f) {
  slp_store *s;
  CHECK_INT(slp_sqlite_store(&s, &f->h, path, &table), 0);
  return s;
}
static slp_store *begin_prepared(fake_host *f, slp_mem **mem) {
  begin(f, mem);
  slp_store *s = opened(f);
  CHECK_INT(prepare(f, s).rq.fail.class, SLP_FINE);
  return s;
}
static void closed(fake_host *f, slp_store *s) {
  s->ops->close(s);
  fake_run(f, 1000);
}
static void end_closed(fake_host *f, slp_mem *mem, slp_store *s) {
  closed(f, s);
  end(f, mem);
}

/* Another program: its own connection to the file. */
static void other_does(const char *sql) {
  sqlite3 *db;
  CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
  CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

TEST(tables_share_a_file_and_rows_stay) {
  fake_host f;
  slp_mem *mem;
  begin(&f, &mem);
  for (int again = 0; again < 2; again++) {
    slp_store *a, *b;
    CHECK(slp_sqlite_there());
    CHECK_INT(slp_sqlite_store(&a, &f.h, path, &table), 0);
    CHECK_INT(slp_sqlite_store(&b, &f.h, path, &other), 0);
    slp_store_prepare p = prepare(&f, a);
    CHECK(p.rq.fail.class == SLP_FINE && p.created == !again);
    p = prepare(&f, b);
    CHECK(p.rq.fail.class == SLP_FINE && p.created == !again);
    slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
    slp_store_write w = {
        .rq = {.on_done = on_done}, .key = {SLP_STR("a"), SLP_STR("r")}, .changes = &c, .changes_n = 1};
    slp_store_rows_init(&w.image, mem);
    a->ops->write(a, &w);
    fake_run(&f, 1000);
    CHECK_INT(w.written, SLP_WRITTEN_YES);
    CHECK_INT(slp_row_int(&w.image.rows[0], SLP_STR("n"), 0), again + 1);
    slp_store_rows_free(&w.image);
    CHECK_INT(a->cost.write_calls, 1);
    a->ops->close(a);
    b->ops->close(b);
  }
  end(&f, mem);
}

TEST(what_is_asked_may_change_as_soon_as_it_was_sent) {
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  char text[] = "value", name[] = "name", row[] = "row 1";
  slp_change c = {{name, 4}, SLP_SET, {.kind = SLP_VAL_S, .s = {text, 5}}};
  slp_store_write w = {
      .rq = {.on_done = on_done}, .key = {SLP_STR("a"), {row, 5}}, .changes = &c, .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  memset(text, 'x', 5), memset(name, 'x', 4), memset(row, 'x', 5), memset(&c, 0, sizeof c);
  fake_run(&f, 1000);
  CHECK_INT(w.written, SLP_WRITTEN_YES);
  CHECK(slp_str_is(slp_row_text(&w.image.rows[0], SLP_STR("name")), "value"));
  CHECK(slp_str_is(slp_row_text(&w.image.rows[0], SLP_STR("row")), "row 1"));
  slp_store_rows_free(&w.image);
  s->ops->close(s);
  end(&f, mem);
}

TEST(without_memory_there_is_no_store_and_nothing_of_it_is_left) {
  fake_host f;
  scarce memory = {.left = -1, .once = 1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  int r = SLP_ENOMEM;
  fake_init(&f, mem);
  for (long n = 0; r; n++) {
    slp_store *s = NULL;
    size_t before = mem->live_blocks;
    CHECK(n < 20);
    memory.left = n; /* this one alone fails */
    r = slp_sqlite_store(&s, &f.h, "/nonexistent/leases", &table);
    CHECK_INT(r, s ? 0 : SLP_ENOMEM);
    CHECK(n > 0 || r);
    if (s) s->ops->close(s);
    memory.left = -1;
    fake_run(&f, 1000);
    CHECK_INT(mem->live_blocks, before);
  }
  fake_end(&f, mem);
}

static slp_store_write add_row(fake_host *f, slp_mem *mem, slp_store *s, const char *range) {
  slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
  slp_store_write w = {
      .rq = {.on_done = on_done}, .key = {SLP_STR("a"), slp_str_of(range)}, .changes = &c, .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  fake_run(f, 1000);
  slp_store_rows_free(&w.image);
  return w;
}

/* Another program has damaged one of three rows: the others are read, and that one is named. */
TEST(a_row_that_cant_be_read_hides_no_other) {
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  const char *const ranges[] = {"l/1", "l/2", "l/3"};
  for (int i = 0; i < 3; i++) CHECK_INT(add_row(&f, mem, s, ranges[i]).written, SLP_WRITTEN_YES);
  other_does("UPDATE rows SET attrs='{\"n\":' WHERE range='l/2'");
  slp_store_list l = {.rq = {.on_done = on_done}, .hash = SLP_STR("a"), .prefix = SLP_STR("l/")};
  slp_store_rows_init(&l.out, mem);
  s->ops->list(s, &l);
  fake_run(&f, 1000);
  CHECK_INT(l.rq.fail.class, SLP_FINE);
  CHECK_INT(l.out.n, 3);
  for (size_t i = 0; i < 3; i++) {
    CHECK_TEXT(slp_row_text(&l.out.rows[i], SLP_STR("row")), ranges[i]);
    CHECK_INT(slp_row_int(&l.out.rows[i], SLP_STR("n"), 0), i != 1);
  }
  slp_store_rows_free(&l.out);
  slp_store_write w = add_row(&f, mem, s, "l/2"); /* what it says is nobody's to change */
  CHECK_INT(w.written, SLP_WRITTEN_NOT_SURE);
  CHECK_INT(w.rq.fail.class, SLP_REFUSED);
  end_closed(&f, mem, s);
}

/* Whoever opens a file that is there, it stays its owner's, with its mode: else those who run as its owner could
 * not open it any more. What is called almost like it is not ours. */
TEST(a_file_that_is_there_keeps_its_owner_and_its_mode_and_its_neighbours) {
  static const mode_t modes[] = {0600, 0640, 0666};
  const uid_t uid = geteuid() ? geteuid() : 1234;
  const gid_t gid = geteuid() ? getegid() : 4321;
  fake_host f;
  slp_mem *mem;
  struct stat st, before;
  char neighbour[120], text[20] = "";
  begin(&f, &mem);
  snprintf(neighbour, sizeof neighbour, "%s.tmp", path);
  int fd = open(neighbour, O_WRONLY | O_CREAT | O_EXCL, 0644);
  CHECK(fd >= 0 && write(fd, "somebody's", 10) == 10 && !fstat(fd, &before) && !close(fd));
  for (size_t i = 0; i < SLP_COUNT(modes); i++) {
    if (i == 0) { /* an empty file becomes ours */
      fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
      CHECK(fd >= 0 && !close(fd));
    }
    CHECK(!chmod(path, modes[i]) && !chown(path, uid, gid));
    slp_store *s = opened(&f);
    CHECK_INT(prepare(&f, s).rq.fail.class, SLP_FINE);
    CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
    closed(&f, s);
    CHECK(!stat(path, &st) && (st.st_mode & 07777) == modes[i] && st.st_uid == uid && st.st_gid == gid);
  }
  CHECK(!stat(neighbour, &st) && st.st_ino == before.st_ino && st.st_mode == before.st_mode &&
        st.st_uid == before.st_uid);
  fd = open(neighbour, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) == 10 && !close(fd));
  CHECK_STR(text, "somebody's");
  CHECK_INT(unlink(neighbour), 0);
  end(&f, mem); /* nothing else lies there */
}

/* SQLite opens both, and speaks of a full disk or of an illegal seek. */
TEST(a_fifo_or_a_device_is_refused_as_no_file) {
  fake_host f;
  slp_mem *mem;
  begin(&f, &mem);
  for (int i = 0; i < 2; i++) {
    char want[200];
    CHECK_INT(i ? symlink("/dev/full", path) : mkfifo(path, 0600), 0);
    slp_store *s = opened(&f);
    slp_fail fail = prepare(&f, s).rq.fail;
    CHECK_INT(fail.class, SLP_REFUSED);
    CHECK_INT(fail.code, SLOOP_EREFUSED);
    snprintf(want, sizeof want, "lease file %s: it is not a file", path);
    CHECK_STR(fail.message, want);
    closed(&f, s);
    CHECK_INT(unlink(path), 0);
  }
  end(&f, mem);
}

/* No descriptor is free for a moment: that passes, and is no reason to give up. */
TEST(without_descriptors_the_file_is_tried_again) {
  fake_host f;
  slp_mem *mem;
  struct rlimit before, none;
  begin(&f, &mem);
  slp_store *s = opened(&f);
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 3;
  int held[64], n = 0;
  while (n < 64 && (held[n] = dup(2)) >= 0 && held[n] < 3) n++;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
  slp_fail fail = prepare(&f, s).rq.fail;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK(strstr(fail.message, strerror(EMFILE)));
  CHECK_INT(prepare(&f, s).rq.fail.class, SLP_FINE);
  end_closed(&f, mem, s);
}

/* What can't be made, SQLite says of it that it is not there. */
TEST(a_journal_that_cant_be_made_is_no_file_that_is_missing) {
  static const int errors[] = {ENOSPC, EDQUOT, EROFS, EIO};
  static struct statvfs full = {.f_blocks = 10}, no_files = {.f_blocks = 10, .f_bavail = 5, .f_files = 10},
                        read_only = {.f_blocks = 10, .f_flag = ST_RDONLY},
                        roomy = {.f_blocks = 10, .f_bavail = 5}; /* and counts no files */
  static const struct {
    struct statvfs *fs;
    slp_class class;
    int code;
    const char *says;
  } rows[] = {
      {&full, SLP_TRANSIENT, -ENOSPC, "the disk is full"},
      {&no_files, SLP_TRANSIENT, -ENOSPC, "the disk is full"},
      {&read_only, SLP_ACCESS, SLOOP_EACCESS, "its file system is read-only"},
      {&roomy, SLP_TRANSIENT, -ENOSPC,
       "its journal beside it can't be made: is the disk full, a quota used up, or the disk read-only?"}};
  fake_host f;
  slp_mem *mem;
  char want[300];
  slp_store *s = begin_prepared(&f, &mem);
  for (size_t i = 0; i < SLP_COUNT(rows) * SLP_COUNT(errors); i++) {
    told_fs = rows[i / SLP_COUNT(errors)].fs;
    opens_fail("-journal", errors[i % SLP_COUNT(errors)], 1);
    slp_fail fail = add_row(&f, mem, s, "l/1").rq.fail;
    snprintf(want, sizeof want, "lease file %s: %s", path, rows[i / SLP_COUNT(errors)].says);
    CHECK_INT(fail.class, rows[i / SLP_COUNT(errors)].class);
    CHECK_INT(fail.code, rows[i / SLP_COUNT(errors)].code);
    CHECK_STR(fail.message, want);
    opens_fail(NULL, 0, 0);
    CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
  }
  end_closed(&f, mem, s);
}

/* The same of the file itself, also where a link leads to it; a folder that is not there is another matter. */
TEST(a_file_that_cant_be_made_is_tried_again) {
  char want[300], folder[120];
  for (int i = 0; i < 3; i++) {
    fake_host f;
    slp_mem *mem;
    begin(&f, &mem);
    snprintf(folder, sizeof folder, "%s.d/x.db", path);
    if (i == 2) CHECK_INT(symlink(folder, path), 0); /* to nowhere */
    slp_store *s = opened(&f);
    if (i < 2) opens_fail(i ? "-journal" : "l.db", EDQUOT, 1);
    slp_fail fail = prepare(&f, s).rq.fail;
    opens_fail(NULL, 0, 0);
    CHECK_INT(fail.class, i < 2 ? SLP_TRANSIENT : SLP_REFUSED);
    snprintf(want, sizeof want, "lease file %s%s", path,
             i == 2 ? " can't be opened: No such file or directory"
             : i    ? ": its journal beside it can't be made: is the disk full, a quota used up, or the disk "
                      "read-only?"
                    : ": it can't be made: is the disk full, a quota used up, or the disk read-only?");
    CHECK_STR(fail.message, want);
    if (i == 2) CHECK_INT(unlink(path), 0);
    CHECK_INT(prepare(&f, s).rq.fail.class, SLP_FINE);
    end_closed(&f, mem, s);
  }
}

/* SQLite's pwrite, of any file but a journal. */
static ssize_t failing_pwrite(int fd, const void *data, size_t n, off_t at) {
  char link[64], name[200];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t name_n = readlink(link, name, sizeof name - 1);
  name[name_n > 0 ? name_n : 0] = 0;
  if (strstr(name, "-journal")) return pwrite(fd, data, n, at);
  errno = EIO;
  return -1;
}
static void pwrites_fail(int fail) {
  sqlite3_vfs *v = sqlite3_vfs_find(NULL);
  sqlite3_syscall_ptr to = fail ? (sqlite3_syscall_ptr)failing_pwrite : NULL;
  for (int i = 0; i < 2; i++) { /* SQLite was built with one of them, or has both */
    const char *name = i ? "pwrite64" : "pwrite";
    if (v->xGetSystemCall(v, name)) CHECK_INT(v->xSetSystemCall(v, name, to), SQLITE_OK);
  }
}

/* SQLite keeps what the system said once: a full disk that is over. */
TEST(what_the_system_said_once_is_not_said_of_what_comes_later) {
  fake_host f;
  slp_mem *mem;
  sqlite3 *db;
  char want[200];
  slp_store *s = begin_prepared(&f, &mem);
  for (int i = 0; i < 2; i++) {
    opens_fail("-journal", ENOSPC, 0);
    slp_fail fail = add_row(&f, mem, s, "l/1").rq.fail;
    opens_fail(NULL, 0, 0);
    CHECK_INT(fail.class, SLP_TRANSIENT);
    CHECK_INT(fail.code, -ENOSPC);
    snprintf(want, sizeof want, "lease file %s: the disk is full", path);
    CHECK_STR(fail.message, want);
    if (i) { /* a write that fails as it is committed: SQLite does not look what the system says */
      CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
      pwrites_fail(1);
      fail = add_row(&f, mem, s, "l/1").rq.fail;
      pwrites_fail(0);
      CHECK_INT(fail.code, -EIO);
      CHECK(strstr(fail.message, strerror(EIO)));
      CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES); /* what it left half done is undone */
      continue;
    }
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
    slp_store_write w = {.rq = {.on_done = on_done, .ms_max = 500},
                         .key = {SLP_STR("a"), SLP_STR("l/1")},
                         .changes = &c,
                         .changes_n = 1};
    slp_store_rows_init(&w.image, mem);
    for (int waits = 0; waits < 2; waits++) { /* in vain, and until it is let go */
      done = 0;
      s->ops->write(s, &w);
      fake_run(&f, 300000);
      CHECK_INT(done, 0);
      if (waits) CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
      fake_run(&f, 300000);
      CHECK_INT(done, 1);
      snprintf(want, sizeof want, "lease file %s: another process keeps it locked", path);
      if (!waits) CHECK_STR(w.rq.fail.message, want);
    }
    CHECK_INT(w.written, SLP_WRITTEN_YES);
    slp_store_rows_free(&w.image);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
  }
  end_closed(&f, mem, s);
}

static int is_beside(const char *suffix) {
  char name[120];
  struct stat st;
  snprintf(name, sizeof name, "%s%s", path, suffix);
  return stat(name, &st) == 0;
}

#define ENDLESS_ROWS                                                                                       \
  "CREATE VIEW rows AS WITH RECURSIVE r(tbl,hash,range,attrs) AS (SELECT 'leases','a','x','{}' UNION ALL " \
  "SELECT 'leases','a','x','{}' FROM r) SELECT * FROM r;"

/* What somebody else has put into the file is never run, and is named. */
TEST(a_file_with_what_we_did_not_make_is_refused) {
  static const char *const made[][2] = {
      {"DROP TABLE rows;" ENDLESS_ROWS, "its view \"rows\" was not made by this program"},
      {"CREATE TRIGGER more AFTER INSERT ON Rows BEGIN DELETE FROM tables; END",
       "its trigger \"more\" was not made by this program"},
      {"CREATE INDEX slow ON rows(hex(attrs))", "its index \"slow\" was not made by this program"},
      {"ALTER TABLE tables ADD COLUMN more", "its table \"tables\" was not made by this program"},
      {"DROP TABLE rows", "it lacks its table \"tables\" or \"rows\""},
      {"CREATE TABLE notes(text); CREATE VIEW mine AS SELECT * FROM rows; CREATE INDEX i ON notes(text)",
       NULL}};
  for (size_t i = 0; i < SLP_COUNT(made); i++) {
    fake_host f;
    slp_mem *mem;
    char want[300];
    begin(&f, &mem);
    for (int again = 0; again < 2; again++) {
      slp_store *s = opened(&f);
      slp_fail fail = prepare(&f, s).rq.fail;
      snprintf(want, sizeof want, "lease file %s: %s", path, made[i][1]);
      CHECK_INT(fail.class, again && made[i][1] ? SLP_REFUSED : SLP_FINE);
      if (again && made[i][1]) CHECK_STR(fail.message, want);
      closed(&f, s);
      if (!again) other_does(made[i][0]);
    }
    end(&f, mem);
  }
}

/* And also not when it comes later. */
TEST(what_comes_into_an_open_file_is_not_run) {
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  other_does("CREATE TRIGGER more AFTER INSERT ON rows BEGIN DELETE FROM tables; END");
  CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
  CHECK_INT(add_row(&f, mem, s, "l/2").written, SLP_WRITTEN_YES);
  other_does("DROP TABLE rows;" ENDLESS_ROWS);
  slp_store_write w = add_row(&f, mem, s, "l/1");
  CHECK_INT(w.written, SLP_WRITTEN_NOT_SURE);
  CHECK(strstr(w.rq.fail.message, path));
  end_closed(&f, mem, s);
}

/* Nobody waits for the answer any more. */
TEST(what_is_told_to_stop_ends_in_the_middle) {
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  other_does(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) INSERT INTO rows "
      "SELECT 'leases','a',printf('%06d',i),'{}' FROM n");
  slp_sqlite_file *file = slp_sqlite_file_new(mem, path, &table);
  for (int stop = 0; stop < 2; stop++) {
    uint32_t answers = slp_sqlite_file_answers(file);
    slp_sqlite_ask a = {.kind = SLP_SQLITE_LIST, .file = file, .hash = SLP_STR("a"), .stop = (uint8_t)stop};
    slp_store_rows_init(&a.in, mem);
    slp_store_rows_init(&a.out, mem);
    slp_sqlite_do(&a);
    CHECK_INT(a.fail.class, stop ? SLP_TRANSIENT : SLP_FINE);
    CHECK_INT(a.out.n, stop ? 0 : 5000);
    answers = slp_sqlite_file_answers(file) - answers;
    CHECK(stop ? answers < 3000 : answers == 5001);
    slp_store_rows_free(&a.out);
  }
  slp_sqlite_file_close(file);
  slp_sqlite_file_free(file);
  end_closed(&f, mem, s);
}

/* Threads that take no work before stuck_end, but for one that takes the first piece and stays with the disk. */
static slp_work *stuck[4];
static size_t stuck_n;
static uint8_t stuck_left, stuck_on_disk;
static pthread_t stuck_thread;
static void stuck_send(slp_host *h, slp_work *work) {
  (void)h;
  CHECK(stuck_n < SLP_COUNT(stuck));
  stuck[stuck_n++] = work;
}
static void stuck_cancel(slp_host *h, slp_work *work) {
  (void)h, (void)work;
  stuck_left++;
}
static slp_host_ops standing_ops(void) {
  slp_host_ops ops = fake_ops;
  ops.work_send = stuck_send;
  ops.work_cancel = stuck_cancel;
  return ops;
}
static void *stuck_run(void *work) {
  stuck[0]->run(work);
  return NULL;
}
static void stuck_begin(void) {
  CHECK(!sem_init(&disk_asked, 0, 0) && !sem_init(&disk_goes_on, 0, 0));
  atomic_store(&disk_stands, 1);
  CHECK_INT(pthread_create(&stuck_thread, NULL, stuck_run, stuck[0]), 0);
  while (sem_wait(&disk_asked)) CHECK_INT(errno, EINTR);
  stuck_on_disk = 1;
}
static void stuck_end(void) {
  if (stuck_on_disk) CHECK(!sem_post(&disk_goes_on) && !pthread_join(stuck_thread, NULL));
  for (size_t i = 0; i < stuck_n; i++) {
    if (i || !stuck_on_disk) stuck[i]->run(stuck[i]);
    stuck[i]->on_left(stuck[i]);
  }
}

TEST(a_file_that_does_not_answer_is_named) {
  fake_host f;
  slp_mem *mem;
  char want[200];
  slp_store *s = begin_prepared(&f, &mem);
  snprintf(want, sizeof want, "lease file %s has not answered for 5 s", path);
  slp_host_ops standing = standing_ops();
  f.h.ops = &standing;
  slp_row_key key = {SLP_STR("a"), SLP_STR("l/1")};
  slp_store_get g = {.rq = {.on_done = on_done}, .keys = &key, .keys_n = 1}, dropped = g;
  slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
  slp_store_write w = {.rq = {.on_done = on_done, .ms_max = 20}, .key = key, .changes = &c, .changes_n = 1};
  slp_store_rows_init(&g.out, mem);
  slp_store_rows_init(&dropped.out, mem);
  slp_store_rows_init(&w.image, mem);
  done = 0;
  s->ops->get(s, &g);
  s->ops->get(s, &dropped);
  f.mono_us += 3000000;
  f.h.ops = &fake_ops; /* the file answers another request: it only is slow */
  CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
  CHECK_INT(done, 1);
  f.h.ops = &standing;
  stuck_begin();
  s->ops->write(s, &w);
  fake_run(&f, 4000000);
  CHECK_INT(done, 1);
  s->ops->cancel(s, &dropped.rq);
  CHECK_INT(stuck_left, 1);
  fake_run(&f, 1100000);
  CHECK_INT(done, 2);
  CHECK_INT(w.written, SLP_WRITTEN_NOT_SURE);
  CHECK_INT(w.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(w.rq.fail.code, -EIO);
  CHECK_STR(w.rq.fail.message, want);
  fake_run(&f, 3000000);
  CHECK_INT(done, 3);
  CHECK_STR(g.rq.fail.message, want);
  CHECK_INT(stuck_left, 3);
  f.h.ops = &fake_ops;
  stuck_end();
  end_closed(&f, mem, s);
}

/* The threads of libuv's pool are the program's too: while it keeps them all, nobody asks the file. */
TEST(a_file_that_no_thread_asks_is_not_blamed) {
  fake_host f;
  slp_mem *mem;
  char want[200];
  slp_store *s = begin_prepared(&f, &mem);
  snprintf(want, sizeof want,
           "lease file %s: no thread of libuv's pool was free for 5 s (UV_THREADPOOL_SIZE)", path);
  slp_host_ops standing = standing_ops();
  f.h.ops = &standing;
  slp_row_key key = {SLP_STR("a"), SLP_STR("l/1")};
  slp_store_get g = {.rq = {.on_done = on_done}, .keys = &key, .keys_n = 1}, behind = g;
  slp_store_rows_init(&g.out, mem);
  slp_store_rows_init(&behind.out, mem);
  done = 0;
  s->ops->get(s, &g);
  s->ops->get(s, &behind);
  fake_run(&f, 4900000);
  CHECK_INT(done, 0);
  fake_run(&f, 200000);
  CHECK_INT(done, 2);
  CHECK_INT(stuck_left, 2);
  CHECK_INT(g.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(g.rq.fail.code, -EAGAIN); /* a failure of the disk, -EIO, is not tried again by who commands */
  CHECK_STR(g.rq.fail.message, want);
  CHECK_STR(behind.rq.fail.message, want);
  f.h.ops = &fake_ops;
  stuck_end();
  CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
  end_closed(&f, mem, s);
}

/* When the whole process stood still, nothing is known of the file. */
TEST(a_process_that_was_stopped_blames_no_file) {
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  slp_host_ops standing = standing_ops();
  f.h.ops = &standing;
  slp_row_key key = {SLP_STR("a"), SLP_STR("l/1")};
  slp_store_get g = {.rq = {.on_done = on_done}, .keys = &key, .keys_n = 1};
  slp_store_rows_init(&g.out, mem);
  done = 0;
  s->ops->get(s, &g);
  fake_run(&f, 1000000);
  f.mono_us += 60000000;
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  stuck[0]->run(stuck[0]);
  stuck[0]->on_done(stuck[0]);
  CHECK_INT(done, 1);
  CHECK_INT(g.rq.fail.class, SLP_FINE);
  slp_store_rows_free(&g.out);
  f.h.ops = &fake_ops;
  end_closed(&f, mem, s);
}

/* Nothing of the file is mapped memory: else whoever cuts FILE-shm short kills every worker. A file in WAL, as
 * 0.1.0 leaves it, is brought back, at the latest when nobody else has it open in that way. */
TEST(the_file_is_not_in_wal_mode_but_while_others_keep_it_there) {
  fake_host f;
  slp_mem *mem;
  sqlite3 *old;
  slp_store *s = begin_prepared(&f, &mem);
  CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
  CHECK(!is_beside("-shm") && !is_beside("-wal"));
  for (int there = 0; there < 2; there++) { /* it comes to an open file, and its file is opened */
    CHECK_INT(sqlite3_open(path, &old), SQLITE_OK);
    CHECK_INT(sqlite3_exec(old, "PRAGMA journal_mode=WAL; UPDATE rows SET attrs='{}'", NULL, NULL, NULL),
              SQLITE_OK);
    CHECK(is_beside("-shm"));
    if (there) {
      closed(&f, s);
      s = opened(&f);
    }
    for (int i = 0; i < 3; i++) CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
    CHECK(is_beside("-shm"));
    CHECK_INT(sqlite3_exec(old, "UPDATE rows SET attrs='{}'", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(old), SQLITE_OK);
    CHECK(!is_beside("-shm"));
    for (int i = 0; i < 2; i++) CHECK_INT(add_row(&f, mem, s, "l/1").written, SLP_WRITTEN_YES);
    CHECK(!is_beside("-shm") && !is_beside("-wal"));
  }
  end_closed(&f, mem, s);
}

TEST(a_stat_that_fails_is_told) {
  int failed = 0;
  for (int n = 0, fine = 0; !fine; n++) {
    fake_host f;
    slp_mem *mem;
    begin(&f, &mem);
    slp_store *s = opened(&f);
    stats_left = n;
    slp_store_prepare p = prepare(&f, s);
    fine = stats_left > 0;
    stats_left = -1;
    /* Without some of them SQLite goes on. What does not go on says so, and the next try is a good one. */
    if (p.rq.fail.class == SLP_FINE)
      CHECK(p.created);
    else
      CHECK(p.rq.fail.message[0] && p.rq.fail.code);
    failed += p.rq.fail.class != SLP_FINE;
    CHECK_INT(prepare(&f, s).rq.fail.class, SLP_FINE);
    end_closed(&f, mem, s);
  }
  CHECK(failed > 0);
}

/* As many rows as no fleet has: 300 MB of them, so only in full form. */
TEST(a_list_without_end_is_refused) {
  if (!getenv("SLOOP_TEST_FULL")) return;
  fake_host f;
  slp_mem *mem;
  slp_store *s = begin_prepared(&f, &mem);
  other_does(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3000) INSERT INTO rows "
      "SELECT 'leases','a',printf('%06d',i),'{\"x\":{\"S\":\"'||hex(zeroblob(50000))||'\"}}' FROM n");
  slp_store_list l = {.rq = {.on_done = on_done}, .hash = SLP_STR("a"), .prefix = SLP_STR("")};
  slp_store_rows_init(&l.out, mem);
  done = 0;
  s->ops->list(s, &l);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  CHECK_INT(l.rq.fail.class, SLP_REFUSED);
  CHECK_INT(l.rq.fail.code, SLOOP_EREFUSED);
  CHECK_STR(l.rq.fail.message, "the rows of table \"leases\" take more than 268435456 bytes");
  CHECK(mem->peak_bytes < (size_t)2 * SLP_STORE_LIST_BYTES_MAX);
  slp_store_rows_free(&l.out);
  end_closed(&f, mem, s);
}
