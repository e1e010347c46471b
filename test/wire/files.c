/* Files read whole, off the loop. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire.h"

typedef struct one {
  slp_file f;
  slp_buf b;
  int done;
} one;
static void on_done(slp_file *f) { SLP_OWNER(f, one, f)->done++; }
static void make(one *x, wire *w, const char *path, size_t max) {
  memset(x, 0, sizeof *x);
  slp_buf_init(&x->b, w->mem, 1 << 24);
  x->f = (slp_file){.path = path, .bytes_max = max, .into = &x->b, .on_done = on_done};
}
static int result(wire *w, const char *path, size_t max, size_t *n) {
  one x;
  make(&x, w, path, max);
  slp_file_read(w->h, &x.f);
  CHECK_INT(x.done, 0);
  WIRE_UNTIL(w, &x.done);
  *n = x.b.n;
  for (size_t i = 0; i < x.b.n; i++) CHECK_INT(x.b.p[i], (char)(i % 250));
  slp_buf_free(&x.b);
  return x.f.error;
}

static pid_t write_later(const char *path, size_t n, int pieces, unsigned wait_ms) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child) return child;
  usleep(wait_ms * 1000);
  int fd = open(path, O_WRONLY);
  for (int k = 0; k < pieces; k++, usleep(wait_ms * 1000))
    for (size_t i = n * (size_t)k / (size_t)pieces; i < n * (size_t)(k + 1) / (size_t)pieces; i++)
      if (write(fd, &(char){(char)(i % 250)}, 1) != 1) _exit(1);
  _exit(0);
}

/* As AWS_SHARED_CREDENTIALS_FILE=<(...) and a FIFO that a program fills when it is opened. */
TEST(a_pipe_is_read_to_its_end_and_gives_the_same_again) {
  wire w;
  wire_open(&w);
  alarm(60);
  char dir[] = "/tmp/sloop-files-XXXXXX", name[100];
  CHECK(mkdtemp(dir));
  snprintf(name, sizeof name, "%s/p", dir);
  size_t sizes[] = {1, 3000, 70000}, n;
  for (size_t k = 0; k < SLP_COUNT(sizes); k++) {
    CHECK_INT(mkfifo(name, 0600), 0);
    pid_t child = write_later(name, sizes[k], 3, 100);
    one x[2]; /* two reads of one pipe at once: the second waits for the first */
    for (int i = 0; i < 2; i++) make(&x[i], &w, name, i ? SIZE_MAX : sizes[k]);
    for (int i = 0; i < 2; i++) slp_file_read(w.h, &x[i].f);
    for (int i = 0; i < 2; i++) {
      WIRE_UNTIL(&w, &x[i].done);
      CHECK_INT(x[i].f.error, 0);
      CHECK_INT(x[i].b.n, sizes[k]);
      slp_buf_free(&x[i].b);
    }
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_INT(result(&w, name, SIZE_MAX, &n), 0);
    CHECK_INT(n, sizes[k]);
    CHECK_INT(result(&w, name, sizes[k] - 1, &n), SLP_E2BIG);
    unlink(name);
  }
  CHECK_INT(mkfifo(name, 0600), 0);
  pid_t child = write_later(name, 5000, 1, 10);
  CHECK_INT(result(&w, name, 100, &n), SLP_E2BIG);
  CHECK_INT(waitpid(child, NULL, 0), child);
  one x; /* nobody writes, and the host is closed */
  make(&x, &w, name, 100);
  slp_file_read(w.h, &x.f);
  slp_file_cancel(w.h, &x.f);
  make(&x, &w, name, 100);
  slp_file_read(w.h, &x.f);
  unlink(name);
  rmdir(dir);
  slp_host_close(w.h, wire_host_closed, &w);
  w.h = NULL;
  slp_buf_free(&x.b);
  wire_close(&w);
}

/* Reads a FIFO of one byte at the path, which is made and removed again. */
static void read_new_pipe(wire *w, const char *path) {
  size_t n;
  CHECK_INT(mkfifo(path, 0600), 0);
  int fd = open(path, O_RDWR | O_NONBLOCK); /* keeps the byte until it has been read */
  CHECK(fd >= 0 && write(fd, "", 1) == 1);
  one x;
  make(&x, w, path, 100);
  slp_file_read(w->h, &x.f);
  uint64_t end_us = slp_now_us(w->h) + 10000000;
  for (int left = 1; left && slp_now_us(w->h) < end_us; usleep(500)) {
    uv_run(w->loop, UV_RUN_NOWAIT);
    CHECK_INT(ioctl(fd, FIONREAD, &left), 0);
  }
  close(fd);
  WIRE_UNTIL(w, &x.done);
  CHECK_INT(x.f.error, 0);
  CHECK_INT(x.b.n, 1);
  slp_buf_free(&x.b);
  CHECK_INT(result(w, path, 100, &n), 0);
  CHECK_INT(n, 1);
  unlink(path);
}

/* A program that renews its keys by a new FIFO each hour, for years. */
TEST(what_is_kept_of_pipes_is_bounded) {
  wire w;
  wire_open(&w);
  char dir[] = "/tmp/sloop-files-XXXXXX", name[100];
  CHECK(mkdtemp(dir));
  snprintf(name, sizeof name, "%s/p", dir);
  read_new_pipe(&w, name);
  size_t before = w.mem->live_blocks;
  for (int i = 0; i < 10; i++) read_new_pipe(&w, name);
  CHECK_INT(w.mem->live_blocks, before);
  for (int i = 0; i < 200; i++) { /* at another path each */
    snprintf(name, sizeof name, "%s/%d", dir, i);
    read_new_pipe(&w, name);
  }
  CHECK(w.mem->live_blocks <= before * 64 + 64 * 3);
  size_t full = w.mem->live_blocks;
  snprintf(name, sizeof name, "%s/one_more", dir);
  read_new_pipe(&w, name);
  CHECK_INT(w.mem->live_blocks, full);
  rmdir(dir);
  wire_close(&w);
}

TEST(files_of_all_kinds) {
  wire w;
  wire_open(&w);
  char dir[] = "/tmp/sloop-files-XXXXXX", name[100];
  CHECK(mkdtemp(dir));
  snprintf(name, sizeof name, "%s/f", dir);
  size_t n;
  size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
  for (size_t k = 0; k < SLP_COUNT(sizes); k++) {
    FILE *f = fopen(name, "w");
    for (size_t i = 0; i < sizes[k]; i++) fputc((int)(i % 250), f);
    fclose(f);
    CHECK_INT(result(&w, name, sizes[k], &n), 0);
    CHECK_INT(n, sizes[k]);
    CHECK_INT(result(&w, name, SIZE_MAX, &n), 0);
    CHECK_INT(n, sizes[k]);
    if (sizes[k]) CHECK_INT(result(&w, name, sizes[k] - 1, &n), SLP_E2BIG);
    if (sizes[k]) CHECK_INT(n, 0);
  }
  CHECK_INT(result(&w, "/nonexistent/x", 100, &n), UV_ENOENT);
  CHECK_INT(result(&w, dir, 100, &n), UV_EISDIR);
  /* one byte too many in the caller's own buffer */
  one x;
  make(&x, &w, name, 1 << 20);
  slp_buf_init(&x.b, w.mem, 299999);
  slp_file_read(w.h, &x.f);
  WIRE_UNTIL(&w, &x.done);
  CHECK_INT(x.f.error, SLP_E2BIG);
  CHECK_INT(x.b.n, 0);
  slp_buf_free(&x.b);
  wire_close(&w);
  unlink(name);
  rmdir(dir);
}

/* Cancelled or closed after every number of loop rounds the reading takes. */
TEST(cancel_and_close_at_every_step) {
  for (int close_host = 0; close_host < 2; close_host++)
    for (int rounds = 0; rounds < 12; rounds++) {
      wire w;
      wire_open(&w);
      one x;
      make(&x, &w, "/proc/self/exe", 1 << 23);
      slp_file_read(w.h, &x.f);
      for (int i = 0; i < rounds && !x.done; i++) uv_run(w.loop, UV_RUN_ONCE);
      if (close_host) {
        slp_host_close(w.h, wire_host_closed, &w);
        w.h = NULL;
      } else {
        slp_file_cancel(w.h, &x.f);
        slp_file_cancel(w.h, &x.f);
      }
      slp_buf_free(&x.b);
      memset(&x, 0xee, sizeof x);
      wire_close(&w);
    }
}

/* No descriptor is left open by any of it. */
TEST(descriptors_come_back) {
  wire w;
  wire_open(&w);
  int before = dup(0);
  close(before);
  for (int i = 0; i < 50; i++) {
    one x;
    make(&x, &w, "/proc/self/exe", 1 << 23);
    slp_file_read(w.h, &x.f);
    for (int k = 0; k < i % 7; k++) uv_run(w.loop, UV_RUN_NOWAIT);
    slp_file_cancel(w.h, &x.f);
    slp_buf_free(&x.b);
  }
  for (uint64_t end = wire_us() + 100000; wire_us() < end;) uv_run(w.loop, UV_RUN_NOWAIT);
  int after = dup(0);
  CHECK_INT(after, before);
  close(after);
  wire_close(&w);
}
