/* program.h - what a command needs from the system beyond process.h: clocks, its own CPU time and memory, a
 * write with a limited wait for the reader, and a child that runs this program for measurements. For cli/,
 * tests and benches; libraries use host.h. */
#ifndef SLP_PROGRAM_PROGRAM_H
#define SLP_PROGRAM_PROGRAM_H

#include "base/buf.h"

uint64_t slp_program_mono_us(void);
int64_t slp_program_wall_ms(void);
uint64_t slp_program_cpu_us(void);     /* user and system time of this process, with all its threads */
uint64_t slp_program_peak_bytes(void); /* the most memory that the process has had resident at once */

/* Writes all bytes to a descriptor. The descriptor's flags are not changed, because other processes may share
 * them. Waits up to wait_ms for room. Returns 0, -errno, or SLP_ETIMEDOUT: there was no room, and the rest of
 * the bytes is lost. */
int slp_program_write(int fd, slp_str bytes, uint32_t wait_ms);
/* Creates the file, or empties it, for slp_program_write(). Fails at once for a FIFO that no process has
 * opened for reading. Returns a descriptor or -errno. */
int slp_program_create(const char *path);
int slp_program_close(int fd); /* returns 0, or -errno: bytes that were written may be lost */
/* Makes the process ignore the signal; for SIGPIPE and SIGXFSZ. */
void slp_program_ignore_signal(int number);
/* returns 1 if the process ignores the signal; may be called between fork and exec, too */
int slp_program_ignores_signal(int number);

/* If one of the descriptors 0, 1 and 2 is closed, opens it in such a way that reading or writing fails as
 * before. Otherwise the next file that is opened could become the program's standard output. */
void slp_program_fill_standard(void);

/* A child that runs this program with other arguments. Its standard input is a pipe that ends when this
 * process ends. */
typedef struct slp_own_child {
  int pid;
  int in_fd;  /* the write end of the child's standard input */
  int out_fd; /* the read end of the child's standard output */
} slp_own_child;
/* Starts the child. argv ends with NULL; argv[0] is only the name shown. Returns 0 or -errno. */
int slp_own_child_start(slp_own_child *child, const char *const *argv);
/* Blocks until the child has written a whole line that starts with `prefix`, and appends the rest of that
 * line to `ret_line`. Returns 0; SLP_ETIMEDOUT after wait_ms; SLP_ENOENT: the child closed its output without
 * such a line. */
int slp_own_child_wait_line(slp_own_child *child, const char *prefix, uint32_t wait_ms, slp_buf *ret_line);
uint64_t slp_own_child_cpu_us(const slp_own_child *child); /* CPU time of the child so far; 0: not known */
/* Closes the child's standard input, waits up to two seconds for the child's end, then kills it. */
void slp_own_child_end(slp_own_child *child);

#endif
