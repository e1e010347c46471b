/* metrics_server.h - serves GET /metrics, /ready and /healthz over HTTP, in the application's own loop. A
 * page is written in slices. A client gets one answer on each connection, and must take it within some
 * seconds. */
#ifndef SLP_API_METRICS_SERVER_H
#define SLP_API_METRICS_SERVER_H

#include "api/metrics_sample.h"
#include "api/metrics_text.h"
#include "host/host.h"

#define SLP_METRICS_ADDRESS_MAX 46 /* bytes of an IPv6 address as text, with its NUL */

/* Reads the text of an address and a port: "127.0.0.1:9100", "[::1]:9100", "localhost:9100", or ":9100",
 * which means every IPv4 address of the machine. Returns 0, or SLOOP_EOPTION with the reason in `why`. */
int slp_metrics_address_read(const char *listen, char ret_address[SLP_METRICS_ADDRESS_MAX],
                             uint16_t *ret_port, char why[160]);

typedef struct slp_metrics_server {
  /* The next members must be set by the owner before slp_metrics_server_open. */
  /* fills a sample; returns 0, SLP_ENOMEM or SLP_ELIMIT */
  int (*sample)(void *arg, slp_sample *into, int with_shards);
  void (*own)(void *arg, slp_metrics_own *ret);
  void (*on_closed)(struct slp_metrics_server *s);
  void *arg;

  char url[80]; /* set by slp_metrics_server_open */

  slp_host *h;
  slp_listener listener;
  uint32_t pages_n; /* how many pages are being written */
} slp_metrics_server;

/* Starts the server. Returns 0, or SLOOP_EOPTION or a UV_E* code; `why` then has a text that names the
 * address. */
int slp_metrics_server_open(slp_metrics_server *s, slp_host *h, const char *listen, char why[160]);
void slp_metrics_server_close(slp_metrics_server *s); /* stops the server; on_closed is called once, later */

#endif
