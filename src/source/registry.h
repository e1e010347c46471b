/* registry.h - for an operator: lists the registered consumers of a stream (enhanced fan-out), and can
 * deregister one of them.
 *
 *   DESCRIBING (the stream) --> LISTING, page after page --> REMOVING, if opts.remove is set --> OVER
 *   LISTING --> PAUSING --> LISTING: the wait before the next page of the list */
#ifndef SLP_SOURCE_REGISTRY_H
#define SLP_SOURCE_REGISTRY_H

#include "aws/ops.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/source.h"
#include "host/host.h"

typedef struct slp_registry slp_registry;

typedef struct slp_registry_opts {
  slp_host *h;
  slp_ops *ops;       /* borrowed */
  slp_source *source; /* borrowed; used to get the description of the stream */
  const char *remove; /* name of the consumer to deregister, copied; NULL: none */
  /* Called in a turn of the event queue when all is done: the list is complete, and the consumer `remove` is
   * deregistered. Also called when one of these steps has failed. The callback may free c. */
  void (*on_done)(slp_registry *c, const slp_fail *fail, void *arg);
  void *arg;
} slp_registry_opts;

/* Begins to list the consumers. Copies *o. Returns 0 or SLP_ENOMEM. */
int slp_registry_new(slp_registry **ret, slp_mem *mem, const slp_registry_opts *o);
void slp_registry_free(slp_registry *c); /* may be called at any time; c may be NULL */
/* Returns the consumers, sorted by name. If a consumer was deregistered, returns only this consumer, with the
 * state that it had before. */
const slp_consumer_row *slp_registry_rows(const slp_registry *c, size_t *ret_n);

#endif
