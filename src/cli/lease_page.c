/* lease_page.c - owns the host and the HTTP server of --leases --metrics. They are not in lease_exporter.c,
 * because that file includes program/program.h. No file may include both program/program.h and host/host.h,
 * which declare the same things in different ways. */
#include "cli/lease_page.h"

#include "api/metrics_sample.h"
#include "api/metrics_server.h"
#include "api/metrics_text.h"
#include "base/mem.h"
#include "host/host.h"

#include <stdio.h>

struct slp_lease_page {
  slp_lease_page_opts o;
  slp_host *host;
  slp_metrics_server server;
};

static int pass_sample_request(void *arg, slp_sample *into, int with_shards) {
  const slp_lease_page *p = arg;
  return p->o.sample(p->o.arg, into, with_shards);
}

/* The metrics page has a part about the process itself. That part stays empty here, because this page shows
 * only lease tables. */
static void nothing_of_its_own(void *arg, slp_metrics_own *ret) {
  (void)arg;
  *ret = (slp_metrics_own){0};
}

static void on_host_closed(slp_host *h, void *arg) {
  slp_lease_page *p = arg;
  slp_lease_page_opts o = p->o;
  (void)h;
  slp_free(o.mem, p);
  o.on_closed(o.arg);
}

static void on_server_closed(slp_metrics_server *s) {
  slp_lease_page *p = s->arg;
  slp_host_close(p->host, on_host_closed, p);
}

int slp_lease_page_open(slp_lease_page **ret, const slp_lease_page_opts *o, char why[160]) {
  slp_lease_page *p = SLP_NEW(o->mem, slp_lease_page);
  const slp_uv_options uo = {.why = why};
  *ret = NULL;
  if (!p) return SLP_ENOMEM;
  p->o = *o;
  p->server = (slp_metrics_server){
      .sample = pass_sample_request, .own = nothing_of_its_own, .on_closed = on_server_closed, .arg = p};
  int r = slp_uv_host_new(&p->host, o->loop, o->mem, &uo);
  if (!r) {
    r = slp_metrics_server_open(&p->server, p->host, o->listen, why);
    if (r) slp_host_close(p->host, NULL, NULL);
  }
  if (r)
    slp_free(o->mem, p);
  else
    *ret = p;
  return r;
}

const char *slp_lease_page_url(const slp_lease_page *p) { return p->server.url; }

void slp_lease_page_close(slp_lease_page *p) { slp_metrics_server_close(&p->server); }
