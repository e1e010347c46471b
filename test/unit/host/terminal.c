/* terminal.c - sizes of terminals; what is no terminal; a crash gives the screen back. */
#include "host/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "check.h"

TEST(a_terminal_has_a_size) {
  int master, slave;
  uint32_t columns = 0, rows = 0;
  struct winsize size = {.ws_col = 132, .ws_row = 50};
  CHECK_INT(openpty(&master, &slave, NULL, NULL, &size), 0);
  CHECK_INT(slp_terminal_size(slave, &columns, &rows), 0);
  CHECK_INT(columns, 132);
  CHECK_INT(rows, 50);
  size = (struct winsize){0}; /* one that does not say */
  CHECK_INT(ioctl(slave, TIOCSWINSZ, &size), 0);
  CHECK_INT(slp_terminal_size(slave, &columns, &rows), 0);
  CHECK_INT(columns, 80);
  CHECK_INT(rows, 24);
}

TEST(others_have_none) {
  uint32_t columns, rows;
  int fd[2];
  CHECK_INT(pipe(fd), 0);
  CHECK(slp_terminal_size(fd[1], &columns, &rows) < 0);
  CHECK(slp_terminal_size(-1, &columns, &rows) < 0);
}

/* Asks on the terminal whose other side is not in this process. Ends it with 0 if the answer came and nothing else
 * was left to be read. */
static void ask_as_leader(const char *terminal) {
  atomic_int stop = 0;
  char line[20] = "", rest[100];
  setsid();
  int fd = open(terminal, O_RDWR); /* becomes ours */
  if (ioctl(fd, TIOCSCTTY, 0) != 0) _exit(1);
  if (slp_terminal_ask("code? ", &stop, line, sizeof line) != 0 || strcmp(line, "271828") != 0) _exit(2);
  struct pollfd there = {.fd = fd, .events = POLLIN};
  if (poll(&there, 1, 200) == 0) _exit(0);
  _exit(read(fd, rest, sizeof rest) > 0 ? 3 : 4);
}

TEST(what_is_typed_unseen_behind_an_answer_reaches_no_other_reader) {
  int master, slave, status;
  char name[100], asked[100] = "";
  size_t n = 0;
  CHECK_INT(openpty(&master, &slave, name, NULL, NULL), 0);
  pid_t pid = fork();
  if (pid == 0) {
    close(master);
    ask_as_leader(name);
  }
  while (!strstr(asked, "code? ")) {
    ssize_t got = read(master, asked + n, sizeof asked - 1 - n);
    CHECK(got > 0);
    n += (size_t)got;
  }
  CHECK_INT(write(master, "271828\nsecret\n", 14), 14);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK_INT(WEXITSTATUS(status), 0);
  close(master);
  close(slave);
}

TEST(a_crash_gives_the_screen_back) {
  static const int numbers[] = {SIGABRT, SIGSEGV, SIGQUIT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int fd[2], status;
    char got[64] = "";
    CHECK_INT(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
      dup2(fd[1], 1);
      slp_terminal_give_back_on_crash();
      raise(numbers[i]);
      _exit(0);
    }
    close(fd[1]);
    CHECK(read(fd[0], got, sizeof got - 1) > 0);
    CHECK_STR(got, SLP_TERMINAL_GIVE_BACK);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), numbers[i]);
  }
}
