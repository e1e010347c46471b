/* uri.h - the part of URLs that endpoints need: http[s]://host[:port][/path], and percent-encoding. */
#ifndef SLP_CODEC_URI_H
#define SLP_CODEC_URI_H

#include "base/buf.h"

typedef struct slp_uri {
  uint8_t tls;  /* 1: the scheme is https, 0: http */
  uint8_t ipv6; /* 1: the host was in brackets */
  uint8_t port_given;
  uint16_t port;     /* the URL's port, or 80 / 443 */
  slp_str host;      /* host name or address, without brackets */
  slp_str authority; /* host[:port] as written, with brackets, as the Host header needs it */
  slp_str path;      /* the URL from its path's / on; {"/", 1} if it has no path */
} slp_uri;

/* Splits the URL; the slices in *ret point into it. Returns 0, or SLP_EBADDATA with *ret_why set to static
 * text for the user. User names, queries and fragments are refused: an endpoint has none. */
int slp_uri_parse(slp_str url, slp_uri *ret, const char **ret_why);
/* Appends s percent-encoded (RFC 3986, SigV4): every byte except A-Z a-z 0-9 - . _ ~ (and / if keep_slash)
 * becomes %XX. */
int slp_uri_put_encoded(slp_buf *b, slp_str s, int keep_slash);

#endif
