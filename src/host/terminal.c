/* terminal.c - size of a terminal, and leaving it in order. */
#include "host/terminal.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
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

/* Does only what is safe in a signal handler. SA_RESETHAND: raised again, the signal has its default
 * effect. */
static void on_crash(int number) {
  static const char text[] = SLP_TERMINAL_GIVE_BACK;
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
