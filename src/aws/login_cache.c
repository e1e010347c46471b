/* login_cache.c - reads and writes the cache file of `aws login`, like botocore 1.44.8
 * (LoginCredentialFetcher in credentials.py, LoginTokenLoader in utils.py). */
#include "aws/login_cache.h"

#include "base/buf.h"
#include "codec/base64.h"
#include "codec/date.h"
#include "codec/digest.h"
#include "codec/es256.h"
#include "codec/fields.h"
#include "codec/json.h"
#include "codec/json_write.h"

#include <inttypes.h>
#include <stdio.h>

#define SECONDS_MAX (400 * 86400)

int slp_login_cache_path(slp_buf *path, const char *home, const char *folder, const char *session) {
  uint8_t hash[32];
  char hex[64];
  slp_digest *d = slp_digest_new(path->mem);
  int r = d ? slp_sha256(d, slp_str_of(session), hash) : SLP_ENOMEM;
  slp_digest_free(d);
  if (r) return r;
  slp_hex(hex, hash, sizeof hash);
  int under_home = folder && folder[0] == '~' && (folder[1] == '/' || !folder[1]);
  if (!folder)
    slp_buf_addf(path, "%s/.aws/login/cache", home);
  else
    slp_buf_addf(path, "%s%s", under_home ? home : "", under_home ? folder + 1 : folder);
  return slp_buf_addf(path, "/%.64s.json", hex);
}

/* Reads two sets of members: `own` of the object itself, `keys` of the object in its member accessToken. Each
 * of the two is read from a copy of the text in `room`, because reading unescapes in place. */
static int read_copies(slp_str text, slp_buf *room, slp_field *keys, size_t keys_n, slp_field *own,
                       size_t own_n, const char **ret_why) {
  slp_buf_clear(room);
  slp_buf_add_str(room, text);
  if (slp_buf_add_str(room, text)) return SLP_ENOMEM;
  if (slp_fields_read(room->p, text.n, "accessToken", keys, keys_n, ret_why)) return SLP_EBADDATA;
  return slp_fields_read(room->p + text.n, text.n, NULL, own, own_n, ret_why) ? SLP_EBADDATA : 0;
}

static int find_missing_field(const slp_field *fields, size_t n, const char **ret_why) {
  for (size_t i = 0; i < n; i++) {
    if (fields[i].text.n) continue;
    *ret_why = fields[i].name;
    return SLP_ENOENT;
  }
  return 0;
}

static void take_keys(slp_login *ret, const slp_field *keys) {
  ret->key_id = keys[0].text;
  ret->secret = keys[1].text;
  ret->token = keys[2].text;
}

int slp_login_cache_read(slp_str text, slp_buf *room, slp_login *ret, const char **ret_why) {
  slp_field keys[] = {{"accessKeyId", {0}},
                      {"secretAccessKey", {0}},
                      {"sessionToken", {0}},
                      {"expiresAt", {0}},
                      {"accountId", {0}}};
  slp_field own[] = {{"clientId", {0}}, {"refreshToken", {0}}, {"dpopKey", {0}}, {"signInRegion", {0}}};
  *ret = (slp_login){.expires_ms = 0};
  int r = read_copies(text, room, keys, SLP_COUNT(keys), own, SLP_COUNT(own), ret_why);
  if (!r) r = find_missing_field(keys, 4, ret_why);
  if (r) return r;
  if (slp_date_parse_iso(keys[3].text, &ret->expires_ms)) {
    *ret_why = "expiresAt is not a time";
    return SLP_EBADDATA;
  }
  take_keys(ret, keys);
  ret->account = keys[4].text;
  ret->client = own[0].text;
  ret->refresh = own[1].text;
  ret->dpop_key = own[2].text;
  ret->region = own[3].text;
  return 0;
}

int slp_login_answer_read(slp_str text, slp_buf *room, int64_t now_ms, slp_login *ret, const char **ret_why) {
  slp_field keys[] = {{"accessKeyId", {0}}, {"secretAccessKey", {0}}, {"sessionToken", {0}}};
  slp_field own[] = {{"refreshToken", {0}}, {"expiresIn", {0}}};
  int64_t seconds = 0;
  *ret = (slp_login){.expires_ms = 0};
  int r = read_copies(text, room, keys, SLP_COUNT(keys), own, SLP_COUNT(own), ret_why);
  if (!r) r = find_missing_field(keys, SLP_COUNT(keys), ret_why);
  if (!r) r = find_missing_field(own, SLP_COUNT(own), ret_why);
  if (r) return r;
  if (slp_decimal_scaled(own[1].text, 0, &seconds) || seconds <= 0 || seconds > SECONDS_MAX) {
    *ret_why = "expiresIn is not a number of seconds";
    return SLP_EBADDATA;
  }
  take_keys(ret, keys);
  ret->refresh = own[0].text;
  ret->expires_ms = now_ms + seconds * 1000;
  return 0;
}

static void put_new_keys(slp_jw *w, const slp_login *renewed) {
  char expires[25];
  slp_date_iso(renewed->expires_ms / 1000 * 1000, expires);
  memcpy(expires + 19, "Z", 2); /* overwrites the milliseconds, which the AWS tools do not write */
  slp_jw_object(w, "accessToken");
  slp_jw_str(w, "accessKeyId", renewed->key_id);
  slp_jw_str(w, "secretAccessKey", renewed->secret);
  slp_jw_str(w, "sessionToken", renewed->token);
  if (renewed->account.n) slp_jw_str(w, "accountId", renewed->account);
  slp_jw_z(w, "expiresAt", expires);
  slp_jw_object_end(w);
  slp_jw_str(w, "refreshToken", renewed->refresh);
}

/* Copies the members that a renewal does not change. */
static int put_others(slp_jw *w, slp_str text) {
  slp_json j;
  slp_json_begin(&j, (char *)(uintptr_t)text.p, text.n);
  j.keep = 1;
  int token = slp_json_next(&j);
  if (token != SLP_JSON_OBJECT) return SLP_EBADDATA;
  while ((token = slp_json_next(&j)) == SLP_JSON_KEY) {
    slp_str name = j.text;
    int ours = slp_str_is(name, "accessToken") || slp_str_is(name, "refreshToken");
    size_t from = j.at;
    if (slp_json_skip(&j)) return SLP_EBADDATA;
    slp_str value = {text.p + from, j.at - from};
    while (value.n && slp_str_has(SLP_STR(": \t\r\n"), value.p[0])) value.p++, value.n--;
    if (ours) continue;
    slp_buf *b = slp_jw_value(w, NULL);
    slp_buf_addf(b, "\"%.*s\":", (int)name.n, name.p);
    slp_buf_add_str(b, value);
  }
  return token == SLP_JSON_OBJECT_END ? 0 : SLP_EBADDATA;
}

int slp_login_cache_write(slp_buf *to, slp_str text, const slp_login *renewed) {
  slp_jw w = slp_jw_begin(to);
  put_new_keys(&w, renewed);
  int r = put_others(&w, text);
  int failed = slp_jw_object_end(&w);
  return r ? r : failed;
}

/* ---- the proof (DPoP) ---------------------------------------------------------------------------------- */
/* Appends base64 with the alphabet for URLs and without padding (RFC 7515). */
static int put_url64(slp_buf *to, slp_str bytes) {
  size_t from = to->n;
  int r = slp_base64_encode(to, bytes);
  if (r) return r;
  while (to->n > from && to->p[to->n - 1] == '=') to->n--;
  for (size_t i = from; i < to->n; i++) {
    if (to->p[i] == '+') to->p[i] = '-';
    if (to->p[i] == '/') to->p[i] = '_';
  }
  return 0;
}

static slp_str bytes_of(const uint8_t *p, size_t n) { return (slp_str){(const char *)p, n}; }

static int put_head(slp_buf *to, const slp_es256 *key) {
  uint8_t x[32], y[32];
  int r = slp_es256_public(key, x, y);
  if (r) return r;
  slp_buf_add_z(to, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"x\":\"");
  put_url64(to, bytes_of(x, sizeof x));
  slp_buf_add_z(to, "\",\"y\":\"");
  put_url64(to, bytes_of(y, sizeof y));
  return slp_buf_add_z(to, "\",\"crv\":\"P-256\"}}");
}

static int put_claims(slp_buf *to, slp_str url, int64_t now_ms, const uint64_t unique[2]) {
  char id[37];
  snprintf(id, sizeof id, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
           unique[0] >> 32, unique[0] >> 16 & 0xffff, unique[0] & 0xfff, (unique[1] >> 48 & 0x3fff) | 0x8000,
           unique[1] & 0xffffffffffff);
  slp_jw w = slp_jw_begin(to);
  slp_jw_z(&w, "htm", "POST");
  slp_jw_str(&w, "htu", url);
  slp_jw_i64(&w, "iat", now_ms / 1000);
  slp_jw_z(&w, "jti", id);
  return slp_jw_object_end(&w);
}

/* Appends HEAD.CLAIMS and the signature of both. */
static int put_signed(slp_buf *to, const slp_es256 *key, slp_buf *part, slp_str url, int64_t now_ms,
                      const uint64_t unique[2]) {
  uint8_t signature[64];
  size_t from = to->n;
  int r = put_head(part, key);
  if (!r) r = put_url64(to, slp_buf_str(part));
  if (!r) r = slp_buf_add_char(to, '.');
  slp_buf_clear(part);
  if (!r) r = put_claims(part, url, now_ms, unique);
  if (!r) r = put_url64(to, slp_buf_str(part));
  if (!r) r = slp_es256_sign(key, (slp_str){to->p + from, to->n - from}, signature);
  if (!r) r = slp_buf_add_char(to, '.');
  return r ? r : put_url64(to, bytes_of(signature, sizeof signature));
}

int slp_dpop_proof(slp_buf *to, slp_str key_pem, slp_str url, int64_t now_ms, const uint64_t unique[2]) {
  slp_buf part;
  slp_es256 *key;
  int r = slp_es256_new(key_pem, &key);
  if (r) return r;
  slp_buf_init(&part, to->mem, 4096);
  r = put_signed(to, key, &part, url, now_ms, unique);
  slp_buf_free(&part);
  slp_es256_free(key);
  return r;
}
