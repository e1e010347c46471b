/* local.c - small files, replaced whole or not at all; local time against libc's own calendar. */
#include "host/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"

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

TEST(what_was_put_is_read_again_and_nothing_is_left_beside) {
  begin();
  const char *path = in_folder("f");
  CHECK(access(path, F_OK) != 0);
  CHECK_INT(slp_local_read(path, &b), SLP_ENOENT);
  CHECK_INT(slp_local_replace(path, SLP_STR("one\n")), 0);
  CHECK(access(path, F_OK) == 0);
  CHECK_INT(slp_local_replace(path, SLP_STR("")), 0);
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_INT(b.n, 0);
  static char large[300000];
  memset(large, 'x', sizeof large);
  CHECK_INT(slp_local_replace(path, (slp_str){large, sizeof large}), 0);
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_MEM(b.p, b.n, large, sizeof large);
  CHECK_INT(unlink(path), 0);
  end();
}

TEST(a_file_larger_than_the_buffer_may_become_is_refused) {
  begin();
  const char *path = in_folder("f");
  CHECK_INT(slp_local_replace(path, SLP_STR("12345")), 0);
  slp_buf_init(&b, mem, 4);
  CHECK_INT(slp_local_read(path, &b), SLP_ELIMIT);
  slp_buf_free(&b);
  slp_buf_init(&b, mem, 5);
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_STR(slp_local_why(SLP_ELIMIT), "too large");
  unlink(path);
  end();
}

TEST(what_can_not_be_replaced_leaves_nothing_beside) {
  begin();
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(slp_local_replace(in_folder("d"), SLP_STR("a")), -EISDIR);
  CHECK_INT(rmdir(in_folder("d")), 0);
  end();
}

TEST(a_mode_and_a_link_stay) {
  begin();
  const char *path = in_folder("f"), *link_path = in_folder("l");
  CHECK_INT(slp_local_replace(path, SLP_STR("a")), 0);
  CHECK_INT(chmod(path, 0640), 0);
  CHECK_INT(symlink("f", link_path), 0);
  CHECK_INT(slp_local_replace(link_path, SLP_STR("b")), 0);
  struct stat st;
  CHECK_INT(lstat(link_path, &st), 0);
  CHECK(S_ISLNK(st.st_mode));
  CHECK_INT(stat(path, &st), 0);
  CHECK_INT(st.st_mode & 0777, 0640);
  CHECK_INT(slp_local_read(path, &b), 0);
  CHECK_MEM(b.p, b.n, "b", 1);
  unlink(path);
  unlink(link_path);
  end();
}

TEST(a_link_to_nothing_yet_names_the_file) {
  begin();
  struct stat st;
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(symlink("d/second", in_folder("l")), 0);
  CHECK_INT(symlink("../f", in_folder("d/second")), 0);
  CHECK_INT(slp_local_may_replace(in_folder("l")), 0);
  CHECK(stat(in_folder("f"), &st) != 0); /* nothing was made */
  CHECK(stat(in_folder("f.tmp"), &st) != 0);
  CHECK_INT(slp_local_replace(in_folder("l"), SLP_STR("b")), 0);
  CHECK_INT(lstat(in_folder("l"), &st), 0);
  CHECK(S_ISLNK(st.st_mode));
  CHECK_INT(slp_local_read(in_folder("f"), &b), 0);
  CHECK_MEM(b.p, b.n, "b", 1);
  unlink(in_folder("f"));
  unlink(in_folder("d/second"));
  CHECK_INT(symlink("../l", in_folder("d/second")), 0); /* in a circle */
  CHECK_INT(slp_local_replace(in_folder("l"), SLP_STR("b")), -ELOOP);
  CHECK_INT(slp_local_may_replace(in_folder("l")), -ELOOP);
  unlink(in_folder("d/second"));
  unlink(in_folder("l"));
  rmdir(in_folder("d"));
  CHECK_INT(slp_local_may_replace(in_folder("no/f")), SLP_ENOENT);
  end();
}

TEST(what_can_t_be_replaced_is_said_and_stays) {
  begin();
  CHECK_INT(slp_local_replace(in_folder("no/f"), SLP_STR("a")), SLP_ENOENT);
  CHECK_INT(mkdir(in_folder("d"), 0700), 0);
  CHECK_INT(slp_local_replace(in_folder("d"), SLP_STR("a")), -EISDIR);
  CHECK_INT(slp_local_replace("/dev/null", SLP_STR("a")), SLP_EINVAL);
  CHECK_INT(slp_local_read(in_folder("d"), &b), -EISDIR);
  CHECK_INT(slp_local_replace(in_folder("f"), SLP_STR("good")), 0);
  CHECK_INT(mkdir(in_folder("f.tmp"), 0700), 0); /* where it would write */
  CHECK_INT(slp_local_replace(in_folder("f"), SLP_STR("new")), -EISDIR);
  CHECK_INT(slp_local_read(in_folder("f"), &b), 0);
  CHECK_MEM(b.p, b.n, "good", 4);
  rmdir(in_folder("f.tmp"));
  rmdir(in_folder("d"));
  unlink(in_folder("f"));
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
