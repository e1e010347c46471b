/* registry.h - an operator's look at the registered consumers of a stream (enhanced fan-out), and the removal
 * of one.
 *
 *   DESCRIBING (the stream) --> LISTING, page after page --> REMOVING, where one is named --> over */
#ifndef SLP_SOURCE_REGISTRY_H
#define SLP_SOURCE_REGISTRY_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_registry slp_registry;

typedef struct slp_registry_opts {
  slp_host *h;
  slp_ops *ops;       /* borrowed, as source */
  slp_source *source; /* describes the stream */
  const char *remove; /* the name of the one to be deregistered, copied; NULL: none */
  /* In a turn; the last thing done with it: it may be freed from there. */
  void (*on_done)(slp_registry *c, const slp_fail *fail, void *arg);
  void *arg;
} slp_registry_opts;

int slp_registry_new(slp_registry **ret, slp_mem *mem, const slp_registry_opts *o);
void slp_registry_free(slp_registry *c); /* at any time; NULL is fine */
/* Sorted by name. With `remove`, only that one, as it was. */
const slp_consumer_row *slp_registry_rows(const slp_registry *c, size_t *ret_n);

#endif
