/* curl_http.c - which versions of libcurl may have several subscriptions on a connection. What they do there
 * is tried by test/process/tail_push_h2.py. */
#include "host/uv_host.h"

#include "check.h"

TEST(calls_share_a_connection_only_where_libcurl_knows_http2_and_its_faults_are_mended) {
  CHECK_INT(slp_curl_may_multiplex(0x075801, CURL_VERSION_HTTP2), 0); /* Debian 12 */
  CHECK_INT(slp_curl_may_multiplex(0x080d00, CURL_VERSION_HTTP2), 0);
  CHECK_INT(slp_curl_may_multiplex(0x080e00, CURL_VERSION_HTTP2), 1);
  CHECK_INT(slp_curl_may_multiplex(0x080e01, CURL_VERSION_HTTP2 | CURL_VERSION_SSL), 1); /* Debian 13 */
  CHECK_INT(slp_curl_may_multiplex(0x080e01, CURL_VERSION_SSL), 0);
}
