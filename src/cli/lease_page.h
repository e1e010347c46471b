/* lease_page.h - the HTTP server of --leases --metrics. It serves the library's page of metrics, and has a
 * host object of its own. */
#ifndef SLP_CLI_LEASE_PAGE_H
#define SLP_CLI_LEASE_PAGE_H

#include "api/metrics_sample.h"
#include "base/mem.h"

struct uv_loop_s;
typedef struct slp_lease_page slp_lease_page;

typedef struct slp_lease_page_opts {
  slp_mem *mem;
  struct uv_loop_s *loop;
  const char *listen; /* address at which the server listens, as ADDRESS:PORT */
  /* Adds the metrics of the page to `into`. with_shards: 1: also adds the metrics of each shard. Returns 0,
   * SLP_ENOMEM or SLP_ELIMIT. */
  int (*sample)(void *arg, slp_sample *into, int with_shards);
  /* the last callback; the loop calls it some time after slp_lease_page_close() */
  void (*on_closed)(void *arg);
  void *arg;
} slp_lease_page_opts;

/* Opens the server. Returns 0; or SLOOP_EOPTION, SLP_ENOMEM or UV_E*, and a sentence in `why` with the
 * address. After an error on_closed is not called, and the loop may have to run once more before it can be
 * freed. */
int slp_lease_page_open(slp_lease_page **ret, const slp_lease_page_opts *o, char why[160]);
/* Returns the URL of the server. The text is valid until the server is closed. */
const char *slp_lease_page_url(const slp_lease_page *p);
/* Closes the server. on_closed is called later by the loop. */
void slp_lease_page_close(slp_lease_page *p);

#endif
