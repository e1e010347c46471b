/* proxies.c - the choice of host/proxy.c against libcurl's own: each URL is begun by a libcurl that reads the
 * environment itself, and the port that it would connect to is the proxy's or is not. No connection is made. */
#include "host/proxy.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>

#include "check.h"

#define PROXY_PORT 3128

static const char *const hosts[] = {
    "kin.example", "KIN.Example",          "kin.example.", "a.kin.example", "akin.example", "example",
    "10.1.2.3",    "10.1.2.3.nip.example", "192.168.0.1",  "[2001:db8::1]", "[::1]",        "localhost",
    "x",
};

static const char *const lists[] = {
    "",
    "*",
    " *",
    "*,kin.example",
    "kin.example",
    ".kin.example",
    "kin.example.",
    "..kin.example",
    "KIN.EXAMPLE",
    "example",
    ".",
    ",",
    " , ,",
    "a,b kin.example",
    "a b\tkin.example",
    "*.example",
    "kin.example:443",
    "kin.example:x",
    "10.1.2.3",
    "10.0.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/x",
    "10.1.2.0/24",
    "10.1.3.0/24",
    "10.1.2.2/31",
    "10.1.2.3/32",
    "10.1.2.3/0",
    "10.1.2",
    "2001:db8::/32",
    "2001:db8::1",
    "2001:db9::/32",
    "2001:db8::/129",
    "[2001:db8::1]",
    "::1",
    "::/1",
    "2001:db8::2/127",
    "2001:db8::2/126",
    "localhost,127.0.0.1",
    "/",
    "kin.example/8",
    "1.2.3.4.5",
};

static const char *const variables[] = {"http_proxy",  "HTTP_PROXY", "https_proxy",
                                        "HTTPS_PROXY", "all_proxy",  "ALL_PROXY"};

static int seen_port;

/* Notes where libcurl would connect to, and keeps it from doing so. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to) {
  (void)arg, (void)purpose;
  seen_port = ntohs(to->family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&to->addr)->sin6_port
                                           : ((struct sockaddr_in *)(void *)&to->addr)->sin_port);
  return CURL_SOCKET_BAD;
}

static int libcurl_takes_the_proxy(const char *url) {
  CURL *e = curl_easy_init();
  CHECK(e);
  /* Whatever name it is, nobody is asked for it. */
  struct curl_slist *names = curl_slist_append(NULL, "*:80:127.0.0.1");
  names = curl_slist_append(names, "*:443:127.0.0.1");
  curl_easy_setopt(e, CURLOPT_RESOLVE, names);
  curl_easy_setopt(e, CURLOPT_URL, url);
  curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  seen_port = 0;
  CURLcode rc = curl_easy_perform(e);
  curl_easy_cleanup(e);
  curl_slist_free_all(names);
  if (!seen_port) CHECK_FAIL("%s: libcurl wanted no connection: %d", url, rc);
  return seen_port == PROXY_PORT;
}

/* libcurl 7.88 takes an address in brackets for a name, so that a network of IPv6 in the list does nothing,
 * though its manual says since 7.86.0 that it does. Ours does as the manual says. */
static int is_network_of_v6(const char *url, const char *list) {
  return strchr(url, '[') && strchr(list, '/');
}

/* Entries that libcurl finds nowhere, and Go does: unit/host/proxy.c. */
static int is_of_go_alone(const char *list) {
  return strchr(list, '*') != NULL || strstr(list, ":443") != NULL;
}

/* Newer versions of libcurl separate the entries of NO_PROXY by commas alone, 7.88 by blanks too. Ours does as
 * 7.88. Set by the test before it compares. */
static int libcurl_knows_blanks = 1;

static void compare(const char *url, const char *what) {
  slp_proxy p;
  slp_proxy_find(slp_str_of(url), &p);
  int libcurls = libcurl_takes_the_proxy(url);
  if (libcurls && (is_network_of_v6(url, what) || is_of_go_alone(what))) return;
  if (libcurls && !libcurl_knows_blanks && strpbrk(what, " \t")) return;
  if (libcurls != (p.variable != NULL))
    CHECK_FAIL("%s, %s: libcurl takes %s proxy", url, what, libcurls ? "the" : "no");
}

static void forget(void) {
  for (size_t i = 0; i < SLP_COUNT(variables); i++) unsetenv(variables[i]);
  unsetenv("no_proxy");
  unsetenv("NO_PROXY");
}

TEST(hosts_without_a_proxy_are_those_of_libcurl) {
  char url[100];
  forget();
  setenv("all_proxy", "http://127.0.0.1:3128", 1);
  setenv("NO_PROXY", "other.example kin.example", 1);
  libcurl_knows_blanks = !libcurl_takes_the_proxy("http://kin.example/");
  for (size_t i = 0; i < SLP_COUNT(lists); i++) {
    setenv("NO_PROXY", lists[i], 1);
    for (size_t j = 0; j < SLP_COUNT(hosts); j++) {
      snprintf(url, sizeof url, "http%s://%s/", j % 2 ? "s" : "", hosts[j]);
      compare(url, lists[i]);
    }
  }
}

TEST(variables_are_taken_as_libcurl_takes_them) {
  for (unsigned set = 0; set < 1u << SLP_COUNT(variables); set++) {
    forget();
    for (size_t i = 0; i < SLP_COUNT(variables); i++)
      if (set >> i & 1) setenv(variables[i], "http://127.0.0.1:3128", 1);
    compare("http://kin.example/", "variables");
    compare("https://kin.example/", "variables");
  }
}
