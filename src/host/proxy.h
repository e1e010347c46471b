/* proxy.h - finds the proxy that a call goes through. libcurl would read the environment too, but never tell
 * what it found. A message that names the proxy needs the same choice, so the choice is made here alone. */
#ifndef SLP_HOST_PROXY_H
#define SLP_HOST_PROXY_H

#include "base/base.h"

#define SLP_PLACE_MAX 96

typedef struct slp_proxy {
  const char *variable;      /* of the environment, static; NULL: no proxy */
  const char *url;           /* value of the variable, until the environment changes */
  char place[SLP_PLACE_MAX]; /* host and port, never its user or password */
  uint8_t has_user;          /* 1: the value holds a user */
  uint8_t tls;               /* 1: the proxy is reached over TLS */
  uint8_t socks;             /* 1: a SOCKS proxy, which joins connections without HTTP */
} slp_proxy;

#define SLP_PROXY_CA "PROXY_CA_BUNDLE"
/* Returns the file of certificates by which a proxy over TLS is judged, from the environment. NULL: the same
 * as for servers. */
const char *slp_proxy_ca(void);
/* Finds the proxy of a URL in the environment, as libcurl 7.88 does: https_proxy, HTTPS_PROXY, all_proxy,
 * ALL_PROXY. For plain http only http_proxy, all_proxy, ALL_PROXY: a web server sets HTTP_PROXY for its
 * programs to whatever a client says. Hosts in no_proxy or NO_PROXY have no proxy. */
void slp_proxy_find(slp_str url, slp_proxy *ret);
/* Returns 1 if the host is in a list such as no_proxy: "*", or names, their domains, addresses and networks
 * ("10.0.0.0/8"), with blanks or commas between them. libcurl 7.88 reads it so. Entries that mean nothing to
 * libcurl are read as Go does (x/net/http/httpproxy; Python's urllib, and with it botocore, has the first):
 * HOST:PORT is that port only, *.DOMAIN what is within the domain, and a "*" among others everything. */
int slp_proxy_list_has(const char *list, slp_str host, uint16_t port);

#endif
