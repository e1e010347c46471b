/* proxy.c - the variables of proxies, and the hosts that need none. What libcurl makes of the same is
 * test/wire/proxies.c. */
#include "host/proxy.h"

#include <stdlib.h>

#include "check.h"

static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                    "ALL_PROXY",  "no_proxy",    "NO_PROXY",    "HTTP_PROXY"};

static slp_proxy found(const char *url, const char *variable, const char *value) {
  slp_proxy p;
  for (size_t i = 0; i < SLP_COUNT(names); i++) unsetenv(names[i]);
  setenv(variable, value, 1);
  slp_proxy_find(slp_str_of(url), &p);
  return p;
}

TEST(the_variable_is_of_the_scheme_and_small_letters_come_first) {
  CHECK_STR(found("https://kin.example/", "HTTPS_PROXY", "http://p:1").variable, "HTTPS_PROXY");
  CHECK_STR(found("https://kin.example/", "https_proxy", "http://p:1").variable, "https_proxy");
  CHECK_STR(found("https://kin.example/", "ALL_PROXY", "http://p:1").variable, "ALL_PROXY");
  CHECK_STR(found("http://kin.example/", "http_proxy", "http://p:1").variable, "http_proxy");
  CHECK(found("http://kin.example/", "HTTP_PROXY", "http://p:1").variable == NULL);
  CHECK(found("http://kin.example/", "HTTPS_PROXY", "http://p:1").variable == NULL);
  CHECK(found("https://kin.example/", "https_proxy", "").variable == NULL);
}

TEST(the_place_has_no_user_and_the_port_of_libcurl) {
  static const struct {
    const char *value, *place;
    int has_user, socks;
  } rows[] = {
      {"http://p.example:3128", "p.example:3128", 0, 0},
      {"p.example:3128/", "p.example:3128", 0, 0},
      {"http://p.example", "p.example:1080", 0, 0},
      {"https://p.example", "p.example:443", 0, 0},
      {"http://me:s3cret@p.example:1", "p.example:1", 1, 0},
      {"me:s3@cret@p.example:1", "p.example:1", 1, 0},
      {"http://[::1]:8080/", "[::1]:8080", 0, 0},
      {"http://[::1]", "[::1]:1080", 0, 0},
      {"socks5h://p.example", "p.example:1080", 0, 1},
      {"SOCKS4://p.example:9", "p.example:9", 0, 1},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    slp_proxy p = found("https://kin.example/", "HTTPS_PROXY", rows[i].value);
    CHECK_STR(p.place, rows[i].place);
    CHECK_INT(p.has_user, rows[i].has_user);
    CHECK_INT(p.socks, rows[i].socks);
    CHECK_INT(p.tls, strncmp(rows[i].value, "https:", 6) == 0);
  }
}

TEST(a_place_that_is_longer_than_a_name_can_be_is_cut) {
  char value[3000] = "http://";
  memset(value + 7, 'x', sizeof value - 8);
  CHECK(strlen(found("https://kin.example/", "HTTPS_PROXY", value).place) < SLP_PLACE_MAX);
}

/* libcurl matches no host with these entries of NO_PROXY; sloop reads them as Go does. Most rows were checked
 * with ProxyFromEnvironment of Go 1.26.8 (net/http); the others follow from those. */
TEST(ports_and_stars_of_the_list_are_those_of_go) {
  static const struct {
    const char *list, *url;
    int proxied;
  } rows[] = {{"kin.example:443", "https://kin.example/", 0},
              {"kin.example:443", "https://a.kin.example/", 0},
              {"kin.example:443", "https://kin.example:8443/", 1},
              {"kin.example:8443", "https://kin.example/", 1},
              {"kin.example:8443", "https://kin.example:8443/x:443", 0},
              {"x, kin.example:8443", "https://me:pw@kin.example:8443", 0},
              {"*.example", "https://kin.example/", 0},
              {"*.kin.example", "https://kin.example/", 1},
              {"*.kin.example", "https://a.kin.example/", 0},
              {"*.kin.example", "https://akin.example/", 1},
              {"*.kin.example:443", "https://a.kin.example/", 0},
              {"*.kin.example:443", "https://kin.example/", 1},
              {".kin.example:443", "https://kin.example/", 1},
              {".kin.example:443", "https://a.kin.example/", 0},
              {".kin.example:443", "https://a.kin.example:8443/", 1},
              {"other,*", "https://kin.example/", 0},
              {"other,*", "https://[2001:db8::1]/", 0},
              {"*:443", "https://kin.example/", 1},
              {"10.1.2.3:443", "https://10.1.2.3/", 0},
              {"10.1.2.3:80", "https://10.1.2.3/", 1},
              {"10.1.2.3:80", "http://10.1.2.3/", 0},
              {"10.0.0.0/8", "https://10.1.2.3/", 0},
              {"10.0.0.0/8:443", "https://10.1.2.3/", 1},
              {"[2001:db8::1]:443", "https://[2001:db8::1]/", 0},
              {"[2001:db8::1]:444", "https://[2001:db8::1]/", 1},
              {"2001:db8::1", "https://[2001:db8::1]/", 0},
              {"2001:db8::/32", "https://[2001:db8::1]:444/", 0},
              {"kin.example:x", "https://kin.example/", 1}};
  slp_proxy p = found("https://kin.example/", "ALL_PROXY", "http://p:1");
  setenv("ALL_PROXY", "http://p:1", 1);
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    setenv("NO_PROXY", rows[i].list, 1);
    slp_proxy_find(slp_str_of(rows[i].url), &p);
    if ((p.variable != NULL) != rows[i].proxied) CHECK_FAIL("%s of %s", rows[i].url, rows[i].list);
  }
}

TEST(hosts_of_the_list_have_no_proxy) {
  setenv("no_proxy", "kin.example", 1);
  slp_proxy p = found("https://kin.example:443/", "HTTPS_PROXY", "http://p:1");
  CHECK(p.variable != NULL); /* found() has cleared the list */
  setenv("NO_PROXY", "other, kin.example", 1);
  slp_proxy_find(SLP_STR("https://u:p@kin.example:443/x"), &p);
  CHECK(p.variable == NULL);
  slp_proxy_find(SLP_STR("https://akin.example/"), &p);
  CHECK_STR(p.variable, "HTTPS_PROXY");
  setenv("no_proxy", "elsewhere", 1); /* wins */
  slp_proxy_find(SLP_STR("https://kin.example/"), &p);
  CHECK_STR(p.variable, "HTTPS_PROXY");
}
