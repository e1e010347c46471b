/* beyond_jansson.h - documents that are JSON and that jansson can't hold all the same: a number beyond a machine's,
 * a NUL in an object's key (JSON_ALLOW_NUL covers the values only). */
#ifndef SLP_TEST_BEYOND_JANSSON_H
#define SLP_TEST_BEYOND_JANSSON_H

#include <jansson.h>

/* e: what json_loadb() said when it returned NULL. */
static inline int beyond_jansson(const json_error_t *e) {
  enum json_error_code code = json_error_code(e);
  return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
}

#endif
