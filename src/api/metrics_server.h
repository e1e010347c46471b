/* metrics_server.h - GET /metrics, /ready and /healthz over HTTP, in the same loop. A page is written in
 * slices; a client gets one answer a connection, and has some seconds for it. */
#ifndef SLP_API_METRICS_SERVER_H
#define SLP_API_METRICS_SERVER_H

#include "api/metrics_text.h"
#include "host/host.h"

#define SLP_METRICS_ADDRESS_MAX 46 /* an IPv6 address as text, and its NUL */

/* "127.0.0.1:9100", "[::1]:9100", "localhost:9100", ":9100" (every IPv4 address of the machine). 0, or
 * SLOOP_EOPTION and what is wrong with it. */
int slp_metrics_address_read(const char *listen, char ret_address[SLP_METRICS_ADDRESS_MAX],
                             uint16_t *ret_port, char why[160]);

typedef struct slp_metrics_server {
  /* Set by the owner before open. */
  int (*sample)(void *arg, slp_sample *into, int with_shards); /* 0, SLP_ENOMEM, SLP_ELIMIT */
  void (*own)(void *arg, slp_metrics_own *ret);
  void (*on_closed)(struct slp_metrics_server *s);
  void *arg;

  char url[80]; /* out */

  slp_host *h;
  slp_listener listener;
  uint32_t pages_n; /* being written */
} slp_metrics_server;

/* 0, SLOOP_EOPTION, UV_E*; why says which address. */
int slp_metrics_server_open(slp_metrics_server *s, slp_host *h, const char *listen, char why[160]);
void slp_metrics_server_close(slp_metrics_server *s); /* on_closed comes later, once */

#endif
