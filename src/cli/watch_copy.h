/* watch_copy.h - a copy of what a poll of the lease table has brought. The library's own lives only during
 * its callback, and --watch draws again when a key is typed. */
#ifndef SLP_CLI_WATCH_COPY_H
#define SLP_CLI_WATCH_COPY_H

#include "base/mem.h"

#include <sloop_admin.h>

typedef struct slp_watch_copy {
  slp_mem *mem;
  sloop_leases_t all; /* all pointers in it lead into the blocks below */
  void *blocks[6];    /* owned */
} slp_watch_copy;

/* Copies leases, workers and texts. `c` must be zeroed, or freed. Returns 0 or SLP_ENOMEM; after an error
 * there is nothing to free. */
int slp_watch_copy_make(slp_watch_copy *c, slp_mem *mem, const sloop_leases_t *from);
void slp_watch_copy_free(slp_watch_copy *c);

#endif
