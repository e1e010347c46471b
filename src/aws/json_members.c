/* json_members.c - writes and reads single members of JSON objects. */
#include "aws/json_members.h"

#include "base/buf.h"
#include "codec/date.h"
#include "codec/json.h"
#include "codec/json_write.h"

/* ---- requests ------------------------------------------------------------------------------------------ */
void slp_put_text(slp_jw *w, const char *name, slp_str value) {
  if (value.n) slp_jw_str(w, name, value);
}

/* Writes seconds with three decimals, digit by digit, so that the value is not rounded. */
void slp_put_seconds(slp_jw *w, const char *name, int64_t ms) {
  uint64_t at = ms > 0 ? (uint64_t)ms : 0;
  slp_buf_addf(slp_jw_value(w, name), "%llu.%03u", (unsigned long long)(at / 1000), (unsigned)(at % 1000));
}

/* ---- answers ------------------------------------------------------------------------------------------- */
int slp_read_enter(slp_json *j, int opening) {
  int token = slp_json_next(j);
  if (token == opening) return 1;
  if (token == SLP_JSON_NULL) return 0;
  if (token >= 0) j->why = "a member has the wrong type";
  return token < 0 ? token : SLP_EBADDATA;
}

int slp_read_key(slp_json *j) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_KEY) return 1;
  return token < 0 ? token : 0;
}

int slp_read_finish(slp_json *j) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_END) return 0;
  return token < 0 ? token : SLP_EBADDATA;
}

int slp_read_bad(slp_json *j, const char *why) {
  j->why = why;
  return SLP_EBADDATA;
}

/* Reads a text into a fixed buffer. No text of the service is longer than the buffer. */
int slp_read_z(slp_json *j, char *to, size_t size) {
  slp_str s;
  int r = slp_json_string(j, &s);
  if (r || !s.p) return r;
  if (s.n >= size || memchr(s.p, 0, s.n)) return slp_read_bad(j, "a name is too long");
  memcpy(to, s.p, s.n);
  to[s.n] = 0;
  return 0;
}

/* Reads a time in seconds. moto writes some times as ISO text. If a time makes no sense, it is treated as
 * absent, because it is only shown to people. */
int slp_read_time(slp_json *j, int64_t *ret_ms) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_NUMBER && slp_decimal_seconds_ms(j->text, ret_ms)) *ret_ms = -1;
  if (token == SLP_JSON_STRING && slp_date_parse_iso(j->text, ret_ms)) *ret_ms = -1;
  if (token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY)
    return slp_read_bad(j, "a time has the wrong type");
  return token < 0 ? token : 0;
}

int slp_read_u32(slp_json *j, uint32_t *ret) {
  int64_t v = 0;
  int r = slp_json_i64(j, &v);
  if (!r) *ret = v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
  return r;
}

int slp_read_name(slp_json *j, slp_str *ret) {
  int r = slp_json_string(j, ret);
  if (!r && !ret->n) *ret = (slp_str){NULL, 0};
  return r;
}
