/* produce_line.c - the key and the payload of a line, and what is refused. */
#include "cli/produce_line.h"
#include "check.h"

static slp_mem *mem;
static slp_buf scratch;
static slp_put_line l;

static slp_put_refusal read_with(const slp_put_rules *rules, const char *line) {
  if (!mem) {
    mem = slp_mem_new(NULL, NULL);
    slp_buf_init(&scratch, mem, UINT32_MAX);
  }
  return slp_put_line_read(rules, slp_str_of(line), &scratch, &l);
}
static void is(const char *key, const char *data) {
  CHECK_INT(l.key.n, strlen(key));
  CHECK(memcmp(l.key.p, key, l.key.n) == 0);
  CHECK_INT(l.data.n, strlen(data));
  CHECK(memcmp(l.data.p, data, l.data.n) == 0);
}

TEST(plain_lines) {
  slp_put_rules rules = {.json = 0};
  CHECK_INT(read_with(&rules, "a:b"), SLP_PUT_FINE);
  CHECK(!l.key.p && l.data.n == 3);
  rules.key_delimiter = SLP_STR("::");
  CHECK_INT(read_with(&rules, "k:1::v::w"), SLP_PUT_FINE);
  is("k:1", "v::w");
  CHECK_INT(read_with(&rules, "k::"), SLP_PUT_FINE);
  is("k", "");
  CHECK_INT(read_with(&rules, "none:"), SLP_PUT_FINE);
  CHECK(!l.key.p);
  CHECK_INT(read_with(&rules, "::v"), SLP_PUT_KEY_EMPTY);
  CHECK_INT(read_with(&rules, "\xff::v"), SLP_PUT_KEY_BYTES);
  rules.key = SLP_STR("all");
  CHECK_INT(read_with(&rules, "none"), SLP_PUT_FINE);
  is("all", "none");
  CHECK_INT(read_with(&rules, "k::v"), SLP_PUT_FINE);
  is("k", "v");
}

TEST(a_key_has_256_characters_and_not_bytes) {
  slp_put_rules rules = {.key_delimiter = SLP_STR(":")};
  char line[2 * 257 + 3] = "";
  for (int i = 0; i < 256; i++) strcat(line, "\xc3\xbc");
  strcat(line, ":v");
  CHECK_INT(read_with(&rules, line), SLP_PUT_FINE);
  memmove(line + 1, line, strlen(line) + 1 - 0);
  line[0] = 'x';
  CHECK_INT(read_with(&rules, line), SLP_PUT_KEY_LONG);
}

TEST(key_and_payload_together_have_10_mib) {
  slp_put_rules rules = {.key = SLP_STR("key")};
  char *line = malloc(SLP_PUT_RECORD_BYTES);
  memset(line, 'x', SLP_PUT_RECORD_BYTES);
  line[SLP_PUT_RECORD_BYTES - 3] = 0;
  CHECK_INT(read_with(&rules, line), SLP_PUT_FINE);
  line[SLP_PUT_RECORD_BYTES - 3] = 'x';
  line[SLP_PUT_RECORD_BYTES - 2] = 0;
  CHECK_INT(read_with(&rules, line), SLP_PUT_TOO_LARGE);
  free(line);
}

TEST(a_key_from_a_member) {
  slp_put_rules rules = {.json = 0};
  CHECK_INT(slp_put_path_read(".user.id", &rules), 0);
  CHECK_INT(rules.path_n, 2);
  static const char *const fine[] = {
      "{\"user\":{\"id\":\"7\"}}",
      "{\"x\":{\"id\":1},\"user\":{\"y\":[{\"id\":2}],\"id\":\"7\",\"z\":{\"id\":3}},\"id\":4}",
      "{\"user\":{\"id\":1},\"user\":{\"id\":\"7\"}}",
      " { \"user\" : { \"id\" : \"\\u0037\" } } ",
      "{\"user\":{\"id\":{\"a\":[1]},\"id\":\"7\"}}",
  };
  for (size_t i = 0; i < SLP_COUNT(fine); i++) {
    CHECK_INT(read_with(&rules, fine[i]), SLP_PUT_FINE);
    is("7", fine[i]);
  }
  CHECK_INT(read_with(&rules, "{\"user\":{\"id\":-1.50e3}}"), SLP_PUT_FINE);
  is("-1.50e3", "{\"user\":{\"id\":-1.50e3}}");
  static const char *const none[] = {"{}",
                                     "{\"user\":1}",
                                     "{\"user\":{\"id\":null}}",
                                     "{\"user\":{\"id\":true}}",
                                     "{\"user\":[{\"id\":1}]}",
                                     "{\"id\":1}",
                                     "{\"user\":{\"id\":{\"id\":1}}}",
                                     "{\"user\":{\"id\":1},\"user\":2}"};
  for (size_t i = 0; i < SLP_COUNT(none); i++) CHECK_INT(read_with(&rules, none[i]), SLP_PUT_NO_MEMBER);
  static const char *const bad[] = {"",         "[]", "7", "{\"user\":{\"id\":1}", "{\"user\":{\"id\":1}} x",
                                    "{\"user\""};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK_INT(read_with(&rules, bad[i]), SLP_PUT_NOT_JSON);
  CHECK_INT(read_with(&rules, "{\"user\":{\"id\":\"\"}}"), SLP_PUT_KEY_EMPTY);
  CHECK_INT(slp_put_path_read(".", &rules), SLP_EINVAL);
  CHECK_INT(slp_put_path_read("user", &rules), SLP_EINVAL);
  CHECK_INT(slp_put_path_read(".user..id", &rules), SLP_EINVAL);
  CHECK_INT(slp_put_path_read("", &rules), SLP_EINVAL);
}

TEST(lines_of_json_are_put_back) {
  slp_put_rules rules = {.json = 1};
  CHECK_INT(
      read_with(&rules,
                "{\"stream\":\"s\",\"ts\":1700000000123,\"sub\":0,\"key\":\"k\",\"payload\":\"a\\nb\"}"),
      SLP_PUT_FINE);
  is("k", "a\nb");
  CHECK_INT(l.ts_ms, INT64_C(1700000000123));
  CHECK_INT(l.hash_key.n, 0);
  CHECK_INT(read_with(&rules, "{\"key\":null,\"payload_b64\":\"/w==\",\"explicit_hash_key\":\"0\"}"),
            SLP_PUT_FINE);
  CHECK(!l.key.p && l.data.n == 1 && l.data.p[0] == '\xff' && l.hash_key.n == 1);
  CHECK_INT(l.ts_ms, -1);
  CHECK_INT(read_with(&rules, "{\"key\":\"k\",\"payload\":null}"), SLP_PUT_FINE);
  is("k", "");
  CHECK_INT(read_with(&rules, "{\"key\":\"k\"}"), SLP_PUT_NO_PAYLOAD);
  CHECK_INT(read_with(&rules, "{\"key\":\"k\",\"change\":{\"a\":1}}"), SLP_PUT_NO_PAYLOAD);
  CHECK_INT(read_with(&rules, "{\"key\":\"k\",\"payload\":{\"a\":1}}"), SLP_PUT_NOT_AS_READ);
  CHECK_INT(read_with(&rules, "{\"key\":7,\"payload\":\"x\"}"), SLP_PUT_NOT_JSON);
  CHECK_INT(read_with(&rules, "{\"key\":\"k\",\"payload_b64\":\"*\"}"), SLP_PUT_BAD_BASE64);
  CHECK_INT(read_with(&rules, "{\"key_b64\":\"/w==\",\"payload\":\"x\"}"), SLP_PUT_KEY_BYTES);
  CHECK_INT(read_with(&rules, "{\"key\":\"\",\"payload\":\"x\"}"), SLP_PUT_KEY_EMPTY);
  CHECK_INT(read_with(&rules, "{\"key\":\"k\",\"payload\":\"x\",\"explicit_hash_key\":\"01\"}"),
            SLP_PUT_BAD_HASH_KEY);
  CHECK_INT(read_with(&rules,
                      "{\"key\":\"k\",\"payload\":\"x\",\"explicit_hash_key\":"
                      "\"340282366920938463463374607431768211456\"}"),
            SLP_PUT_BAD_HASH_KEY);
  CHECK_INT(read_with(&rules, "not json"), SLP_PUT_NOT_JSON);
  CHECK_INT(read_with(&rules, "{\"payload\":\"x\"}{}"), SLP_PUT_NOT_JSON);
}

TEST(every_refusal_has_a_text) {
  for (int i = 0; i < SLP_PUT_REFUSALS; i++) CHECK(slp_put_refusal_text((slp_put_refusal)i));
}
