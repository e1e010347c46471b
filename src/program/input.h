/* input.h - reads standard input or a file in pieces, and never blocks the loop for pipes, sockets, terminals
 * and FIFOs. For cli/ and tests. */
#ifndef SLP_PROGRAM_INPUT_H
#define SLP_PROGRAM_INPUT_H

#include "base/mem.h"

#define SLP_INPUT_PIECE 65536u

struct uv_loop_s;

typedef struct slp_input slp_input;
typedef struct slp_input_user {
  /* Called with the bytes that were read and not used yet. Returns how many of them it has used. If it
   * returns less than n, nothing more is read or offered until slp_input_resume(). */
  size_t (*on_bytes)(void *arg, const char *p, size_t n);
  /* The last callback, called when all bytes were used. `error` is 0 at the end of the input, -errno if a
   * read failed. */
  void (*on_end)(void *arg, int error);
  void *arg;
} slp_input_user;

/* Opens the file, or standard input if `path` is NULL, and begins to read in a later turn of the loop. If no
 * process has opened a FIFO for writing yet, waits for a writer, without blocking. Returns 0, SLP_ENOMEM,
 * -EISDIR, or -errno. */
int slp_input_open(slp_input **ret, slp_mem *mem, struct uv_loop_s *loop, const char *path,
                   const slp_input_user *user);
/* Offers the bytes that were not used, in a later turn, and then reads on. Does nothing if the input is not
 * paused. */
void slp_input_resume(slp_input *in);
/* Returns the bytes that are read and not used. Valid until the next turn of the loop. */
slp_str slp_input_unused(const slp_input *in);
/* Closes the input: no callback is called any more. `in` is freed on a later turn of the loop. NULL is
 * fine. */
void slp_input_close(slp_input *in);

/* Returns 1 if both paths lead to one file, and that file is not a terminal or another device. A path that is
 * NULL stands for standard input. */
int slp_input_is_same_file(const char *path, const char *other);

#endif
