/* program.c - clocks, signals, writes with a time limit, and a child process, for commands. */
#include "program/program.h"

#include "base/buf.h"
#include "host/os.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t slp_program_mono_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

int64_t slp_program_wall_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

uint64_t slp_program_cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

uint64_t slp_program_peak_bytes(void) {
  struct rusage u;
  return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024u : 0;
}

void slp_program_ignore_signal(int number) { signal(number, SIG_IGN); }

int slp_program_ignores_signal(int number) {
  struct sigaction is;
  return sigaction(number, NULL, &is) == 0 && is.sa_handler == SIG_IGN;
}

void slp_program_fill_standard(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) /* open() takes the lowest free number, which is fd */
      (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Bytes are written in pieces of PIPE_BUF or less. poll() reports a pipe as writable when that much fits, so
 * write() does not block even if the descriptor is in blocking mode. */
#define PIECE_MAX 4096u

/* Opens the terminal of fd once more, in non-blocking mode. poll() reports a terminal as writable when one
 * byte fits, and write() in blocking mode would then wait until all bytes fit. The mode of fd itself is not
 * changed, because other programs share it. Returns -1 if fd is no terminal, or if it can't be opened, as
 * after su(1). */
static int open_terminal_again(int fd) {
  char path[4096];
  if (!isatty(fd) || slp_os_terminal_path(fd, path, sizeof path)) return -1;
  return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int write_until(int fd, slp_str bytes, uint64_t give_up_us) {
  while (bytes.n > 0) {
    uint64_t now_us = slp_program_mono_us();
    int left_ms = now_us < give_up_us ? (int)((give_up_us - now_us + 999u) / 1000u) : 0;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, left_ms);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if (n == 0) return SLP_ETIMEDOUT;
    if (p.revents & POLLNVAL) return -EBADF;
    size_t piece = bytes.n < PIECE_MAX ? bytes.n : PIECE_MAX;
    ssize_t wrote = write(fd, bytes.p, piece);
    if (wrote < 0 && errno == EAGAIN) { /* a terminal had room for one byte, and a newline needs two */
      if (!left_ms) return SLP_ETIMEDOUT;
      (void)poll(NULL, 0, 1);
      continue;
    }
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return -errno;
    bytes.p += wrote;
    bytes.n -= (size_t)wrote;
  }
  return 0;
}

int slp_program_write(int fd, slp_str bytes, uint32_t wait_ms) {
  int own_fd = open_terminal_again(fd);
  int r = write_until(own_fd >= 0 ? own_fd : fd, bytes, slp_program_mono_us() + (uint64_t)wait_ms * 1000u);
  if (own_fd >= 0) close(own_fd);
  return r;
}

int slp_program_create(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  return fd < 0 ? -errno : fd;
}

int slp_program_close(int fd) { return close(fd) ? -errno : 0; }

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Starts this program once more. Returns 0 or -errno. The child gets a process group of its own, so that
 * Ctrl-C at the terminal does not end it before the parent does. */
static int spawn_self(int in_fd, int out_fd, const char *const *argv, pid_t *ret_pid) {
  char path[4096], *args[64]; /* posix_spawn takes pointers to char, but never writes through them */
  size_t n = 0;
  for (; argv[n] && n + 1 < SLP_COUNT(args); n++) memcpy(&args[n], &argv[n], sizeof args[n]);
  args[n] = NULL;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int r = posix_spawn_file_actions_init(&files);
  if (r) return -r;
  r = posix_spawnattr_init(&attributes);
  if (!r) {
    r = posix_spawn_file_actions_adddup2(&files, in_fd, 0);
    if (!r) r = posix_spawn_file_actions_adddup2(&files, out_fd, 1);
    if (!r) r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (!r) r = posix_spawnattr_setpgroup(&attributes, 0);
    if (!r) r = -slp_os_own_program(path, sizeof path);
    if (!r) r = posix_spawn(ret_pid, path, &files, &attributes, args, slp_os_environment());
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  return -r;
}

int slp_own_child_start(slp_own_child *child, const char *const *argv) {
  *child = (slp_own_child){.pid = -1, .in_fd = -1, .out_fd = -1};
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  pid_t pid = -1;
  int r = slp_os_pipe(in);
  if (!r) r = slp_os_pipe(out);
  if (!r) r = spawn_self(in[0], out[1], argv, &pid);
  close_fd(&in[0]);
  close_fd(&out[1]);
  if (r) {
    close_fd(&in[1]);
    close_fd(&out[0]);
    return r;
  }
  *child = (slp_own_child){.pid = (int)pid, .in_fd = in[1], .out_fd = out[0]};
  return 0;
}

int slp_own_child_wait_line(slp_own_child *child, const char *prefix, uint32_t wait_ms, slp_buf *ret_line) {
  uint64_t give_up_us = slp_program_mono_us() + (uint64_t)wait_ms * 1000u;
  size_t prefix_n = strlen(prefix);
  char line[1024];
  size_t n = 0;
  for (;;) {
    uint64_t now_us = slp_program_mono_us();
    if (now_us >= give_up_us) return SLP_ETIMEDOUT;
    struct pollfd p = {.fd = child->out_fd, .events = POLLIN};
    int ready = poll(&p, 1, (int)((give_up_us - now_us + 999u) / 1000u));
    if (ready <= 0) continue;
    char c;
    /* byte by byte, which is fast enough: only a few short lines are read */
    ssize_t got = read(child->out_fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return SLP_ENOENT;
    if (c != '\n') {
      if (n < sizeof line) line[n++] = c;
      continue;
    }
    if (n >= prefix_n && memcmp(line, prefix, prefix_n) == 0)
      return slp_buf_add(ret_line, line + prefix_n, n - prefix_n);
    n = 0;
  }
}

uint64_t slp_own_child_cpu_us(const slp_own_child *child) {
  return child->pid > 0 ? slp_os_cpu_us(child->pid) : 0;
}

void slp_own_child_end(slp_own_child *child) {
  close_fd(&child->in_fd);
  close_fd(&child->out_fd);
  if (child->pid <= 0) return;
  uint64_t give_up_us = slp_program_mono_us() + 2000000u;
  for (;;) {
    pid_t r = waitpid(child->pid, NULL, WNOHANG);
    if (r == child->pid || (r < 0 && errno != EINTR)) break;
    if (slp_program_mono_us() >= give_up_us) {
      kill(child->pid, SIGKILL);
      waitpid(child->pid, NULL, 0);
      break;
    }
    poll(NULL, 0, 5);
  }
  child->pid = -1;
}
