/* terminal.h - the terminal of a descriptor, and the terminal of this process (/dev/tty). For cli/, tests,
 * and aws/ask_code.c, which asks a question on it. */
#ifndef SLP_HOST_TERMINAL_H
#define SLP_HOST_TERMINAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0 and the size, or -errno if fd is no terminal. If the terminal does not report its size, the size
 * is 80 x 24. */
int slp_terminal_size(int fd, uint32_t *ret_columns, uint32_t *ret_rows);

/* What a full-screen program writes to the terminal: TAKE shows an empty screen and hides the cursor,
 * GIVE_BACK restores the screen and the cursor. */
#define SLP_TERMINAL_TAKE "\033[?1049h\033[?25l"
#define SLP_TERMINAL_GIVE_BACK "\033[0m\033[?25h\033[?1049l"
/* Opens this process's terminal (/dev/tty) for reading keys, with a descriptor that shares no flags with
 * other descriptors. Returns the descriptor, which the caller closes, or -errno. -ENOTTY: the process has no
 * terminal, or shown_fd, to which it writes, is another terminal. */
int slp_terminal_keys_open(int shown_fd);
/* From now on each key can be read at once, not only after Enter, and is not shown. Ctrl-C and Ctrl-Z still
 * send their signals. fd: a descriptor of slp_terminal_keys_open. Returns 0, or -errno; -ENOTTY: the process
 * is in the background, where a change of the terminal would stop it. */
int slp_terminal_keys_begin(int fd);
/* Restores the terminal's settings that slp_terminal_keys_begin found. Does nothing if that function was not
 * called, or if the process is in the background by now. May be called in a signal handler. */
void slp_terminal_keys_end(void);
/* Returns 1 if the process is in the foreground of the terminal. Otherwise reading keys would stop it. */
int slp_terminal_is_foreground(int fd);
/* Handles SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGQUIT from now on. The handler ends the reading of
 * keys, and writes SLP_TERMINAL_GIVE_BACK to standard output. The signal then ends the process as usual. */
void slp_terminal_give_back_on_crash(void);
/* Stops the process as Ctrl-Z does by default, even if the process handles SIGTSTP. Returns when the process
 * is continued. Returns at once if the system does not stop the process, because no shell could continue it
 * (an orphaned process group: ssh -t, xterm -e). */
void slp_terminal_stop_process(void);
/* Returns 1 if this process has a terminal (/dev/tty) and is in its foreground. */
int slp_terminal_is_ours(void);
/* Writes the question to /dev/tty and reads one line, which is not shown while it is typed. Blocks its thread
 * until a line was typed or *stop is set; several threads ask one after the other. Returns 0; SLP_ELIMIT: the
 * line is too long; SLP_ECANCELED: *stop was set; or -errno, -ENOTTY without a terminal. */
int slp_terminal_ask(const char *question, atomic_int *stop, char *line, size_t size);

#endif
