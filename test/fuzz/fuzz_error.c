/* fuzz_error.c - what an answer means that is no success. The first byte chooses the status, then come the
 * header with the error's name and, behind a byte 0x1e, the body. What comes out is one printable line, never
 * the place where a service quotes the request's token; its class is that of the name it tells, or
 * transient where a refusal's body is damaged; and where
 * jansson reads a plain object with one name in it, that is the name. */
#include "aws/classify.h"

#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif

#include "fuzz.h"

static void check(const slp_fail *f, const slp_bad_answer *a, slp_remedy remedy) {
  slp_remedy again;
  REQUIRE(memchr(f->message, 0, sizeof f->message) && f->message[0]);
  for (const char *c = f->message; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
  REQUIRE(f->class != SLP_FINE && f->http_status == a->status);
  REQUIRE(f->retry_after_us <= UINT64_C(3600000000));
  REQUIRE(strspn(f->aws_code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          strlen(f->aws_code));
  if (strlen(f->aws_code) < sizeof f->aws_code - 1) { /* else it was cut */
    slp_class named = slp_classify_name(slp_str_of(f->aws_code), a->status, &again);
    int damaged = !f->aws_code[0] && named == SLP_REFUSED && f->class == SLP_TRANSIENT;
    REQUIRE((named == f->class || damaged) && again == remedy);
  }
  if (strncmp(f->message, "unreadable", 10) != 0) REQUIRE(!strstr(f->message, "x-amz-security-token"));
}

#if SLP_HAVE_JANSSON
/* Names may come as "prefix#Name:rest". */
static int is_name(const char *said, const char *code) {
  size_t n = strcspn(said, ":");
  const char *hash = n ? memrchr(said, '#', n) : NULL;
  if (hash) n -= (size_t)(hash + 1 - said);
  if (hash) said = hash + 1;
  if (n == 0 || n >= 79) return 1;
  for (size_t i = 0; i < n; i++) {
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", said[i])) return 1;
  }
  return strlen(code) == n && memcmp(said, code, n) == 0;
}

static void compare(const uint8_t *body, size_t n, const slp_fail *f) {
  static const char *const keys[] = {"__type", "code", "Code"};
  if (n == 0 || body[0] != '{' || n > 65536) return;
  json_t *o = json_loadb((const char *)body, n, JSON_REJECT_DUPLICATES, NULL);
  const char *key, *said = NULL;
  json_t *value;
  int names = 0, plain = json_is_object(o);
  if (plain) json_object_foreach(o, key, value) plain &= json_is_string(value) || json_is_null(value);
  for (int i = 0; i < 3 && plain; i++) {
    value = json_object_get(o, keys[i]);
    if (!json_is_string(value)) continue;
    said = json_string_value(value);
    names++;
  }
  if (plain && names == 1) REQUIRE(is_name(said, f->aws_code));
  json_decref(o);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int statuses[] = {400, 200, 301, 401, 403, 404, 408, 413, 429, 500, 503, 599};
  if (size < 1) return 0;
  char type[161] = "";
  const uint8_t *cut = memchr(data + 1, 0x1e, size - 1), *body = cut ? cut + 1 : data + 1;
  size_t body_n = (size_t)(data + size - body), type_n = cut ? (size_t)(cut - data - 1) : 0;
  if (type_n >= sizeof type) type_n = sizeof type - 1;
  memcpy(type, data + 1, type_n);
  char *copy = fuzz_copy(body, body_n);
  slp_bad_answer a = {.status = statuses[data[0] % (sizeof statuses / sizeof *statuses)],
                      .error_type = type,
                      .request_id = type,
                      .retry_after_ms = data[0] * UINT64_C(1) << data[0] % 60,
                      .body = {copy, body_n}};
  slp_fail f;
  slp_remedy remedy;
  memset(&f, 0xee, sizeof f); /* every field is filled */
  slp_classify(&a, &f, &remedy);
  check(&f, &a, remedy);
#if SLP_HAVE_JANSSON
  compare(body, body_n, &f);
#endif
  free(copy);
  return 0;
}
