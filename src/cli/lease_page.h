/* lease_page.h - the HTTP server of --leases --metrics: the library's page of metrics, on a host of its
 * own. */
#ifndef SLP_CLI_LEASE_PAGE_H
#define SLP_CLI_LEASE_PAGE_H

#include "api/metrics_sample.h"

struct uv_loop_s;
typedef struct slp_lease_page slp_lease_page;

typedef struct slp_lease_page_opts {
  slp_mem *mem;
  struct uv_loop_s *loop;
  const char *listen; /* ADDRESS:PORT */
  /* Adds what the page shows to `into`. Returns 0, or SLP_ENOMEM or SLP_ELIMIT. with_shards: also each
   * shard. */
  int (*sample)(void *arg, slp_sample *into, int with_shards);
  void (*on_closed)(void *arg); /* the last callback; on a later turn of the loop */
  void *arg;
} slp_lease_page_opts;

/* Opens the server. Returns 0; SLOOP_EOPTION, SLP_ENOMEM or UV_E*, and then `why` names the address. After an
 * error on_closed does not come, and the loop may have one more turn to do. */
int slp_lease_page_open(slp_lease_page **ret, const slp_lease_page_opts *o, char why[160]);
/* Returns the URL of the server, valid until it is closed. */
const char *slp_lease_page_url(const slp_lease_page *p);
/* Closes the server; on_closed comes later. */
void slp_lease_page_close(slp_lease_page *p);

#endif
