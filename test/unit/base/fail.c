/* fail.c - what went wrong: a class with a name, a line that is cut rather than too long. */
#include "base/fail.h"
#include "check.h"

TEST(every_class_has_a_name_of_its_own) {
  static const char *const names[] = {"fine",    "throttle", "transient", "expired", "gone",     "busy",
                                      "trimmed", "auth",     "access",    "refused", "canceled", "nomem"};
  static const slp_class classes[] = {SLP_FINE,   SLP_THROTTLE, SLP_TRANSIENT, SLP_EXPIRED,
                                      SLP_GONE,   SLP_BUSY,     SLP_TRIMMED,   SLP_AUTH,
                                      SLP_ACCESS, SLP_REFUSED,  SLP_CANCELED,  SLP_NOMEM};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK_STR(slp_class_name(classes[i]), names[i]);
}

TEST(what_only_a_person_can_mend_lasts) {
  static const slp_class lasting[] = {SLP_GONE, SLP_AUTH, SLP_ACCESS, SLP_REFUSED};
  static const slp_class passing[] = {SLP_FINE, SLP_THROTTLE, SLP_TRANSIENT, SLP_EXPIRED,
                                      SLP_BUSY, SLP_TRIMMED,  SLP_CANCELED,  SLP_NOMEM};
  for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++) CHECK(slp_class_lasts(lasting[i]));
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) CHECK(!slp_class_lasts(passing[i]));
}

TEST(a_line_is_cut_and_still_ends) {
  slp_fail f = {0};
  char text[4000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  CHECK(slp_fail_set(&f, SLP_REFUSED, -1, "%s", text) != 0);
  CHECK_INT(f.class, SLP_REFUSED);
  CHECK_INT(f.code, -1);
  CHECK_INT(strlen(f.message), sizeof f.message - 1);
  slp_fail_clear(&f);
  CHECK_INT(f.class, SLP_FINE);
  CHECK_STR(f.message, "");
}

TEST(a_line_moves_no_terminal) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_REFUSED, -1, "a%sb", "\033[2J\r\n\x7f\xc2\x9b\xe2\x80\xae\xff");
  CHECK_STR(f.message, "a?[2J??????b");
}
