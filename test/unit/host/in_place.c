/* in_place.c - a write that is cut off at any byte leaves the old content or the new. */
#include "host/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char path[] = "/tmp/in-place-XXXXXX";
static slp_mem *mem;
static int fd;

/* The test replaces libc's pwrite and ftruncate. Each byte written takes one from `left`, and so does each
 * cut of the file. When `left` is used up, the process exits. With `full_disk`, pwrite fails with ENOSPC
 * instead, and cuts are free. */
static long left = -1; /* no limit */
static int full_disk;
static size_t allow(size_t n) {
  if (left < 0) return n;
  size_t may = (size_t)left < n ? (size_t)left : n;
  left -= (long)may;
  return may;
}
/* pwritev is not replaced. A bare system call would have to split the offset where a register has 32 bits. */
static ssize_t write_whole(int to, const void *p, size_t n, off_t at) {
  struct iovec piece = {(void *)(uintptr_t)p, n};
  return pwritev(to, &piece, 1, at);
}
ssize_t pwrite(int to, const void *p, size_t n, off_t at) {
  size_t may = allow(n);
  ssize_t done = may || !n ? write_whole(to, p, may, at) : 0;
  if (may == n) return done;
  if (!full_disk) _exit(0);
  if (may) return done;
  errno = ENOSPC;
  return -1;
}
int ftruncate(int to, off_t n) {
  if (!full_disk && !allow(1)) _exit(0);
  return (int)syscall(SYS_ftruncate, to, (long)n);
}

static void begin(void) {
  fd = mkstemp(path);
  CHECK(fd >= 0);
  mem = slp_mem_new(NULL, NULL);
}
static void end(void) {
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  close(fd);
  unlink(path);
}
static void put(const char *text, size_t n) {
  CHECK(syscall(SYS_ftruncate, fd, 0) == 0 && write_whole(fd, text, n, 0) == (ssize_t)n);
}
static void read_file(slp_buf *b) {
  slp_buf_init(b, mem, 1 << 20);
  CHECK_INT(slp_in_place_read(fd, b), 0);
}
static void check_file(const char *text) {
  slp_buf b;
  read_file(&b);
  CHECK_STR(slp_buf_z(&b), text);
  slp_buf_free(&b);
}

TEST(what_is_written_is_the_whole_file) {
  begin();
  CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("one\n")), 0);
  check_file("one\n");
  CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("a longer one, in its place\n")), 0);
  check_file("a longer one, in its place\n");
  CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("2\n")), 0);
  check_file("2\n");
  CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("")), 0);
  check_file("");
  end();
}

/* Returns 1 if the new content counts, 0 if the old does, and lets a later write find its way from there. */
static int judge(const char *old, const char *new) {
  slp_buf b;
  read_file(&b);
  slp_str good = slp_in_place_good(slp_buf_str(&b));
  int is_new = slp_str_is(good, new);
  if (!is_new && !slp_str_is(good, old)) CHECK_FAIL("neither old nor new: \"%.*s\"", (int)good.n, good.p);
  slp_buf_free(&b);
  CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("later\n")), 0);
  check_file("later\n");
  return is_new;
}

static void cut_off_everywhere(const char *old, const char *new) {
  int ended = 0, seen[2] = {0};
  for (long limit = 0; !ended; limit++) {
    put(old, strlen(old));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
      left = limit;
      _exit(slp_in_place_write(mem, fd, slp_str_of(new)) ? 2 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) < 2);
    ended = WEXITSTATUS(status);
    seen[judge(old, new)]++;
    CHECK(limit < 1000);
  }
  CHECK(seen[0] > 10 && seen[1] > 3);
}

TEST(a_write_cut_off_at_any_byte_leaves_the_old_or_the_new) {
  begin();
  cut_off_everywhere("{\"old\":1}\n", "{\"new\":2}\n");
  cut_off_everywhere("{\"old\":1}\n",
                     "{\"new\":2,\"and\":\"much longer than the old one was\"}\n{\"line\":2}\n");
  cut_off_everywhere("{\"old\":1,\"and\":\"much longer than the new one will be\"}\n{\"line\":2}\n",
                     "{\"n\":2}\n");
  cut_off_everywhere("", "{\"new\":2}\n");
  end();
}

TEST(a_full_disk_leaves_the_old_and_nothing_behind_it) {
  begin();
  full_disk = 1;
  for (long limit = 0; limit < 40; limit++) {
    put("old\n", 4);
    left = limit;
    CHECK_INT(slp_in_place_write(mem, fd, SLP_STR("something that needs more than that\n")), -ENOSPC);
    left = -1;
    check_file("old\n");
  }
  end();
}

/* A power cut leaves any of the bytes of a journal unwritten. */
TEST(a_journal_with_a_wrong_byte_does_not_count) {
  begin();
  static const char whole[] =
      "old\n\0\0\0#sloop-new 4 3421780262\n1234"; /* made by hand: no byte of it fits */
  slp_str good = slp_in_place_good((slp_str){whole, sizeof whole - 1});
  CHECK(slp_str_is(good, "old\n"));
  char text[200];
  slp_str nine = SLP_STR("123456789"); /* the CRC-32 of which everybody knows: 0xcbf43926 */
  int n = snprintf(text, sizeof text, "old\n%c#sloop-new 9 %lu\n%s", 0, 0xcbf43926ul, nine.p);
  CHECK(slp_str_eq(slp_in_place_good((slp_str){text, (size_t)n}), nine));
  for (int i = 4; i < n; i++)
    for (int bit = 0; bit < 9; bit++) {
      char before = text[i];
      text[i] = bit == 8 ? 0 : (char)(before ^ 1 << bit);
      if (text[i] != before && slp_str_eq(slp_in_place_good((slp_str){text, (size_t)n}), nine))
        CHECK_FAIL("byte %d is another one, and the journal counts", i);
      text[i] = before;
    }
  end();
}

TEST(a_file_of_somebody_else_is_all_content) {
  static const char *const texts[] = {
      "", "\n", "a", "# a comment\n", "a\n# a comment\n", "a\n#s b\n", "#sloop-new 1 1\na"};
  for (size_t i = 0; i < SLP_COUNT(texts); i++)
    CHECK(slp_str_is(slp_in_place_good(slp_str_of(texts[i])), texts[i]));
}
