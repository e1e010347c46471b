/* sso_cache.c - reads the cache file that botocore's SSOTokenProvider writes. */
#include "aws/sso_cache.h"

#include "base/buf.h"
#include "codec/date.h"
#include "codec/digest.h"
#include "codec/fields.h"

int slp_sso_cache_path(slp_buf *path, const char *home, const char *key) {
  uint8_t hash[20];
  char hex[40];
  if (slp_sha1(slp_str_of(key), hash)) return SLP_ENOMEM;
  slp_hex(hex, hash, sizeof hash);
  return slp_buf_addf(path, "%s/.aws/sso/cache/%.40s.json", home, hex);
}

/* Reads a time. Old versions of the AWS tools wrote times like "2020-06-17T10:02:08UTC". */
static int read_time(slp_str s, int64_t *ret_ms) {
  const slp_str utc = SLP_STR("UTC");
  if (s.n > utc.n && memcmp(s.p + s.n - utc.n, utc.p, utc.n) == 0) s.n -= utc.n;
  return slp_date_parse_iso(s, ret_ms);
}

int slp_sso_cache_read(char *text, size_t n, slp_sso_token *ret, const char **ret_why) {
  enum { ACCESS, EXPIRES, REFRESH, CLIENT, CLIENT_SECRET, CLIENT_EXPIRES, FIELDS };
  slp_field f[FIELDS] = {{"accessToken", {0}}, {"expiresAt", {0}},    {"refreshToken", {0}},
                         {"clientId", {0}},    {"clientSecret", {0}}, {"registrationExpiresAt", {0}}};
  *ret = (slp_sso_token){.expires_ms = 0};
  if (slp_fields_read(text, n, NULL, f, FIELDS, ret_why)) return SLP_EBADDATA;
  if (!f[ACCESS].text.n || !f[EXPIRES].text.n) {
    *ret_why = f[ACCESS].text.n ? "it lacks expiresAt" : "it lacks accessToken";
    return SLP_EBADDATA;
  }
  if (read_time(f[EXPIRES].text, &ret->expires_ms)) {
    *ret_why = "its expiresAt is not a time";
    return SLP_EBADDATA;
  }
  ret->access = f[ACCESS].text;
  ret->refresh = f[REFRESH].text;
  ret->client_id = f[CLIENT].text;
  ret->client_secret = f[CLIENT_SECRET].text;
  if (f[CLIENT_EXPIRES].text.n && read_time(f[CLIENT_EXPIRES].text, &ret->client_expires_ms))
    ret->client_expires_ms = 0;
  return 0;
}
