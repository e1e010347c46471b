/* terminal.c - gets a terminal's size, asks a question on it, and restores it after a crash. */
#include "host/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/base.h"

int slp_terminal_size(int fd, uint32_t *ret_columns, uint32_t *ret_rows) {
  struct winsize size = {0};
  if (!isatty(fd)) return -(errno ? errno : ENOTTY);
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) size = (struct winsize){0};
  *ret_columns = size.ws_col ? size.ws_col : 80;
  *ret_rows = size.ws_row ? size.ws_row : 24;
  return 0;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */
static struct termios before_keys;         /* the settings to restore */
static volatile sig_atomic_t keys_fd = -1; /* descriptor of the terminal with changed settings; -1: none */

int slp_terminal_is_foreground(int fd) { return tcgetpgrp(fd) == getpgrp(); }

int slp_terminal_keys_open(int shown_fd) {
  if (tcgetsid(shown_fd) != getsid(0)) return -ENOTTY;
  int fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) return fd;
  return errno == ENXIO || errno == ENOENT ? -ENOTTY : -errno;
}

int slp_terminal_keys_begin(int fd) {
  if (keys_fd >= 0) return 0;
  if (!slp_terminal_is_foreground(fd)) return -ENOTTY;
  if (tcgetattr(fd, &before_keys) != 0) return -errno;
  struct termios keys = before_keys;
  keys.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  if (tcsetattr(fd, TCSANOW, &keys) != 0) return -errno;
  keys_fd = fd;
  return 0;
}

void slp_terminal_keys_end(void) {
  int fd = keys_fd;
  keys_fd = -1;
  if (fd >= 0 && slp_terminal_is_foreground(fd)) (void)tcsetattr(fd, TCSANOW, &before_keys);
}

/* Handles the signal of a crash, and does only what is safe in a signal handler. Because of SA_RESETHAND,
 * raise() then has the signal's default effect. */
static void on_crash(int number) {
  static const char text[] = SLP_TERMINAL_GIVE_BACK;
  slp_terminal_keys_end();
  ssize_t n = write(1, text, sizeof text - 1);
  (void)n;
  raise(number);
}

void slp_terminal_give_back_on_crash(void) {
  static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < SLP_COUNT(numbers); i++) sigaction(numbers[i], &action, NULL);
}

void slp_terminal_stop_process(void) {
  struct sigaction as_before, by_default = {.sa_handler = SIG_DFL};
  if (sigaction(SIGTSTP, &by_default, &as_before) != 0) return;
  (void)raise(SIGTSTP);
  sigaction(SIGTSTP, &as_before, NULL);
}

/* ---- asking a question --------------------------------------------------------------------------------- */
#define LOOK_MS 100 /* how often, in ms, *stop is checked while a line is awaited */

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

/* Opens the process's terminal. Fails if the process is in the background, where reading would stop it.
 * Returns a descriptor or -errno. */
static int open_ours(void) {
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno == ENXIO || errno == ENOENT ? -ENOTTY : -errno;
  if (tcgetpgrp(fd) == getpgrp()) return fd;
  close(fd);
  return -ENOTTY;
}

int slp_terminal_is_ours(void) {
  int fd = open_ours();
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Reads one line. A terminal delivers whole lines. Returns 0, SLP_ELIMIT, SLP_ECANCELED or -errno. */
static int read_line(int fd, atomic_int *stop, char *line, size_t size) {
  struct pollfd there = {.fd = fd, .events = POLLIN};
  while (!atomic_load(stop)) {
    int r = poll(&there, 1, LOOK_MS);
    if (r < 0 && errno != EINTR) return -errno;
    if (r <= 0) continue;
    ssize_t n = read(fd, line, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if ((size_t)n == size && line[n - 1] != '\n') return SLP_ELIMIT;
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    line[n] = 0;
    return 0;
  }
  return SLP_ECANCELED;
}

static int write_whole(int fd, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t n = write(fd, text, left);
    if (n < 0 && errno != EINTR) return -errno;
    if (n < 0) continue;
    text += n;
    left -= (size_t)n;
  }
  return 0;
}

static int ask_on(int fd, const char *question, atomic_int *stop, char *line, size_t size) {
  struct termios as_before;
  if (tcgetattr(fd, &as_before) != 0) return -errno;
  struct termios silent = as_before;
  silent.c_lflag &= ~(tcflag_t)ECHO;
  if (tcsetattr(fd, TCSAFLUSH, &silent) != 0) return -errno;
  int r = write_whole(fd, question);
  if (!r) r = read_line(fd, stop, line, size);
  /* Discards what was typed after the answer while nothing was shown. Otherwise the next reader, such as a
   * shell, would show these characters. TCSAFLUSH would discard them too, but also wait for output, which
   * Ctrl-S may have stopped. */
  (void)tcflush(fd, TCIFLUSH);
  (void)tcsetattr(fd, TCSANOW, &as_before);
  (void)write_whole(fd, "\n");
  return r;
}

int slp_terminal_ask(const char *question, atomic_int *stop, char *line, size_t size) {
  while (pthread_mutex_trylock(&asking) != 0) {
    if (atomic_load(stop)) return SLP_ECANCELED;
    (void)poll(NULL, 0, LOOK_MS);
  }
  int fd = open_ours(), r = fd < 0 ? fd : ask_on(fd, question, stop, line, size);
  if (fd >= 0) close(fd);
  pthread_mutex_unlock(&asking);
  return r;
}
