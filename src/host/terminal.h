/* terminal.h - the terminal that a descriptor may be, and the one that this process has. For cli/, tests, and
 * aws/ask_code.c, which asks on it. */
#ifndef SLP_HOST_TERMINAL_H
#define SLP_HOST_TERMINAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0 and the size (80 x 24 if the terminal does not say), or -errno: fd is no terminal. */
int slp_terminal_size(int fd, uint32_t *ret_columns, uint32_t *ret_rows);

/* What a full-screen program writes: TAKE shows an empty screen and hides the cursor, GIVE_BACK restores
 * both. */
#define SLP_TERMINAL_TAKE "\033[?1049h\033[?25l"
#define SLP_TERMINAL_GIVE_BACK "\033[?25h\033[?1049l"
/* From now on a crash (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL) and SIGQUIT write SLP_TERMINAL_GIVE_BACK to
 * standard output before they end the process as they would. */
void slp_terminal_give_back_on_crash(void);
/* Stops the process as Ctrl-Z does by default, although SIGTSTP is handled. Returns when it is continued.
 * Returns at once if the system stops nobody, because no shell could continue it (an orphaned process group:
 * ssh -t, xterm -e). */
void slp_terminal_stop_process(void);
/* Returns 1 if this process has a terminal (/dev/tty) and is in its foreground. */
int slp_terminal_is_ours(void);
/* Asks on that terminal and reads one line, which is not shown while it is typed. Blocks, on a thread, until
 * a line came or *stop is set; several threads ask one after the other. Returns 0; SLP_ELIMIT: the line is
 * too long; SLP_ECANCELED: *stop was set; or -errno, -ENOTTY without a terminal. */
int slp_terminal_ask(const char *question, atomic_int *stop, char *line, size_t size);

#endif
