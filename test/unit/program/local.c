/* local.c - small files, read whole; local time against libc's own calendar. */
#include "program/local.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "host/err.h"
#include "host/host.h"

static char folder[] = "/tmp/local-XXXXXX";

static const char *in_folder(const char *name) {
  static char path[4][200];
  static int which;
  char *to = path[which++ % 4];
  snprintf(to, 200, "%s/%s", folder, name);
  return to;
}

static slp_mem *mem;
static slp_buf b;
static void begin(void) {
  CHECK(mkdtemp(folder) != NULL);
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
}
static void end(void) {
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  CHECK_INT(rmdir(folder), 0); /* nothing was left in it */
}

static void put(const char *path, slp_str bytes) {
  FILE *f = fopen(path, "w");
  CHECK(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0);
}

TEST(a_file_is_read_whole) {
  begin();
  const char *path = in_folder("f");
  CHECK_INT(slp_local_read(path, &b), SLP_ENOENT);
  static char large[300000];
  memset(large, 'x', sizeof large);
  put(path, (slp_str){large, sizeof large});
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_MEM(b.p, b.n, large, sizeof large);
  CHECK_INT(slp_local_read(folder, &b), -EISDIR);
  CHECK_INT(unlink(path), 0);
  end();
}

/* A file on a network may time out by itself, and is no pipe. */
TEST(a_late_pipe_is_told_apart_from_a_late_file) {
  CHECK_STR(slp_file_why(SLP_FILE_PIPE_LATE),
            "it is a pipe, and was not written to its end within 10 seconds");
  CHECK_STR(slp_file_why(-ETIMEDOUT), strerror(ETIMEDOUT));
}

TEST(a_file_larger_than_the_buffer_may_become_is_refused) {
  begin();
  const char *path = in_folder("f");
  put(path, SLP_STR("12345"));
  slp_buf_init(&b, mem, 4);
  CHECK_INT(slp_local_read(path, &b), SLP_ELIMIT);
  slp_buf_free(&b);
  slp_buf_init(&b, mem, 5);
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_STR(slp_local_why(SLP_ELIMIT), "too large");
  unlink(path);
  end();
}

static const char *explained(const char *path, int error, int writes) {
  static char why[SLP_LOCAL_WHY];
  slp_local_explain(path, error, writes, why);
  return why;
}

TEST(the_part_of_a_path_that_is_in_the_way_is_named) {
  CHECK_STR(explained("/nonexistent/a/b", -ENOENT, 1), "/nonexistent is not there");
  CHECK_STR(explained("nonexistent/b", -ENOENT, 0), "nonexistent is not there");
  CHECK_STR(explained("/tmp/nonexistent", -ENOENT, 0), "No such file or directory");
  CHECK_STR(explained("nonexistent", -ENOENT, 0), "No such file or directory");
  CHECK_STR(explained("/etc/passwd/b", -ENOTDIR, 1), "/etc/passwd is not a folder");
  CHECK_STR(explained("/etc", -EISDIR, 0), "it is a folder");
  CHECK_STR(explained("/etc/x", -ENOSPC, 1), "No space left on device");
  CHECK_STR(explained("/etc/x", SLP_ELIMIT, 0), "too large");
}

/* In a child, because root may write everywhere. */
TEST(what_is_closed_to_this_user_is_named) {
  char closed[200], within[220], want[400];
  if (geteuid() != 0) return;
  begin();
  snprintf(closed, sizeof closed, "%s/closed", folder);
  snprintf(within, sizeof within, "%s/f", closed);
  CHECK(chmod(folder, 0755) == 0 && mkdir(closed, 0755) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    snprintf(want, sizeof want, "no permission to write in the folder %s (as user 65534)", closed);
    CHECK_STR(explained(within, -EACCES, 1), want);
    CHECK_STR(explained(within, -EACCES, 0), "Permission denied (as user 65534)");
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(chmod(closed, 0700) == 0);
  child = fork();
  if (child == 0) {
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    snprintf(want, sizeof want, "%s may not be entered (as user 65534)", closed);
    CHECK_STR(explained(within, -EACCES, 1), want);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_INT(rmdir(closed), 0);
  end();
}

TEST(a_folder_is_made_in_one_that_is_there) {
  begin();
  struct stat st;
  CHECK_INT(slp_local_make_folder(in_folder("a/b")), -ENOENT);
  CHECK_INT(slp_local_make_folder(in_folder("a")), 0);
  CHECK(stat(in_folder("a"), &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
  CHECK_INT(slp_local_make_folder(in_folder("a")), 0);
  CHECK_INT(slp_local_make_folder("/dev/null/x"), -ENOTDIR);
  CHECK(rmdir(in_folder("a")) == 0);
  end();
}

TEST(local_time_is_libc_s) {
  static const char *const zones[] = {"UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0530>-5:30",
                                      "EST5EDT,M3.2.0,M11.1.0"};
  for (size_t z = 0; z < SLP_COUNT(zones); z++) {
    setenv("TZ", zones[z], 1);
    tzset();
    for (int64_t at = 1700000000; at < 1740000000; at += 654321) {
      time_t t = (time_t)at;
      struct tm utc, local;
      gmtime_r(&t, &utc);
      localtime_r(&t, &local);
      CHECK_INT(slp_local_offset_ms(at * 1000), (timegm(&local) - timegm(&utc)) * 1000);
    }
  }
}
