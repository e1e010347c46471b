/* The functions for programs: signals, ticks, output that never blocks, the end of input. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <uv.h>

#include "check.h"
#include "program/process.h"

typedef struct seen {
  int events, number, ends;
  uv_loop_t *loop;
} seen;

static void on_event(void *arg) { ((seen *)arg)->events++; }
static void on_end(void *arg) { ((seen *)arg)->ends++; }
static void on_signal(void *arg, int number) {
  ((seen *)arg)->number = number;
  ((seen *)arg)->events++;
}
static void on_tick(void *arg) {
  seen *s = arg;
  if (++s->events == 3) uv_stop(s->loop);
}

static void finish(slp_mem *mem, uv_loop_t *loop) {
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_buf bytes(slp_mem *mem, size_t n) {
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 30);
  CHECK_INT(slp_buf_reserve(&b, n), 0);
  for (size_t i = 0; i < n; i++) b.p[i] = (char)('a' + i % 23);
  b.n = n;
  return b;
}

/* Writes n bytes into w while reading them slowly from r, and compares. */
static void through(int r, int w, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  int flags = fcntl(w, F_GETFL);
  slp_out *o = slp_out_new(mem, loop, w, on_event, &s);
  slp_buf b = bytes(mem, n), head = bytes(mem, 3);
  CHECK_INT(slp_out_write(o, &head), 0);
  CHECK_INT(slp_out_write(o, &b), 0);
  CHECK(b.p == NULL && head.p == NULL);
  CHECK_INT(s.events, 0); /* never from inside */
  CHECK(slp_out_waiting_bytes(o) > 0 || n < 60000);
  fcntl(r, F_SETFL, fcntl(r, F_GETFL) | O_NONBLOCK);
  size_t got = 0;
  char part[5000];
  while (got < n + 3) {
    uv_run(loop, UV_RUN_NOWAIT);
    ssize_t k = read(r, part, sizeof part);
    for (ssize_t i = 0; i < k; i++, got++) CHECK_INT(part[i], 'a' + (int)((got < 3 ? got : got - 3) % 23));
  }
  while (!s.events) uv_run(loop, UV_RUN_NOWAIT);
  CHECK_INT(slp_out_waiting_bytes(o), 0);
  CHECK_INT(slp_out_error(o), 0);
  slp_out_close(o);
  CHECK_INT(fcntl(w, F_GETFL), flags);
  finish(mem, loop);
}

TEST(output_to_a_pipe_waits_for_its_reader) {
  int p[2];
  CHECK_INT(pipe(p), 0);
  through(p[0], p[1], 3000000);
}

TEST(output_to_a_socket) {
  int p[2];
  CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
  through(p[0], p[1], 3000000);
}

TEST(output_to_a_terminal_leaves_its_flags_alone) {
  int master, slave;
  struct termios raw;
  memset(&raw, 0, sizeof raw);
  cfmakeraw(&raw);
  CHECK_INT(openpty(&master, &slave, NULL, &raw, NULL), 0);
  CHECK(slp_is_terminal(slave));
  int before = fcntl(slave, F_GETFL);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  slp_out *o = slp_out_new(mem, loop, slave, on_event, &s);
  CHECK_INT(fcntl(slave, F_GETFL), before); /* also while we write: a killed program restores nothing */
  slp_buf b = bytes(mem, 200000);
  CHECK_INT(slp_out_write(o, &b), 0);
  CHECK(slp_out_waiting_bytes(o) > 0);
  slp_out_close(o);
  finish(mem, loop);
  CHECK_INT(openpty(&master, &slave, NULL, &raw, NULL), 0);
  through(master, slave, 100000);
}

TEST(output_to_a_file_and_to_nowhere) {
  char name[] = "/tmp/sloop-out-XXXXXX";
  int fd = mkstemp(name);
  CHECK(fd >= 0);
  unlink(name);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0}, t = {0};
  int null = open("/dev/null", O_WRONLY);
  slp_out *o = slp_out_new(mem, loop, fd, on_event, &s), *q = slp_out_new(mem, loop, null, on_event, &t);
  slp_buf b = bytes(mem, 1000000), c = bytes(mem, 1000000);
  CHECK_INT(slp_out_write(o, &b), 0);
  CHECK_INT(slp_out_write(q, &c), 0);
  CHECK_INT(slp_out_waiting_bytes(o), 0);
  while (!s.events || !t.events) uv_run(loop, UV_RUN_NOWAIT);
  CHECK_INT(lseek(fd, 0, SEEK_END), 1000000);
  slp_out_close(o);
  slp_out_close(q);
  finish(mem, loop);
}

TEST(a_reader_that_leaves_is_an_error_once) {
  int p[2];
  CHECK_INT(pipe(p), 0);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  slp_out *o = slp_out_new(mem, loop, p[1], on_event, &s);
  slp_buf b = bytes(mem, 1000000);
  CHECK_INT(slp_out_write(o, &b), 0);
  close(p[0]);
  while (!s.events) uv_run(loop, UV_RUN_ONCE);
  CHECK_INT(slp_out_error(o), UV_EPIPE);
  CHECK_INT(slp_out_waiting_bytes(o), 0);
  b = bytes(mem, 10);
  CHECK_INT(slp_out_write(o, &b), UV_EPIPE);
  slp_buf_free(&b);
  slp_out_close(o);
  finish(mem, loop);
  CHECK_INT(s.events, 1);
}

TEST(closing_drops_what_waits) {
  int p[2];
  CHECK_INT(pipe(p), 0);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  slp_out *o = slp_out_new(mem, loop, p[1], on_event, &s);
  slp_buf b = bytes(mem, 1000000);
  CHECK_INT(slp_out_write(o, &b), 0);
  slp_out_close(o);
  finish(mem, loop);
  CHECK_INT(s.events, 0);
}

static void input_ends(int fd, int feeder) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  int flags = fcntl(fd, F_GETFL);
  slp_in_end *e = slp_in_end_new(mem, loop, fd, on_end, &s);
  CHECK_INT(fcntl(fd, F_GETFL), flags);
  if (feeder >= 0) {
    for (int i = 0; i < 20; i++) {
      CHECK_INT(write(feeder, "hello\n", 6), 6);
      uv_run(loop, UV_RUN_NOWAIT);
      CHECK_INT(s.ends, 0);
    }
    close(feeder);
  }
  while (!s.ends) uv_run(loop, UV_RUN_ONCE); /* it keeps the loop alive until then */
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK_INT(s.ends, 1);
  slp_in_end_close(e);
  finish(mem, loop);
}

TEST(input_ends_for_pipes_files_and_nothing) {
  int p[2];
  CHECK_INT(pipe(p), 0);
  input_ends(p[0], p[1]);
  CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
  input_ends(p[0], p[1]);
  input_ends(open("/dev/null", O_RDONLY), -1);
  input_ends(open("/proc/self/maps", O_RDONLY), -1);
  input_ends(open("/usr/bin/env", O_RDONLY), -1);
}

TEST(input_may_be_closed_before_its_end) {
  int p[2];
  CHECK_INT(pipe(p), 0);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  slp_in_end *e = slp_in_end_new(mem, loop, p[0], on_end, &s);
  uv_run(loop, UV_RUN_NOWAIT);
  slp_in_end_close(e);
  finish(mem, loop);
  CHECK_INT(s.ends, 0);
}

TEST(signals_arrive_on_the_loop_and_do_not_keep_it) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {0};
  int numbers[] = {SIGUSR1, SIGUSR2};
  slp_signals *g = slp_signals_new(mem, loop, numbers, 2, on_signal, &s);
  uv_run(loop, UV_RUN_DEFAULT); /* returns at once */
  int p[2];
  CHECK_INT(pipe(p), 0);
  slp_in_end *e = slp_in_end_new(mem, loop, p[0], on_end, &s); /* something must keep the loop */
  kill(getpid(), SIGUSR2);
  while (!s.events) uv_run(loop, UV_RUN_ONCE);
  CHECK_INT(s.number, SIGUSR2);
  slp_in_end_close(e);
  slp_signals_close(g);
  finish(mem, loop);
  int bad[] = {SIGUSR1, SIGKILL};
  mem = slp_mem_new(NULL, NULL);
  loop = slp_loop_new(mem);
  CHECK(slp_signals_new(mem, loop, bad, 2, on_signal, &s) == NULL);
  finish(mem, loop);
}

TEST(ticks_repeat_and_break_stops_the_loop) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {.loop = loop};
  int p[2];
  CHECK_INT(pipe(p), 0);
  slp_in_end *e = slp_in_end_new(mem, loop, p[0], on_end, &s); /* something must keep the loop */
  slp_ticker *t = slp_ticker_new(mem, loop, 5, on_tick, &s);
  slp_loop_run(loop);
  CHECK_INT(s.events, 3);
  slp_ticker_close(t);
  slp_in_end_close(e);
  finish(mem, loop);
}

TEST(a_loop_with_open_handles_is_not_freed) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  uv_loop_t *loop = slp_loop_new(mem);
  seen s = {.loop = loop};
  slp_ticker *t = slp_ticker_new(mem, loop, 5, on_tick, &s);
  CHECK_INT(slp_loop_free(mem, loop), UV_EBUSY);
  slp_ticker_close(t);
  finish(mem, loop);
}

static struct uv_loop_s *loop_with_descriptors_up_to(slp_mem *mem, rlim_t limit) {
  struct rlimit l;
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &l), 0);
  l.rlim_cur = limit;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &l), 0);
  return slp_loop_new(mem);
}

/* Each in a process of its own: libuv makes some things once. */
TEST(without_descriptors_there_is_no_loop_and_the_process_lives) {
  int made = 0, first = dup(0);
  CHECK(first >= 0 && close(first) == 0);
  for (int more = 0; !made; more++) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
      slp_mem *mem = slp_mem_new(NULL, NULL);
      uv_loop_t *loop = loop_with_descriptors_up_to(mem, (rlim_t)(first + more));
      if (loop) CHECK_INT(slp_loop_free(mem, loop), 0);
      CHECK_INT(mem->live_blocks, 0);
      slp_mem_drop(mem);
      _exit(loop ? 0 : 2);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_INT(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
    made = WEXITSTATUS(status) == 0;
    CHECK(more > 0 || !made);
    CHECK(more < 20);
  }
}
