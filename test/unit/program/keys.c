/* keys.c - keys of a terminal: they come without a newline, and the terminal is given back as it was. */
#include "program/keys.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <uv.h>

#include "check.h"
#include "program/process.h"

#define PATIENCE_MS 10000

static char typed[100];
static size_t typed_n;
static uv_timer_t patience;
static slp_keys *keys;
static const char *until; /* the keys after which reading ends */

static void on_keys(void *arg, const char *p, size_t n) {
  (void)arg;
  if (typed_n + n >= sizeof typed) _exit(10);
  memcpy(typed + typed_n, p, n);
  typed_n += n;
  if (!strstr(typed, until)) return;
  slp_keys_end(keys);
  uv_close((uv_handle_t *)&patience, NULL);
}

static void on_patience(uv_timer_t *timer) {
  (void)timer;
  _exit(11);
}

/* Plays a program on the terminal, as the leader of its session. Ends the process with 0 if all is well. */
static void read_keys_as_leader(const char *terminal, const char *last) {
  struct termios before = {0}, now = {0};
  setsid();
  int fd = open(terminal, O_RDWR);
  if (ioctl(fd, TIOCSCTTY, 0) != 0 || dup2(fd, 1) != 1 || tcgetattr(fd, &before) != 0) _exit(1);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  struct uv_loop_s *loop = slp_loop_new(mem);
  until = last;
  keys = slp_keys_new(mem, loop, on_keys, NULL);
  if (!keys) _exit(2);
  if (tcgetattr(fd, &now) != 0 || memcmp(&before, &now, sizeof now) != 0) _exit(3); /* not yet */
  if (!slp_keys_begin(keys)) _exit(4);
  if (tcgetattr(fd, &now) != 0 || (now.c_lflag & (ECHO | ICANON)) || !(now.c_lflag & ISIG)) _exit(5);
  if (fcntl(1, F_GETFL) & O_NONBLOCK) _exit(6); /* the flags of others are left alone */
  if (write(1, "ready", 5) != 5) _exit(7);
  uv_timer_init(loop, &patience);
  uv_timer_start(&patience, on_patience, PATIENCE_MS, 0);
  slp_loop_run(loop);
  if (tcgetattr(fd, &now) != 0 || memcmp(&before, &now, sizeof now) != 0) _exit(8);
  slp_keys_close(keys);
  slp_loop_run(loop);
  if (slp_loop_free(mem, loop) != 0 || mem->live_blocks) _exit(9);
  _exit(strcmp(typed, last) == 0 ? 0 : 12);
}

TEST(keys_come_at_once_and_the_terminal_is_given_back) {
  int master, slave, status = -1;
  char name[100], said[20] = "";
  size_t n = 0;
  CHECK_INT(openpty(&master, &slave, name, NULL, NULL), 0);
  pid_t pid = fork();
  if (pid == 0) {
    close(master);
    read_keys_as_leader(name, "ab\033[A?q");
  }
  close(slave); /* so that the reads below end if the child does */
  while (!strstr(said, "ready")) {
    ssize_t got = read(master, said + n, sizeof said - 1 - n);
    if (got <= 0) break;
    n += (size_t)got;
  }
  static const char sent[] = "ab\033[A?q";
  for (size_t i = 0; i + 1 < sizeof sent; i++) CHECK(write(master, sent + i, 1) == 1);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(without_a_terminal_of_its_own_a_process_gets_no_keys) {
  int master, slave, pipes[2], status = -1;
  CHECK(openpty(&master, &slave, NULL, NULL, NULL) == 0 && pipe(pipes) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    slp_mem *mem = slp_mem_new(NULL, NULL);
    struct uv_loop_s *loop = slp_loop_new(mem);
    setsid(); /* no terminal is this session's */
    for (int i = 0; i < 2; i++) {
      if (dup2(i ? slave : pipes[1], 1) != 1 || slp_keys_new(mem, loop, on_keys, NULL)) _exit(1 + i);
    }
    _exit(slp_loop_free(mem, loop) == 0 && mem->live_blocks == 0 ? 0 : 3);
  }
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  CHECK_INT(WEXITSTATUS(status), 0);
}
