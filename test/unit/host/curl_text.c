/* curl_text.c - what a result of libcurl is told as, where the code alone does not say it. */
#include "host/uv_host.h"
#include "sloop.h"

#include "check.h"
#include "scarce.h"

static const char *told(slp_curl_failure f, int64_t left, int code) {
  static char text[160];
  scarce memory = {.left = -1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  memory.left = left;
  f.mem = mem;
  if (!f.detail) f.detail = "";
  CHECK_INT(slp_curl_explain(text, sizeof text, SLP_STR("https://u:p@kin.example/"), &f), code);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return text;
}

static const char line[] = "head or trailer of kin.example:443 has a line that is too long";
static const char memory[] = "no memory for the call to kin.example:443";

TEST(a_line_that_is_too_long_is_told_apart_from_a_lack_of_memory) {
  const char *trailer = "Out of memory in chunked-encoding";
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY, .reads_head = 1}, -1, SLOOP_EREMOTE), line);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY, .reads_head = 1}, 0, UV_ENOMEM), memory);
  /* before the request is out and behind the head there is no line */
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY}, -1, UV_ENOMEM), memory);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_RECV_ERROR, .detail = trailer}, -1, SLOOP_EREMOTE), line);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_RECV_ERROR, .detail = trailer}, 0, UV_ENOMEM), memory);
  /* libcurl 8.6.0 and later have a code for it */
  CHECK_STR(told((slp_curl_failure){.rc = (CURLcode)100, .reads_head = 1}, 0, SLOOP_EREMOTE), line);
}

/* ---- proxies --------------------------------------------------------------------------------- */
static slp_proxy proxy_of(int has_user) {
  return (slp_proxy){
      .variable = "HTTPS_PROXY", .url = "", .place = "p.example:3128", .has_user = (uint8_t)has_user};
}

static const char *told_of(slp_curl_failure f, const slp_proxy *p, int code) {
  static char text[256];
  if (!f.detail) f.detail = "";
  f.https = 1;
  f.proxy = p;
  f.connect_ms = 4000;
  CHECK_INT(slp_curl_explain(text, sizeof text, SLP_STR("https://kin.example/"), &f), code);
  return text;
}

#define AT "the proxy p.example:3128 (HTTPS_PROXY)"
#define BEHIND "kin.example:443 through " AT

TEST(what_a_proxy_refuses_is_told_as_its_word) {
  slp_proxy none = proxy_of(0), user = proxy_of(1);
  slp_curl_failure f = {
      .rc = CURLE_RECV_ERROR, .detail = "CONNECT tunnel failed, response 407", .connect_code = 407};
  CHECK_STR(told_of(f, &none, SLOOP_EPROXY), AT
            " answered 407 to CONNECT kin.example:443: set user and password in HTTPS_PROXY: "
            "http://USER:PASSWORD@p.example:3128, percent-encoded");
  CHECK(strstr(told_of(f, &user, SLOOP_EPROXY), "check the user and password in HTTPS_PROXY"));
  f.connect_code = 403;
  CHECK(strstr(told_of(f, &none, SLOOP_EPROXY),
               "answered 403 to CONNECT kin.example:443: check that its rules"));
  f.connect_code = 404;
  CHECK(strstr(told_of(f, &none, SLOOP_EPROXY), "this may not be a proxy"));
  static const int pass[] = {408, 429, 500, 502, 503, 504};
  for (size_t i = 0; i < SLP_COUNT(pass); i++) {
    f.connect_code = pass[i];
    CHECK(strstr(told_of(f, &none, UV_EHOSTUNREACH), "check that the proxy reaches this host"));
  }
}

TEST(a_connection_that_is_there_is_not_what_took_too_long) {
  slp_proxy p = proxy_of(0), socks = p;
  socks.socks = 1;
  slp_curl_failure f = {.rc = CURLE_OPERATION_TIMEDOUT,
                        .detail = "Connection timed out after 4001 milliseconds"};
  CHECK_STR(told_of(f, NULL, UV_ETIMEDOUT), "no connection to kin.example:443 within 4000 ms");
  f.connected = 1;
  CHECK_STR(told_of(f, NULL, UV_ETIMEDOUT), "TLS handshake with kin.example:443 not finished within 4000 ms");
  CHECK(strstr(told_of(f, &p, UV_ETIMEDOUT), "did not answer CONNECT within 4000 ms"));
  CHECK_STR(told_of(f, &socks, UV_ETIMEDOUT), "no connection to " BEHIND " within 4000 ms");
  f.connect_code = 200;
  CHECK_STR(told_of(f, &p, UV_ETIMEDOUT), "TLS handshake with " BEHIND " not finished within 4000 ms");
}

TEST(a_failure_is_told_of_the_hop_where_it_happened) {
  slp_proxy p = proxy_of(0), socks = p;
  const char *own = "SSL certificate problem: self-signed certificate";
  socks.socks = 1;
  CHECK(strstr(told_of((slp_curl_failure){.rc = CURLE_COULDNT_CONNECT, .os_errno = 111}, &p, UV_ECONNREFUSED),
               "connection to " AT " refused; check HTTPS_PROXY"));
  CHECK(strstr(told_of((slp_curl_failure){.rc = CURLE_COULDNT_RESOLVE_PROXY}, &p, UV_EAI_NONAME),
               "name of " AT " not found"));
  CHECK(
      strstr(told_of((slp_curl_failure){.rc = CURLE_PEER_FAILED_VERIFICATION, .detail = own}, &p, SLOOP_ETLS),
             "certificate of " AT " not accepted: self-signed certificate; put its CA into PROXY_CA_BUNDLE"));
  /* The variable decides alone, and the others would be set in vain. */
  setenv("PROXY_CA_BUNDLE", "/etc/proxy.pem", 1);
  CHECK_STR(told_of((slp_curl_failure){.rc = CURLE_PEER_FAILED_VERIFICATION, .detail = own}, &p, SLOOP_ETLS),
            "certificate of " AT
            " not accepted: self-signed certificate; put its CA into the file that PROXY_CA_BUNDLE names; "
            "check HTTPS_PROXY and NO_PROXY");
  unsetenv("PROXY_CA_BUNDLE");
  slp_curl_failure f = {.rc = CURLE_PEER_FAILED_VERIFICATION, .detail = own, .connect_code = 200};
  CHECK(strstr(told_of(f, &p, SLOOP_ETLS), "certificate of " BEHIND " not accepted"));
  /* a tunnel that was there before: the request went out on it */
  f = (slp_curl_failure){.rc = CURLE_GOT_NOTHING, .sent = 1};
  CHECK_STR(told_of(f, &p, UV_ECONNRESET), BEHIND " closed the connection without an answer");
  f = (slp_curl_failure){.rc = CURLE_OPERATION_TIMEDOUT,
                         .detail = "Connection timed out after 4001 milliseconds"};
  CHECK_STR(told_of(f, &socks, UV_ETIMEDOUT), "no connection to " BEHIND " within 4000 ms");
  f = (slp_curl_failure){.rc = CURLE_PROXY, .detail = "No authentication method was acceptable."};
  CHECK(strstr(told_of(f, &socks, SLOOP_EPROXY), AT " refuses: No authentication method"));
}

TEST(a_proxy_s_password_is_never_told) {
  slp_proxy p = proxy_of(1);
  slp_curl_failure f = {.rc = CURLE_COULDNT_RESOLVE_PROXY,
                        .detail = "Unsupported proxy syntax in 'http://me:s3cret@[proxy'"};
  CHECK(!strstr(told_of(f, &p, SLOOP_EPROXY), "s3cret"));
  f = (slp_curl_failure){.rc = CURLE_COULDNT_CONNECT,
                         .detail = "Unsupported proxy scheme for 'ftp://me:s3cret@p'"};
  CHECK(!strstr(told_of(f, &p, SLOOP_EPROXY), "s3cret"));
}

TEST(a_certificate_has_the_remedy_of_its_fault) {
  static const char *const rows[][2] = {
      {"SSL certificate problem: certificate has expired", "check this machine's clock"},
      {"SSL certificate problem: certificate is not yet valid", "check this machine's clock"},
      {"SSL: no alternative certificate subject name matches target host name 'kin.example'",
       "; check the address"},
      {"SSL certificate problem: self-signed certificate in certificate chain", "ca_bundle or AWS_CA_BUNDLE"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    CHECK(strstr(told_of((slp_curl_failure){.rc = CURLE_PEER_FAILED_VERIFICATION, .detail = rows[i][0]}, NULL,
                         SLOOP_ETLS),
                 rows[i][1]));
}
