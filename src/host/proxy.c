/* proxy.c - finds the proxy of a URL in the environment. The rules are those of libcurl 7.88, lib/url.c and
 * lib/noproxy.c; test/wire/proxies.c compares them with the installed libcurl. */
#include "host/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "base/num.h"

#define ADDRESS_MAX 128 /* a longer host or entry is no address */

static char lower_host_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static int same_name(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (lower_host_char(a[i]) != lower_host_char(b[i])) return 0;
  return 1;
}

static int begins_ignoring_case(slp_str s, const char *with) {
  size_t n = strlen(with);
  return s.n >= n && same_name(s.p, with, n);
}

static slp_str skip_leading_chars(slp_str s, size_t n) { return (slp_str){s.p + n, s.n - n}; }

/* ---- hosts that need no proxy ---------------------------------------------------------------- */
/* Returns 1 if `name`, the host's name, is `entry`, an entry of no_proxy, or is within the domain `entry`. */
static int is_within(slp_str name, slp_str entry) {
  if (entry.n && entry.p[entry.n - 1] == '.') entry.n--;
  if (entry.n && entry.p[0] == '.') entry = skip_leading_chars(entry, 1);
  if (entry.n > name.n) return 0;
  size_t before = name.n - entry.n;
  if (before && name.p[before - 1] != '.') return 0;
  return same_name(name.p + before, entry.p, entry.n);
}

static int same_bits(const unsigned char *a, const unsigned char *b, size_t bits) {
  size_t bytes = bits / 8, rest = bits % 8;
  if (memcmp(a, b, bytes) != 0) return 0;
  return !rest || (a[bytes] ^ b[bytes]) >> (8 - rest) == 0;
}

/* Returns 1 if the address is `entry`, an entry of no_proxy, or is within the network `entry`
 * ("10.0.0.0/8"). */
static int is_in_network(int family, const unsigned char *address, slp_str entry) {
  char text[ADDRESS_MAX];
  unsigned char network[16];
  uint64_t bits = 0, all = family == AF_INET ? 32 : 128;
  if (entry.n >= sizeof text) return 0;
  memcpy(text, entry.p, entry.n);
  text[entry.n] = 0;
  char *slash = strchr(text, '/');
  if (slash) {
    if (slp_parse_u64(slp_str_of(slash + 1), &bits)) bits = 0;
    *slash = 0;
  }
  if (bits > all || uv_inet_pton(family, text, network)) return 0;
  return same_bits(address, network, (size_t)(bits ? bits : all));
}

static int read_address(slp_str host, int family, unsigned char address[16]) {
  char text[ADDRESS_MAX];
  if (host.n >= sizeof text) return 0;
  memcpy(text, host.p, host.n);
  text[host.n] = 0;
  return uv_inet_pton(family, text, address) == 0;
}

static int is_separator(char c) { return c == ' ' || c == '\t' || c == ','; }

/* Takes ":PORT" off the end of an entry of no_proxy: a name, an IPv4 address or an [IPv6 address]. Returns 1
 * and the port, or 0 if the entry has none. */
static int take_port(slp_str *entry, uint64_t *ret_port) {
  const char *colon = entry->n ? slp_last_char(entry->p, ':', entry->n) : NULL;
  const char *close = entry->n ? memchr(entry->p, ']', entry->n) : NULL;
  if (!colon || slp_str_has(*entry, '/')) return 0;
  size_t before = (size_t)(colon - entry->p);
  int bare_v6 = !close && memchr(entry->p, ':', before) != NULL;
  if (bare_v6 || (close && close > colon) || slp_parse_u64(skip_leading_chars(*entry, before + 1), ret_port))
    return 0;
  entry->n = before;
  if (close && entry->p[0] == '[' && close + 1 == colon) *entry = (slp_str){entry->p + 1, before - 2};
  return 1;
}

/* Returns 1 if the entry matches hosts within a domain, but not the domain itself, as *.DOMAIN and
 * .DOMAIN:PORT do. Then *entry becomes the domain. */
static int is_only_within(slp_str *entry, int had_port) {
  int star = begins_ignoring_case(*entry, "*."), dot = had_port && begins_ignoring_case(*entry, ".");
  *entry = skip_leading_chars(*entry, star ? 2 : dot ? 1 : 0);
  return star || dot;
}

/* Returns 1 if the host is in a list such as no_proxy. As in libcurl 7.88, the list is "*", or names, their
 * domains, addresses and networks ("10.0.0.0/8"), with blanks or commas between them. Three kinds of entries
 * that libcurl ignores have the meaning that they have in Go (x/net/http/httpproxy). HOST:PORT matches this
 * port only, as in Python's urllib, which botocore uses. *.DOMAIN matches hosts within the domain. A "*"
 * among other entries matches every host. */
static int no_proxy_list_has(const char *list, slp_str host, uint16_t port) {
  unsigned char address[16];
  int family = 0;
  if (!host.n) return 0;
  if (strcmp(list, "*") == 0) return 1;
  if (host.p[0] == '[') {
    host = (slp_str){host.p + 1, host.n - 1 - (host.p[host.n - 1] == ']')};
    family = AF_INET6;
    if (!read_address(host, family, address)) return 0;
  } else if (read_address(host, AF_INET, address)) {
    family = AF_INET;
  } else if (host.p[host.n - 1] == '.') {
    host.n--;
  }
  while (*list) {
    slp_str entry = {list, 0};
    while (list[entry.n] && !is_separator(list[entry.n])) entry.n++;
    list += entry.n + (list[entry.n] != 0);
    if (!entry.n) continue;
    if (slp_str_is(entry, "*")) return 1;
    uint64_t only;
    int had_port = take_port(&entry, &only);
    if (had_port && only != port) continue;
    if (!family && is_only_within(&entry, had_port) && host.n <= entry.n) continue;
    if (family ? is_in_network(family, address, entry) : is_within(host, entry)) return 1;
  }
  return 0;
}

/* ---- the proxy ------------------------------------------------------------------------------- */
static const char *value_of(const char *variable) {
  const char *value = getenv(variable);
  return value && value[0] ? value : NULL;
}

static slp_str host_of(slp_str url) {
  const char *end = memchr(url.p, ':', url.n);
  if (end && url.n >= (size_t)(end - url.p) + 3) url = skip_leading_chars(url, (size_t)(end - url.p) + 3);
  slp_str host = {url.p, 0};
  while (host.n < url.n && !strchr("/?#", host.p[host.n])) host.n++;
  const char *at = host.n ? slp_last_char(host.p, '@', host.n) : NULL;
  if (at) host = skip_leading_chars(host, (size_t)(at + 1 - host.p));
  const char *close = host.n && host.p[0] == '[' ? memchr(host.p, ']', host.n) : NULL;
  const char *colon = close ? NULL : memchr(host.p, ':', host.n);
  if (close) host.n = (size_t)(close + 1 - host.p);
  if (colon) host.n = (size_t)(colon - host.p);
  return host;
}

static uint16_t port_of(slp_str url, int tls) {
  slp_str host = host_of(url);
  slp_str rest = skip_leading_chars(url, (size_t)(host.p + host.n - url.p));
  uint64_t port = 0;
  size_t n = 0;
  if (rest.n && rest.p[0] == ':') rest = skip_leading_chars(rest, 1);
  while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9') n++;
  if (!n || slp_parse_u64((slp_str){rest.p, n}, &port) || port > UINT16_MAX) return tls ? 443 : 80;
  return (uint16_t)port;
}

/* Sets the other members of p from p->url. If the URL has no port, the port is libcurl's default. */
static void read_place(slp_proxy *p) {
  slp_str all = slp_str_of(p->url), rest = all;
  const char *scheme_end = strstr(p->url, "://");
  if (scheme_end) rest = skip_leading_chars(all, (size_t)(scheme_end + 3 - all.p));
  size_t n = 0;
  while (n < rest.n && rest.p[n] != '/') n++;
  rest.n = n;
  const char *at = rest.n ? slp_last_char(rest.p, '@', rest.n) : NULL;
  p->has_user = at != NULL;
  p->tls = begins_ignoring_case(all, "https://") != 0;
  p->socks = begins_ignoring_case(all, "socks") != 0;
  if (at) rest = skip_leading_chars(rest, (size_t)(at + 1 - rest.p));
  const char *close = rest.n ? slp_last_char(rest.p, ']', rest.n) : NULL;
  int port = memchr(close ? close : rest.p, ':', rest.n - (size_t)(close ? close - rest.p : 0)) != NULL;
  snprintf(p->place, sizeof p->place, "%.*s%s", (int)slp_min_u64(rest.n, SLP_PLACE_MAX - 8), rest.p,
           port     ? ""
           : p->tls ? ":443"
                    : ":1080");
}

const char *slp_proxy_ca(void) { return value_of(SLP_PROXY_CA); }

void slp_proxy_find(slp_str url, slp_proxy *ret) {
  static const char *const secure[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
  int tls = begins_ignoring_case(url, "https:");
  const char *const *names = tls ? secure : plain;
  size_t n = tls ? SLP_COUNT(secure) : SLP_COUNT(plain), i = 0;
  *ret = (slp_proxy){.variable = NULL};
  while (i < n && !value_of(names[i])) i++;
  if (i == n) return;
  const char *without = value_of("no_proxy");
  if (!without) without = value_of("NO_PROXY");
  if (without && no_proxy_list_has(without, host_of(url), port_of(url, tls))) return;
  ret->variable = names[i];
  ret->url = value_of(names[i]);
  read_place(ret);
}
