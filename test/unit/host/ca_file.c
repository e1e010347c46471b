/* ca_file.c - which file of certificates is trusted if the user has named none. */
#include "host/ca_file.h"

#include "base/base.h"
#include "check.h"

static const char *there[2]; /* the files that can be read */

static int is_there(const char *path) {
  for (size_t i = 0; i < SLP_COUNT(there); i++)
    if (there[i] && strcmp(there[i], path) == 0) return 1;
  return 0;
}

TEST(a_file_that_is_named_is_taken_even_if_it_can_not_be_read) {
  there[0] = "/built/in";
  CHECK_STR(slp_ca_file_find("/named", "/built/in", is_there), "/named");
  CHECK_STR(slp_ca_file_find("", "/built/in", is_there), "/built/in");
  CHECK_STR(slp_ca_file_find(NULL, "/built/in", is_there), "/built/in");
}

TEST(every_known_place_is_found) {
  unsigned n = 0;
  for (const char *place; (place = slp_ca_file_place(n)); n++) {
    there[0] = place;
    CHECK_STR(slp_ca_file_find(NULL, NULL, is_there), place);
    CHECK_STR(slp_ca_file_find(NULL, "/built/in", is_there), place);
  }
  CHECK_INT(n, 7);
  there[0] = slp_ca_file_place(1);
  there[1] = slp_ca_file_place(4);
  CHECK_STR(slp_ca_file_find(NULL, NULL, is_there), slp_ca_file_place(1));
}

TEST(where_there_is_none_the_error_names_a_place) {
  CHECK_STR(slp_ca_file_find(NULL, "/built/in", is_there), "/built/in");
  CHECK_STR(slp_ca_file_find(NULL, NULL, is_there), "/etc/ssl/certs/ca-certificates.crt");
}
