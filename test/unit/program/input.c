/* input.c - slp_input over a pipe, a file, a FIFO and a folder: the reader takes each piece whole, in part or
 * not at all. */
#include "program/input.h"
#include "check.h"
#include "program/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static slp_mem *mem;
static struct uv_loop_s *loop;
static slp_input *in;
static char got[300000];
static size_t got_n, at_once; /* at_once: how many bytes are taken at a time */
static int ended, error;
static slp_in_end *keeper; /* keeps the loop alive while the input is paused */

static size_t on_bytes(void *arg, const char *p, size_t n) {
  (void)arg;
  size_t now = n < at_once ? n : at_once;
  CHECK(n > 0 && got_n + now <= sizeof got);
  memcpy(got + got_n, p, now);
  got_n += now;
  return now;
}
static void on_end(void *arg, int e) {
  (void)arg;
  ended++;
  error = e;
  slp_input_close(in);
  slp_in_end_close(keeper);
}
static void on_keeper_end(void *arg) { (void)arg; }
/* A reader that left bytes in the input takes some more at each tick. */
static void on_tick(void *arg) {
  (void)arg;
  if (!ended) slp_input_resume(in);
}

/* Reads the input to its end. Returns what slp_input_open() returned. */
static int read_all(const char *path, size_t taken) {
  slp_input_user user = {.on_bytes = on_bytes, .on_end = on_end};
  mem = slp_mem_new(NULL, NULL);
  loop = slp_loop_new(mem);
  got_n = 0;
  ended = error = 0;
  at_once = taken;
  slp_ticker *ticker = slp_ticker_new(mem, loop, 1, on_tick, NULL);
  int pair[2];
  CHECK_INT(pipe(pair), 0);
  keeper = slp_in_end_new(mem, loop, pair[0], on_keeper_end, NULL);
  int r = slp_input_open(&in, mem, loop, path, &user);
  if (r)
    slp_in_end_close(keeper);
  else
    slp_loop_run(loop); /* the ticker does not keep it alive */
  slp_ticker_close(ticker);
  close(pair[0]);
  close(pair[1]);
  slp_loop_run(loop);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return r;
}

static char folder[] = "/tmp/input-XXXXXX", path[100];
static void make_file(size_t n) {
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  for (size_t i = 0; i < n; i++) got[i] = (char)('a' + i % 23);
  CHECK_INT(write(fd, got, n), n);
  close(fd);
}
static void remove_all(void) {
  unlink(path);
  rmdir(folder);
}
static void is_whole(size_t n) {
  CHECK_INT(ended, 1);
  CHECK_INT(error, 0);
  CHECK_INT(got_n, n);
  for (size_t i = 0; i < n; i++) CHECK(got[i] == (char)('a' + i % 23));
}

TEST(a_file_is_read_whole_however_it_is_taken) {
  enum { N = 200001 };
  make_file(N);
  CHECK_INT(read_all(path, SIZE_MAX), 0);
  is_whole(N);
  CHECK_INT(read_all(path, 50000), 0);
  is_whole(N);
  remove_all();
}

TEST(an_empty_file_ends) {
  make_file(0);
  CHECK_INT(read_all(path, SIZE_MAX), 0);
  is_whole(0);
  CHECK_INT(read_all("/dev/null", SIZE_MAX), 0);
  is_whole(0);
  remove_all();
}

TEST(standard_input_is_a_pipe_whose_flags_stay) {
  int ends[2];
  CHECK_INT(pipe(ends), 0);
  for (size_t i = 0; i < 1000; i++) got[i] = (char)('a' + i % 23);
  CHECK_INT(write(ends[1], got, 1000), 1000);
  close(ends[1]);
  CHECK(dup2(ends[0], 0) == 0);
  CHECK_INT(read_all(NULL, 7), 0);
  is_whole(1000);
  CHECK(!(fcntl(0, F_GETFL) & O_NONBLOCK));
}

TEST(what_cant_be_read_is_told) {
  make_file(1);
  CHECK_INT(read_all(folder, SIZE_MAX), -EISDIR);
  CHECK_INT(read_all("/nonexistent", SIZE_MAX), SLP_ENOENT);
  CHECK(slp_input_is_same_file(path, path) && !slp_input_is_same_file(path, "/dev/null"));
  CHECK(!slp_input_is_same_file("/dev/null", "/dev/null"));
  char link_path[120];
  snprintf(link_path, sizeof link_path, "%s.link", path);
  CHECK_INT(symlink(path, link_path), 0);
  CHECK(slp_input_is_same_file(path, link_path));
  unlink(link_path);
  remove_all();
}

TEST(a_fifo_is_waited_for) {
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/fifo", folder);
  CHECK_INT(mkfifo(path, 0600), 0);
  pid_t child = fork();
  if (child == 0) {
    int fd = open(path, O_WRONLY); /* returns when it is read */
    _exit(write(fd, "abc", 3) == 3 ? 0 : 1);
  }
  CHECK_INT(read_all(path, 1), 0);
  is_whole(3);
  remove_all();
}
