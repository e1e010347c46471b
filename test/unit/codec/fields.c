/* fields.c - named members of an object. */
#include "codec/fields.h"

#include "check.h"

static int look(const char *text, const char *inside, slp_field *fields, size_t n, const char **why) {
  static char body[500];
  snprintf(body, sizeof body, "%s", text);
  return slp_fields_read(body, strlen(body), inside, fields, n, why);
}

TEST(members_are_found_whatever_stands_around_them) {
  slp_field x[] = {{"a", {0}}, {"b", {0}}, {"c", {0}}};
  const char *why = NULL;
  CHECK_INT(look(" {\"z\":[1,{\"a\":\"no\"}],\"a\":\"\\u0041\\n\",\"y\":{\"b\":1},\"b\":1.5e3,\"c\":null} ",
                 NULL, x, 3, &why),
            0);
  CHECK(slp_str_is(x[0].text, "A\n"));
  CHECK(slp_str_is(x[1].text, "1.5e3"));
  CHECK(!x[2].text.p);
  CHECK_INT(look("{\"a\":\"1\",\"a\":\"2\",\"c\":\"\"}", NULL, x, 3, &why), 0);
  CHECK(slp_str_is(x[0].text, "2")); /* the last one */
  CHECK(!x[1].text.p);
  CHECK(x[2].text.p && !x[2].text.n);
}

TEST(inside_a_member) {
  slp_field x[] = {{"a", {0}}};
  const char *why = NULL;
  CHECK_INT(look("{\"a\":\"no\",\"o\":{\"a\":\"yes\",\"o\":{}},\"p\":{\"a\":1}}", "o", x, 1, &why), 0);
  CHECK(slp_str_is(x[0].text, "yes"));
  /* The last one: keys of two objects are no pair. */
  CHECK_INT(look("{\"o\":{\"a\":\"1\"},\"o\":{\"b\":\"2\"}}", "o", x, 1, &why), 0);
  CHECK(!x[0].text.p);
  CHECK_INT(look("{\"p\":{\"a\":1}}", "o", x, 1, &why), 0);
  CHECK(!x[0].text.p);
  CHECK_INT(look("{\"o\":[]}", "o", x, 1, &why), SLP_EBADDATA);
  CHECK(why != NULL);
}

TEST(what_is_no_such_object) {
  static const char *const bad[] = {
      "",           "x",          "[]",           "\"a\"",      "{",  "{\"a\":\"1\"",
      "{\"a\":[]}", "{\"a\":{}}", "{\"a\":true}", "{\"a\":1}}", "{}x"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    slp_field x[] = {{"a", {0}}};
    const char *why = NULL;
    if (look(bad[i], NULL, x, 1, &why) != SLP_EBADDATA || !why) CHECK_FAIL("%s", bad[i]);
  }
}
