/* Files read whole, off the loop. */
#include <sys/stat.h>

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

TEST(files_of_all_kinds) {
  wire w;
  wire_open(&w);
  char dir[] = "/tmp/sloop-files-XXXXXX", name[100], pipe_name[100];
  CHECK(mkdtemp(dir));
  snprintf(name, sizeof name, "%s/f", dir);
  snprintf(pipe_name, sizeof pipe_name, "%s/p", dir);
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
  CHECK_INT(mkfifo(pipe_name, 0600), 0);
  CHECK_INT(result(&w, pipe_name, 100, &n), 0); /* no writer: empty, and no thread hangs on it */
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
  unlink(pipe_name);
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
