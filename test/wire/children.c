/* Child processes: what they write, how they end, and that none is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "wire.h"

typedef struct one {
  slp_child c;
  slp_buf out;
  int done;
} one;

static void on_done(slp_child *c) { SLP_OWNER(c, one, c)->done++; }

static void make(one *x, wire *w, size_t max, const char *const *argv) {
  memset(x, 0, sizeof *x);
  slp_buf_init(&x->out, w->mem, max);
  x->c = (slp_child){.argv = argv, .into = &x->out, .on_done = on_done};
}

static void run(one *x, wire *w) {
  slp_spawn(w->h, &x->c);
  CHECK_INT(x->done, 0); /* never inside the call */
  WIRE_UNTIL(w, &x->done);
  CHECK_INT(x->done, 1);
}

#define SHELL(script) ((const char *const[]){"sh", "-c", script, NULL})

TEST(output_and_status) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 100, SHELL("printf 'a b'; printf 'first\\nlast words\\n' >&2"));
  run(&x, &w);
  CHECK_INT(x.c.error, 0);
  CHECK_INT(x.c.status, 0);
  CHECK_MEM(x.out.p, x.out.n, "a b", 3);
  CHECK_STR(x.c.said, "last words");
  slp_buf_free(&x.out);
  make(&x, &w, 100, SHELL("printf half >&2; exit 3"));
  run(&x, &w);
  CHECK_INT(x.c.error, 0);
  CHECK_INT(x.c.status, 3);
  CHECK_INT(x.out.n, 0);
  CHECK_STR(x.c.said, "half");
  slp_buf_free(&x.out);
  make(&x, &w, 100, SHELL("kill -TERM $$"));
  run(&x, &w);
  CHECK_INT(x.c.signal, SIGTERM);
  slp_buf_free(&x.out);
  wire_close(&w);
}

TEST(words_are_words_and_no_shell_looks_at_them) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 100, (const char *const[]){"printf", "%s|", "a b", "$HOME", "", "*", NULL});
  run(&x, &w);
  CHECK_MEM(x.out.p, x.out.n, "a b|$HOME||*|", 13);
  slp_buf_free(&x.out);
  wire_close(&w);
}

/* The process that started the test may have passed descriptors to it, and so to the child. */
static int sockets_passed_on(void) {
  int n = 0;
  for (int fd = 3; fd < 1024; fd++) {
    struct stat what;
    int flags = fcntl(fd, F_GETFD);
    n += flags >= 0 && !(flags & FD_CLOEXEC) && fstat(fd, &what) == 0 && S_ISSOCK(what.st_mode);
  }
  return n;
}

TEST(it_has_no_input_and_no_descriptor_of_libuv_or_libcurl) {
  wire w;
  one x;
  int sockets = 0, passed_on = sockets_passed_on();
  wire_open(&w);
  make(&x, &w, 2000,
       SHELL("cat; for f in /proc/self/fd/*; do case $f in */[012]) ;; *) readlink $f;; esac; "
             "done; echo end"));
  run(&x, &w);
  CHECK_INT(x.c.status, 0);
  CHECK(strstr(slp_buf_z(&x.out), "end") != NULL);
  CHECK(!strstr(slp_buf_z(&x.out), "eventpoll"));
  CHECK(!strstr(slp_buf_z(&x.out), "eventfd"));
  for (const char *at = slp_buf_z(&x.out); (at = strstr(at, "socket:")) != NULL; at++) sockets++;
  CHECK_INT(sockets, passed_on);
  slp_buf_free(&x.out);
  wire_close(&w);
}

static char slow_words[10][160];
static int slow_n;
static void on_slow(slp_child *c) {
  CHECK(slow_n < 10);
  memcpy(slow_words[slow_n++], c->said, sizeof c->said);
}

/* Which is how somebody who has to do something learns it: an address to visit, a number that is asked for. */
TEST(what_a_slow_one_says_is_told_while_it_runs) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 100,
       SHELL(
           "echo one >&2; echo two >&2; printf 'code: ' >&2; sleep 2.5; echo >&2; echo late >&2; sleep 1.5"));
  x.c.slow_ms = 500;
  x.c.on_slow = on_slow;
  run(&x, &w);
  CHECK_INT(slow_n, 4);
  CHECK_STR(slow_words[0], "one");
  CHECK_STR(slow_words[1], "two");
  CHECK_STR(slow_words[2], "code: ");
  CHECK_STR(slow_words[3], "late");
  slp_buf_free(&x.out);
  slow_n = 0;
  make(&x, &w, 100, SHELL("sleep 1.7")); /* it says nothing: that is told once */
  x.c.slow_ms = 500;
  x.c.on_slow = on_slow;
  run(&x, &w);
  CHECK_INT(slow_n, 1);
  CHECK_STR(slow_words[0], "");
  slp_buf_free(&x.out);
  slow_n = 0;
  make(&x, &w, 100, SHELL("echo quick >&2"));
  x.c.slow_ms = 5000;
  x.c.on_slow = on_slow;
  run(&x, &w);
  CHECK_INT(slow_n, 0);
  CHECK_STR(x.c.said, "quick");
  slp_buf_free(&x.out);
  wire_close(&w);
}

TEST(standard_error_has_a_bound_too) {
  wire w;
  one x;
  wire_open(&w);
  alarm(30);
  make(&x, &w, 100, SHELL("echo last; while :; do echo the same words again and again; done >&2"));
  x.c.total_ms_max = 25000;
  run(&x, &w);
  CHECK_INT(x.c.error, SLP_ELIMIT);
  CHECK_INT(x.out.n, 0);
  slp_buf_free(&x.out);
  make(&x, &w, 100, SHELL("echo fine; head -c 1000000 /dev/zero >&2"));
  run(&x, &w);
  CHECK_INT(x.c.error, 0);
  CHECK_MEM(x.out.p, x.out.n, "fine\n", 5);
  slp_buf_free(&x.out);
  wire_close(&w);
}

TEST(what_can_not_be_started) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 100, (const char *const[]){"/nonexistent/program", NULL});
  run(&x, &w);
  CHECK_INT(x.c.error, UV_ENOENT);
  slp_buf_free(&x.out);
  make(&x, &w, 100, (const char *const[]){"/etc/passwd", NULL});
  run(&x, &w);
  CHECK_INT(x.c.error, UV_EACCES);
  slp_buf_free(&x.out);
  wire_close(&w);
}

TEST(more_output_than_allowed) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 5, SHELL("printf 12345"));
  run(&x, &w);
  CHECK_INT(x.c.error, 0);
  CHECK_INT(x.out.n, 5);
  slp_buf_free(&x.out);
  make(&x, &w, 5, SHELL("printf 123456; sleep 1000"));
  run(&x, &w);
  CHECK_INT(x.c.error, UV_E2BIG);
  CHECK_INT(x.out.n, 0);
  slp_buf_free(&x.out);
  wire_close(&w);
}

/* The number that a program wrote into a file. */
static pid_t pid_in(const char *path) {
  long pid = 0;
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%ld", &pid) != 1) pid = 0;
  if (f) fclose(f);
  return (pid_t)pid;
}

/* Dead, or dying as somebody else's orphan. */
static int gone(pid_t pid) {
  char path[64], text[200] = "";
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *f = fopen(path, "r");
  if (!f) return 1;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  const char *end = n ? strrchr(text, ')') : NULL;
  return end && (end[2] == 'Z' || end[2] == 'X');
}

TEST(the_deadline_kills_it_and_what_it_started) {
  wire w;
  one x;
  char file[] = "/tmp/sloop-child-XXXXXX", script[200];
  close(mkstemp(file));
  wire_open(&w);
  snprintf(script, sizeof script, "sleep 1000 & echo $! > %s; wait", file);
  make(&x, &w, 100, SHELL(script));
  x.c.total_ms_max = 500;
  uint64_t began = wire_us();
  run(&x, &w);
  CHECK(wire_us() - began < 3000000);
  CHECK_INT(x.c.error, UV_ETIMEDOUT);
  pid_t grandchild = pid_in(file);
  CHECK(grandchild > 1);
  for (int i = 0; i < 300 && !gone(grandchild); i++) {
    uv_run(w.loop, UV_RUN_NOWAIT);
    poll(NULL, 0, 10);
  }
  CHECK(gone(grandchild));
  slp_buf_free(&x.out);
  wire_close(&w);
  CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* no zombie: there is no child at all */
  CHECK_INT(errno, ECHILD);
  unlink(file);
}

TEST(cancelled_and_closed_in_the_middle) {
  wire w;
  one x, y;
  wire_open(&w);
  make(&x, &w, 100, SHELL("sleep 1000"));
  make(&y, &w, 100, SHELL("sleep 1000"));
  slp_spawn(w.h, &x.c);
  slp_spawn(w.h, &y.c);
  for (int i = 0; i < 20; i++) uv_run(w.loop, UV_RUN_NOWAIT);
  slp_spawn_cancel(w.h, &x.c);
  slp_buf_free(&x.out);
  slp_spawn_cancel(w.h, &x.c); /* once more is fine */
  slp_buf_free(&y.out);
  wire_close(&w); /* y is still running */
  CHECK_INT(x.done + y.done, 0);
  CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
  CHECK_INT(errno, ECHILD);
}

TEST(a_child_that_leaves_its_output_open_to_a_daemon) {
  wire w;
  one x;
  wire_open(&w);
  make(&x, &w, 100, SHELL("sleep 1000 & echo done"));
  x.c.total_ms_max = 700;
  run(&x, &w);
  CHECK_INT(x.c.error, UV_ETIMEDOUT);
  slp_buf_free(&x.out);
  wire_close(&w);
}

/* An application that waits for just any child takes ours from libuv, which then never sees it end. */
TEST(a_child_that_somebody_else_waited_for_does_not_keep_the_loop) {
  wire w;
  one x;
  char file[] = "/tmp/sloop-child-XXXXXX", script[200];
  close(mkstemp(file));
  wire_open(&w);
  snprintf(script, sizeof script, "echo $$ > %s; exec sleep 1000", file);
  make(&x, &w, 100, SHELL(script));
  x.c.total_ms_max = 300;
  slp_spawn(w.h, &x.c);
  for (int i = 0; i < 300 && !pid_in(file); i++) poll(NULL, 0, 10);
  pid_t pid = pid_in(file);
  CHECK_INT(kill(pid, SIGKILL), 0);
  CHECK_INT(waitpid(pid, NULL, 0), pid);
  WIRE_UNTIL(&w, &x.done);
  CHECK_INT(x.c.error, UV_ETIMEDOUT);
  slp_buf_free(&x.out);
  wire_close(&w);
  unlink(file);
}
