/* piped.h - children that the program talks to for as long as they live: lines out of standard output and
 * standard error, bytes into standard input, a process group for each. For cli/ and tests.
 *
 * No child outlives the program, whatever ends the program. The kernel kills each child at its parent's death
 * (Linux). And a guard, a process that was forked before anything else, sees the end of a pipe and kills the
 * children's groups. */
#ifndef SLP_PROGRAM_PIPED_H
#define SLP_PROGRAM_PIPED_H

#include "base/buf.h"

struct uv_loop_s;

/* Forks the guard. Call it first of all, while there is one thread and nothing is open. Returns -1 if it
 * can't be had, or a descriptor for slp_herd_new(), which owns it then. */
int slp_guard_start(void);

typedef struct slp_herd slp_herd;                                           /* all children of a loop */
slp_herd *slp_herd_new(slp_mem *mem, struct uv_loop_s *loop, int guard_fd); /* NULL: no memory */
/* Frees the herd on a later turn of the loop. All children must have been dropped. */
void slp_herd_close(slp_herd *herd);

typedef struct slp_piped slp_piped; /* one child */
typedef struct slp_piped_user {
  /* A line without its newline; it may be changed in place. Standard output is read only while it is listened
   * to. A long line of standard error comes in pieces. */
  void (*on_out)(void *arg, char *line, size_t n);
  void (*on_err)(void *arg, const char *line, size_t n);
  void (*on_long)(void *arg);    /* a line of standard output was longer than out_max, and is left out */
  void (*on_written)(void *arg); /* all that was given was written to the child */
  /* The child lives and has closed its input, which shows when it is written to, or (input 0) its output. */
  void (*on_broken)(void *arg, int input);
  /* The last call: the child has ended, and its output was read to the end. */
  void (*on_exit)(void *arg, int status, int signal);
  void *arg;
  size_t out_max; /* bytes of the longest line of standard output */
} slp_piped_user;

/* Returns 0, or -errno: the child can't be started. argv ends with NULL; a name without a slash is looked for
 * in PATH. */
int slp_piped_start(slp_piped **ret, slp_herd *herd, const char *const *argv, const slp_piped_user *user);
void slp_piped_write(slp_piped *p, slp_buf *b); /* takes the content of b */
void slp_piped_close_input(slp_piped *p);
void slp_piped_listen(slp_piped *p, int on);
void slp_piped_kill(slp_piped *p, int signal); /* sends the signal to the child's group */
int slp_piped_pid(const slp_piped *p);
/* Ends all calls to the user, and kills the child's group. */
void slp_piped_drop(slp_piped *p);

#endif
