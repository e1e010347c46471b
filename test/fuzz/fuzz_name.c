/* fuzz_name.c - names and ARNs of streams and tables against POSIX regular expressions of the same rules, and
 * whether a token of such a stream is known again by every name the stream has. */
#include "aws/endpoint.h"
#include "cli/token_file.h"
#include "source/stream_name.h"

#include <regex.h>

#include "fuzz.h"

#define NAME "[a-zA-Z0-9_.-]"
#define HEAD "^arn:[^:]+:"
#define PLACE ":[^:]+:[^:]*:"

enum { KINESIS_NAME, TABLE_NAME, KINESIS_ARN, TABLE_ARN, FORMS };

static int matches(int form, const char *z) {
  static const char *const texts[FORMS] = {
      [KINESIS_NAME] = "^" NAME "{1,128}$",
      [TABLE_NAME] = "^dynamodb:" NAME "{3,255}$",
      [KINESIS_ARN] = HEAD "kinesis" PLACE "stream/" NAME "{1,128}$",
      [TABLE_ARN] = HEAD "dynamodb" PLACE "table/" NAME "{3,255}(/stream/[^/]+)?$",
  };
  static regex_t forms[FORMS];
  static int compiled[FORMS];
  if (!compiled[form]) REQUIRE(regcomp(&forms[form], texts[form], REG_EXTENDED | REG_NOSUB) == 0);
  compiled[form] = 1;
  return regexec(&forms[form], z, 0, NULL, 0) == 0;
}

static int is_printable(const char *z) {
  for (; *z; z++)
    if ((unsigned char)*z <= 0x20 || (unsigned char)*z >= 0x7f) return 0;
  return 1;
}

/* The kind of z by the rules; 0: none. */
static int judge(const char *z, size_t n) {
  if (strlen(z) != n || strchr(z, '\n')) return 0; /* "$" would stand before a line's end */
  if (strncmp(z, "arn:", 4) == 0) {
    if (n > SLP_STREAM_ARN_MAX || !is_printable(z)) return 0;
    return matches(KINESIS_ARN, z) ? SLP_NAMES_KINESIS : matches(TABLE_ARN, z) ? SLP_NAMES_DYNAMODB : 0;
  }
  if (strncmp(z, "dynamodb:", 9) == 0) return matches(TABLE_NAME, z) ? SLP_NAMES_DYNAMODB : 0;
  return matches(KINESIS_NAME, z) ? SLP_NAMES_KINESIS : 0;
}

static void region_of_arn(const char *z, slp_str arn) {
  slp_str region = slp_arn_region(arn);
  char *copy = fuzz_copy((const uint8_t *)z, arn.n + 1), *save = NULL;
  const char *field = strtok_r(copy, ":", &save); /* no field before the region is empty */
  for (int i = 0; i < 3; i++) field = strtok_r(NULL, ":", &save);
  REQUIRE(field && slp_str_is(region, field));
  free(copy);
}

static void known_again(const char *z, const slp_stream_name *s) {
  char name[300];
  int table = s->what == SLP_NAMES_DYNAMODB;
  const char *label = s->name.p + s->name.n; /* behind the table's name, or the end */
  snprintf(name, sizeof name, "%s%.*s", table ? "dynamodb:" : "", (int)s->name.n, s->name.p);
  REQUIRE(slp_token_belongs(z, s->arn) == 1);
  if (table && !*label) return; /* tokens are of a table's stream */
  REQUIRE(slp_token_belongs(name, s->arn) == 1);
  name[strlen(name) - 1] ^= 1;
  REQUIRE(slp_token_belongs(name, s->arn) == 0);
  if (!table) return;
  char *of_table = fuzz_copy((const uint8_t *)z, strlen(z) + 1);
  of_table[label - z] = 0;
  REQUIRE(slp_token_belongs(of_table, s->arn) == 1);
  free(of_table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1000) return 0; /* no name is longer; libc's expressions take their time */
  slp_stream_name s;
  const char *why = NULL;
  char *z = malloc(size + 1);
  REQUIRE(z != NULL);
  memcpy(z, data, size);
  z[size] = 0;
  int r = slp_stream_name_read((slp_str){z, size}, &s, &why), want = judge(z, size);
  REQUIRE((r == 0) == (want != 0));
  if (r) REQUIRE(why && why[0]);
  if (!r) {
    REQUIRE((int)s.what == want && s.name.n > 0 && s.name.p >= z && s.name.p + s.name.n <= z + size);
    REQUIRE(s.arn.p == (strncmp(z, "arn:", 4) == 0 ? z : NULL));
    if (s.arn.p) region_of_arn(z, s.arn);
    if (s.arn.p) known_again(z, &s);
  }
  free(z);
  return 0;
}
