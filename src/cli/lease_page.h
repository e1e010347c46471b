/* lease_page.h - the HTTP server of --leases --metrics: the library's page, on a host of its own. */
#ifndef SLP_CLI_LEASE_PAGE_H
#define SLP_CLI_LEASE_PAGE_H

#include "api/metrics_sample.h"

struct uv_loop_s;
typedef struct slp_lease_page slp_lease_page;

typedef struct slp_lease_page_opts {
  slp_mem *mem;
  struct uv_loop_s *loop;
  const char *listen; /* ADDRESS:PORT */
  int (*sample)(void *arg, slp_sample *into, int with_shards);
  void (*on_closed)(void *arg); /* the last; on a later turn of the loop */
  void *arg;
} slp_lease_page_opts;

/* 0; SLOOP_EOPTION, SLP_ENOMEM, UV_E*: why says which address. on_closed does not come then; the loop may
 * have one more turn to do. */
int slp_lease_page_open(slp_lease_page **ret, const slp_lease_page_opts *o, char why[160]);
const char *slp_lease_page_url(const slp_lease_page *p);
void slp_lease_page_close(slp_lease_page *p);

#endif
