/* keys.h - reads the keys that a user types, without waiting for the end of a line. For --watch. */
#ifndef SLP_PROGRAM_KEYS_H
#define SLP_PROGRAM_KEYS_H

#include "base/mem.h"

struct uv_loop_s;

typedef struct slp_keys slp_keys;
/* Prepares to read the keys of this process's terminal, from slp_keys_begin on. on_keys gets the bytes of
 * one or more keys. Does not keep the loop alive. Returns NULL without memory, or if
 * standard output is not the terminal of this process. */
slp_keys *slp_keys_new(slp_mem *mem, struct uv_loop_s *loop,
                       void (*on_keys)(void *arg, const char *p, size_t n), void *arg);
/* Restores the terminal's settings, so that its user can type lines again. on_keys is not called until
 * slp_keys_begin. */
void slp_keys_end(slp_keys *k);
/* Begins to read keys; called again after slp_keys_end, or after the process was in the background. Returns 1
 * if keys are read now. Returns 0 if the process is in the background: another program gets the keys. */
int slp_keys_begin(slp_keys *k);
/* Ends, and frees k on a later turn of the loop. NULL is fine. */
void slp_keys_close(slp_keys *k);

#endif
