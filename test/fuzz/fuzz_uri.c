/* fuzz_uri.c - endpoint URLs against libcurl's own reader of URLs: what we take, it takes, and finds the same
 * host, port and path, so that what is signed is what is asked. The URL that comes out of one comes out of
 * itself. Percent-encoding against curl's, there and back. */
#include "aws/endpoint.h"
#include "codec/uri.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "fuzz.h"

static void inside(const char *from, size_t n, slp_str s) { REQUIRE(s.p >= from && s.p + s.n <= from + n); }

/* 1: curl has other rules for it: it fills in what is missing of addresses, and checks IPv6's. */
static int is_address(const slp_uri *u, const char *host) {
  struct in6_addr v6;
  if (u->ipv6) return inet_pton(AF_INET6, host, &v6) != 1 || strpbrk(host, "ABCDEFabcdef.0") != NULL;
  return strspn(host, "0123456789abcdefABCDEFxX.") == strlen(host);
}

static void same_part(CURLU *c, CURLUPart part, unsigned flags, slp_str ours) {
  char *theirs = NULL;
  REQUIRE(curl_url_get(c, part, &theirs, flags) == CURLUE_OK);
  size_t n = strlen(theirs);
  int brackets = part == CURLUPART_HOST && n > 1 && theirs[0] == '[';
  REQUIRE(slp_str_eq(ours, brackets ? (slp_str){theirs + 1, n - 2} : (slp_str){theirs, n}));
  curl_free(theirs);
}

static void compare(const char *z, const slp_uri *u) {
  char host[400], port[8];
  if (u->host.n >= sizeof host) return;
  memcpy(host, u->host.p, u->host.n);
  host[u->host.n] = 0;
  if (is_address(u, host)) return;
  CURLU *c = curl_url();
  REQUIRE(c && curl_url_set(c, CURLUPART_URL, z, CURLU_PATH_AS_IS) == CURLUE_OK);
  same_part(c, CURLUPART_HOST, 0, u->host);
  snprintf(port, sizeof port, "%u", u->port);
  if (u->authority.n < 300) same_part(c, CURLUPART_PORT, CURLU_DEFAULT_PORT, slp_str_of(port));
  same_part(c, CURLUPART_PATH, 0, u->path);
  same_part(c, CURLUPART_SCHEME, 0, u->tls ? SLP_STR("https") : SLP_STR("http"));
  curl_url_cleanup(c);
}

static void parse(const char *z, size_t n) {
  slp_uri u;
  const char *why = NULL;
  int r = slp_uri_parse((slp_str){z, n}, &u, &why);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && why && why[0]));
  if (r) return;
  inside(z, n, u.host);
  inside(z, n, u.authority);
  REQUIRE(u.host.n > 0 && u.port > 0 && u.path.n > 0 && u.path.p[0] == '/');
  REQUIRE(u.port_given || u.port == (u.tls ? 443 : 80));
  compare(z, &u);
}

/* Taken apart, an endpoint is put together so that it is taken apart into the same. */
static void endpoint(const char *z, size_t n) {
  char why[160] = "";
  slp_endpoint e = {.sign_as = "kinesis"}, again = e;
  slp_str url = {z, n};
  int r = slp_endpoint_parse_url(&e, url, why);
  REQUIRE(r == 0 || (why[0] && memchr(why, 0, sizeof why)));
  if (r) {
    const char *at = n ? memrchr(z, '@', n) : NULL;
    size_t secret_n = at ? (size_t)(at - z) : 0, rest = n - secret_n;
    /* A password is not repeated; what stands behind it is, and may be the same, or begin as it does and be
     * made the same by the words of the message. */
    if (secret_n > 8 && !memmem(at, rest, z, 8)) REQUIRE(!memmem(why, strlen(why), z, secret_n));
    return;
  }
  REQUIRE(slp_endpoint_parse_url(&again, slp_str_of(e.url), why) == 0);
  REQUIRE(strcmp(e.url, again.url) == 0 && strcmp(e.host, again.host) == 0 &&
          strcmp(e.path, again.path) == 0);
  REQUIRE(e.tls == again.tls && e.loopback == again.loopback);
  struct in_addr v4;
  size_t host_n = strcspn(e.host, ":");
  e.host[host_n] = 0;
  if (e.loopback && e.host[0] != '[' && strcmp(e.host, "localhost") != 0 &&
      inet_pton(AF_INET, e.host, &v4) == 1)
    REQUIRE(ntohl(v4.s_addr) >> 24 == 127);
}

static void encode(const char *p, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 3 * n + 1);
  REQUIRE(slp_uri_put_encoded(&b, (slp_str){p, n}, 0) == 0);
  char *theirs = n ? curl_easy_escape(NULL, p, (int)n) : NULL;
  if (n) REQUIRE(theirs && slp_str_is(slp_buf_str(&b), theirs));
  curl_free(theirs);
  int back_n = 0;
  char *back = curl_easy_unescape(NULL, slp_buf_z(&b), (int)b.n, &back_n);
  REQUIRE(back && (size_t)back_n == n && (n == 0 || memcmp(back, p, n) == 0));
  curl_free(back);
  slp_buf_clear(&b);
  REQUIRE(slp_uri_put_encoded(&b, (slp_str){p, n}, 1) == 0);
  back = curl_easy_unescape(NULL, slp_buf_z(&b), (int)b.n, &back_n);
  REQUIRE(back && (size_t)back_n == n && (n == 0 || memcmp(back, p, n) == 0));
  curl_free(back);
  slp_buf_free(&b);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 4096) return 0; /* three times as long when it is encoded, five times over */
  char *z = malloc(size + 1);
  REQUIRE(z != NULL);
  memcpy(z, data, size);
  z[size] = 0;
  parse(z, size);
  endpoint(z, size);
  encode(z, size);
  free(z);
  return 0;
}
