/* piped.h - children that the program talks to for as long as they live: it gets lines of their standard
 * output and standard error, and writes bytes to their standard input. Each child has a process group. For
 * cli/ and tests.
 *
 * No child outlives the program, whatever ends the program. On Linux the kernel kills each child at its
 * parent's death. The guard does this on all systems: a process that is forked before anything else. When the
 * program ends, however it ends, the guard reads the end of a pipe, and kills the children's groups. */
#ifndef SLP_PROGRAM_PIPED_H
#define SLP_PROGRAM_PIPED_H

#include "base/buf.h"
#include "base/mem.h"

struct uv_loop_s;

/* Forks the guard. Must be called at the start of the program, while the process has one thread and has
 * opened nothing. Returns a descriptor for slp_herd_new(), which takes it over; -1: there is no guard. */
int slp_guard_start(void);

/* all child processes of one loop */
typedef struct slp_herd slp_herd;
/* returns NULL if there is no memory */
slp_herd *slp_herd_new(slp_mem *mem, struct uv_loop_s *loop, int guard_fd);
/* Frees the herd on a later turn of the loop. All children must have been dropped. */
void slp_herd_close(slp_herd *herd);

typedef struct slp_piped slp_piped; /* one child process */
typedef struct slp_piped_user {
  /* on_out gets a line without its newline, and may change it in place. Standard output is read only while
   * slp_piped_listen is on. on_err gets a line of standard error; a long line comes in pieces. */
  void (*on_out)(void *arg, char *line, size_t n);
  void (*on_err)(void *arg, const char *line, size_t n);
  void (*on_long)(void *arg);    /* a line of standard output was longer than out_max, and was left out */
  void (*on_written)(void *arg); /* all bytes given to slp_piped_write were written to the child */
  /* The child lives, but has closed its standard input (input 1, which is noticed at a write) or its standard
   * output (input 0). */
  void (*on_broken)(void *arg, int input);
  /* The last callback: the child has ended, and its output was read to the end. */
  void (*on_exit)(void *arg, int status, int signal);
  void *arg;
  size_t out_max; /* bytes of the longest line of standard output */
} slp_piped_user;

/* Starts a child. argv ends with NULL; a name without a slash is looked for in PATH. Returns 0, or -errno:
 * the child can't be started. */
int slp_piped_start(slp_piped **ret, slp_herd *herd, const char *const *argv, const slp_piped_user *user);
/* writes the bytes of b to the child's standard input, and takes them out of b */
void slp_piped_write(slp_piped *p, slp_buf *b);
void slp_piped_close_input(slp_piped *p);
/* on 1: on_out is called. on 0 (at the beginning): lines are kept, and the pipe is not read any more when
 * enough bytes wait. */
void slp_piped_listen(slp_piped *p, int on);
void slp_piped_kill(slp_piped *p, int signal); /* sends the signal to the child's group */
/* Kills the child's group, and frees the child on a later turn of the loop. No callback is called any
 * more. */
void slp_piped_drop(slp_piped *p);

#endif
