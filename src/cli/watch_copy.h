/* watch_copy.h - a copy of the result of a poll of the lease table. The library's own result is valid only
 * during the callback, but --watch draws it again when a key is typed. */
#ifndef SLP_CLI_WATCH_COPY_H
#define SLP_CLI_WATCH_COPY_H

#include "base/mem.h"

#include <sloop_admin.h>

typedef struct slp_watch_copy {
  slp_mem *mem;
  sloop_leases_t all; /* the result; all its pointers point into `blocks` */
  void *blocks[6];    /* owned */
} slp_watch_copy;

/* Copies leases, workers and texts. `c` must be zeroed, or freed before. Returns 0 or SLP_ENOMEM; after an
 * error nothing has to be freed. */
int slp_watch_copy_make(slp_watch_copy *c, slp_mem *mem, const sloop_leases_t *from);
void slp_watch_copy_free(slp_watch_copy *c);

#endif
