/* uri.c - splits endpoint URLs, and percent-encodes. */
#include "codec/uri.h"

#include "base/buf.h"
#include "base/num.h"

static int refuse_uri(const char **ret_why, const char *why) {
  *ret_why = why;
  return SLP_EBADDATA;
}

static int is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/* Takes the scheme `lower` off the front of *s; upper and lower case are the same. Returns 1, or 0 if *s does
 * not begin with it. */
static int take_scheme(slp_str *s, const char *lower) {
  size_t n = strlen(lower);
  if (s->n < n) return 0;
  for (size_t i = 0; i < n; i++) {
    char c = s->p[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    if (c != lower[i]) return 0;
  }
  *s = (slp_str){s->p + n, s->n - n};
  return 1;
}

static int parse_port(slp_str text, slp_uri *u, const char **ret_why) {
  uint64_t port;
  if (slp_parse_u64(text, &port) || port < 1 || port > 65535)
    return refuse_uri(ret_why, "the port must be 1 to 65535");
  u->port = (uint16_t)port;
  u->port_given = 1;
  return 0;
}

/* Reads the authority of a URL: host, host:port, [v6] or [v6]:port. */
static int parse_authority(slp_str a, slp_uri *u, const char **ret_why) {
  size_t host_n = 0, rest;
  u->authority = a;
  if (a.n && a.p[0] == '[') {
    while (host_n + 1 < a.n && a.p[host_n + 1] != ']') host_n++;
    if (host_n + 1 >= a.n) return refuse_uri(ret_why, "the [ before an IPv6 address has no ]");
    u->ipv6 = 1;
    u->host = (slp_str){a.p + 1, host_n};
    rest = host_n + 2;
    for (size_t i = 0; i < host_n; i++) {
      char c = u->host.p[i];
      if (!is_hex(c) && c != ':' && c != '.')
        return refuse_uri(ret_why, "what is in [ ] is not an IPv6 address");
    }
  } else {
    while (host_n < a.n && a.p[host_n] != ':') host_n++;
    u->host = (slp_str){a.p, host_n};
    rest = host_n;
    for (size_t i = 0; i < host_n; i++) {
      char c = a.p[i];
      if (!is_alnum(c) && c != '-' && c != '.' && c != '_')
        return refuse_uri(ret_why, "the host name has a wrong character");
    }
  }
  if (!u->host.n) return refuse_uri(ret_why, "the host is missing");
  if (rest == a.n) return 0;
  if (a.p[rest] != ':') return refuse_uri(ret_why, "something stands between host and port");
  return parse_port((slp_str){a.p + rest + 1, a.n - rest - 1}, u, ret_why);
}

int slp_uri_parse(slp_str url, slp_uri *ret, const char **ret_why) {
  slp_uri u = {.path = {"/", 1}};
  slp_str s = url;
  if (take_scheme(&s, "https://"))
    u.tls = 1;
  else if (!take_scheme(&s, "http://"))
    return refuse_uri(ret_why, "a URL must begin with http:// or https://");
  for (size_t i = 0; i < s.n; i++) {
    uint8_t c = (uint8_t)s.p[i];
    if (c <= 0x20 || c >= 0x7F)
      return refuse_uri(ret_why, "a URL can't hold spaces or characters beyond ASCII");
    if (c == '?' || c == '#') return refuse_uri(ret_why, "an endpoint can't have a query or fragment");
  }
  u.port = u.tls ? 443 : 80;
  const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;
  slp_str authority = {s.p, slash ? (size_t)(slash - s.p) : s.n};
  if (slash) u.path = (slp_str){slash, s.n - authority.n};
  if (authority.n && memchr(authority.p, '@', authority.n)) {
    return refuse_uri(ret_why, "an endpoint can't have a user name or password");
  }
  int r = parse_authority(authority, &u, ret_why);
  if (!r) *ret = u;
  return r;
}

int slp_uri_put_encoded(slp_buf *b, slp_str s, int keep_slash) {
  static const char digits[] = "0123456789ABCDEF";
  size_t was = b->n;
  int r = slp_buf_reserve(b, s.n);
  for (size_t i = 0; !r && i < s.n; i++) {
    char c = s.p[i];
    if (is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~' || (c == '/' && keep_slash)) {
      r = slp_buf_add_char(b, c);
    } else {
      char out[3] = {'%', digits[(uint8_t)c >> 4], digits[(uint8_t)c & 15]};
      r = slp_buf_add(b, out, 3);
    }
  }
  if (r) b->n = was;
  return r;
}
