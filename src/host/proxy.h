/* proxy.h - finds the proxy that a call goes through. libcurl could find the proxy too, but does not report
 * which proxy it uses, and messages must name the proxy. So the proxy is chosen here, and libcurl is given
 * the result. */
#ifndef SLP_HOST_PROXY_H
#define SLP_HOST_PROXY_H

#include "base/base.h"

#define SLP_PLACE_MAX 96

typedef struct slp_proxy {
  const char *variable;      /* name of the environment's variable, static; NULL: no proxy */
  const char *url;           /* value of that variable; valid until the environment changes */
  char place[SLP_PLACE_MAX]; /* host and port of the proxy, never user or password */
  uint8_t has_user;          /* 1: the URL has a user name */
  uint8_t tls;               /* 1: the proxy is reached over TLS */
  uint8_t socks;             /* 1: a SOCKS proxy, which relays bytes without HTTP */
} slp_proxy;

#define SLP_PROXY_CA "PROXY_CA_BUNDLE"
/* Returns the file of certificates to trust for a proxy over TLS, from the environment. NULL: the same file
 * as for servers. */
const char *slp_proxy_ca(void);
/* Finds the proxy of a URL in the environment, as libcurl 7.88 does: https_proxy, HTTPS_PROXY, all_proxy,
 * ALL_PROXY. For plain http the variables are http_proxy, all_proxy, ALL_PROXY. HTTP_PROXY is not read: a web
 * server sets it, for the programs that it runs, to a text that a client sent. Hosts in no_proxy or NO_PROXY
 * have no proxy. */
void slp_proxy_find(slp_str url, slp_proxy *ret);

#endif
