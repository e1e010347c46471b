/* fuzz_fields.c - named members of an object in any bytes; jansson, where it is there, says what they are. */
#include "codec/fields.h"
#include "codec/json.h"

#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif

#include "fuzz.h"

#define FIELDS 3

static int look(const uint8_t *data, size_t size, const char *inside, slp_field *fields, char **ret_body) {
  const char *why = NULL;
  *ret_body = fuzz_copy(data, size);
  int r = slp_fields_read(*ret_body, size, inside, fields, FIELDS, &why);
  REQUIRE(r == 0 || ((r == SLP_EBADDATA || r == SLP_ELIMIT) && why));
  for (int i = 0; i < FIELDS && !r; i++)
    REQUIRE(!fields[i].text.p ||
            (fields[i].text.p >= *ret_body && fields[i].text.p + fields[i].text.n <= *ret_body + size));
  return r;
}

#if SLP_HAVE_JANSSON
/* Numbers come as they were written, which jansson does not keep: only that there is one is compared. */
static void compare(const uint8_t *data, size_t size, const char *inside, const slp_field *fields) {
  json_t *root = json_loadb((const char *)data, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
  if (!root) return; /* it has limits of its own: depth, numbers out of range */
  const json_t *o = inside ? json_object_get(root, inside) : root;
  for (int i = 0; i < FIELDS; i++) {
    const json_t *value = json_object_get(o, fields[i].name);
    if (json_is_string(value))
      REQUIRE(
          fields[i].text.p && fields[i].text.n == json_string_length(value) &&
          (!fields[i].text.n || memcmp(fields[i].text.p, json_string_value(value), fields[i].text.n) == 0));
    else if (json_is_number(value))
      REQUIRE(fields[i].text.n > 0);
    else
      REQUIRE(!value || json_is_null(value));
    if (!value || json_is_null(value)) REQUIRE(!fields[i].text.p);
  }
  json_decref(root);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_field fields[FIELDS] = {{"AccessKeyId", {0}}, {"a", {0}}, {"Expiration", {0}}};
  char *body;
  for (int i = 0; i < 2; i++) {
    const char *inside = i ? "roleCredentials" : NULL;
    int r = look(data, size, inside, fields, &body);
#if SLP_HAVE_JANSSON
    if (!r) compare(data, size, inside, fields);
#endif
    (void)r;
    free(body);
  }
  return 0;
}
