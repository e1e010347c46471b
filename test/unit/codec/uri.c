/* Endpoint URLs and percent-encoding. */
#include "codec/uri.h"

#include "check.h"

static const struct {
  const char *url, *host, *authority, *path;
  int port, given, tls, ipv6;
} good[] = {{"http://localhost", "localhost", "localhost", "/", 80, 0, 0, 0},
            {"https://kinesis.eu-west-1.amazonaws.com", "kinesis.eu-west-1.amazonaws.com",
             "kinesis.eu-west-1.amazonaws.com", "/", 443, 0, 1, 0},
            {"HTTPS://h:8443/", "h", "h:8443", "/", 8443, 1, 1, 0},
            {"http://127.0.0.1:4567/a/b", "127.0.0.1", "127.0.0.1:4567", "/a/b", 4567, 1, 0, 0},
            {"http://[::1]", "::1", "[::1]", "/", 80, 0, 0, 1},
            {"http://[::1]:65535/x", "::1", "[::1]:65535", "/x", 65535, 1, 0, 1},
            {"http://a_b-c.d:1", "a_b-c.d", "a_b-c.d:1", "/", 1, 1, 0, 0}};
static const char *const wrong[] = {"",
                                    "localhost",
                                    "localhost:4567",
                                    "ftp://h",
                                    "http:/h",
                                    "http://",
                                    "http:///x",
                                    "http://:80",
                                    "http://h:",
                                    "http://h:0",
                                    "http://h:65536",
                                    "http://h:8o",
                                    "http://h:80:80",
                                    "http://h:-1",
                                    "http://h:99999999999999999999",
                                    "http://[::1",
                                    "http://[]",
                                    "http://[::1]x",
                                    "http://[g]",
                                    "http://[::1]80",
                                    "http://u:p@h",
                                    "http://u@h",
                                    "http://h?x",
                                    "http://h/#f",
                                    "http://h h",
                                    "http://h\n",
                                    "http://h\xC3\xA9",
                                    "http://h/\x7f",
                                    "http://h%41"};

TEST(urls_are_split) {
  for (size_t i = 0; i < SLP_COUNT(good); i++) {
    slp_uri u;
    const char *why = "";
    CHECK_INT(slp_uri_parse(slp_str_of(good[i].url), &u, &why), 0);
    CHECK_MEM(u.host.p, u.host.n, good[i].host, strlen(good[i].host));
    CHECK_MEM(u.authority.p, u.authority.n, good[i].authority, strlen(good[i].authority));
    CHECK_MEM(u.path.p, u.path.n, good[i].path, strlen(good[i].path));
    CHECK_INT(u.port, good[i].port);
    CHECK_INT(u.port_given, good[i].given);
    CHECK_INT(u.tls, good[i].tls);
    CHECK_INT(u.ipv6, good[i].ipv6);
  }
}

TEST(what_is_no_endpoint_is_refused_with_a_reason) {
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    slp_uri u = {.port = 7};
    const char *why = NULL;
    if (slp_uri_parse(slp_str_of(wrong[i]), &u, &why) != SLP_EBADDATA) CHECK_FAIL("%s was taken", wrong[i]);
    CHECK(why && why[0]);
    CHECK_INT(u.port, 7);
  }
}

TEST(percent_encoding) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  CHECK_INT(slp_uri_put_encoded(&b, SLP_STR("aZ09-._~ /%+\xC3\xA9\0"), 0), 0);
  CHECK_STR(slp_buf_z(&b), "aZ09-._~%20%2F%25%2B%C3%A9%00");
  slp_buf_clear(&b);
  CHECK_INT(slp_uri_put_encoded(&b, SLP_STR("/a b/"), 1), 0);
  CHECK_STR(slp_buf_z(&b), "/a%20b/");
  b.max = 8;
  CHECK_INT(slp_uri_put_encoded(&b, SLP_STR(" "), 1), SLP_ELIMIT);
  CHECK_INT(b.n, 7);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}
