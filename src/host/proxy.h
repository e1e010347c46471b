/* proxy.h - which proxy a call goes through. libcurl would read the environment too, but never tell what it
 * found: a message that names the proxy needs the same choice here, so it is made here alone. */
#ifndef SLP_HOST_PROXY_H
#define SLP_HOST_PROXY_H

#include "base/base.h"

#define SLP_PLACE_MAX 96

typedef struct slp_proxy {
  const char *variable;      /* of the environment, static; NULL: no proxy */
  const char *url;           /* its value, until the environment changes */
  char place[SLP_PLACE_MAX]; /* host and port, never its user or password */
  uint8_t has_user;          /* the value holds a user */
  uint8_t tls;               /* it is asked over TLS */
  uint8_t socks;             /* it joins connections without a word of HTTP */
} slp_proxy;

#define SLP_PROXY_CA "PROXY_CA_BUNDLE"
/* The file of certificates by which a proxy over TLS is judged, from the environment. NULL: the servers'. */
const char *slp_proxy_ca(void);
/* Finds the proxy of a URL in the environment, as libcurl 7.88 does: https_proxy, HTTPS_PROXY, all_proxy,
 * ALL_PROXY; for plain http only http_proxy, all_proxy, ALL_PROXY, since a web server hands HTTP_PROXY to
 * its programs as any client says. Hosts in no_proxy or NO_PROXY have none. */
void slp_proxy_find(slp_str url, slp_proxy *ret);
/* Is the host one of the list, as no_proxy has it: "*", or names, their domains, addresses and networks
 * ("10.0.0.0/8"), with blanks or commas between them? So libcurl 7.88 reads it. Entries that it finds
 * nowhere are read as Go does (x/net/http/httpproxy; Python's urllib, and with it botocore, has the first):
 * HOST:PORT is that port only, *.DOMAIN what is within the domain, and a "*" among others everything. */
int slp_proxy_list_has(const char *list, slp_str host, uint16_t port);

#endif
