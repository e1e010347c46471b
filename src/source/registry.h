/* registry.h - lists the registered consumers of a stream (enhanced fan-out) for an operator, and can
 * deregister one.
 *
 *   DESCRIBING (the stream) --> LISTING, page after page --> REMOVING, if opts.remove is set --> OVER */
#ifndef SLP_SOURCE_REGISTRY_H
#define SLP_SOURCE_REGISTRY_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_registry slp_registry;

typedef struct slp_registry_opts {
  slp_host *h;
  slp_ops *ops;       /* borrowed, as is source */
  slp_source *source; /* describes the stream */
  const char *remove; /* name of the consumer to deregister, copied; NULL: none */
  /* Called in a turn of the event queue when all is done. May free c. */
  void (*on_done)(slp_registry *c, const slp_fail *fail, void *arg);
  void *arg;
} slp_registry_opts;

int slp_registry_new(slp_registry **ret, slp_mem *mem, const slp_registry_opts *o);
void slp_registry_free(slp_registry *c); /* at any time; c may be NULL */
/* Returns the consumers, sorted by name. With opts.remove, only the removed consumer, as it was before. */
const slp_consumer_row *slp_registry_rows(const slp_registry *c, size_t *ret_n);

#endif
