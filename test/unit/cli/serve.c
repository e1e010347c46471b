/* serve.c - the records of --feed: JSON, many keys, and as many as are due. */
#include "cli/serve.h"
#include "check.h"
#include "codec/fields.h"

TEST(records_are_json_of_many_users) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  char key[SLP_FEED_KEY], first[SLP_FEED_KEY] = "", seen[200] = "";
  size_t keys = 0;
  slp_buf_init(&b, mem, 1 << 12);
  for (uint64_t i = 0; i < 3000; i++) {
    const char *why;
    slp_field fields[] = {{"order", {NULL, 0}}, {"user", {NULL, 0}}, {"price", {NULL, 0}}, {"at", {NULL, 0}}};
    slp_buf_clear(&b);
    CHECK_INT(slp_feed_record(i, INT64_C(1700000000000), &b, key), 0);
    CHECK_INT(slp_fields_read(b.p, b.n, NULL, fields, SLP_COUNT(fields), &why), 0);
    CHECK(slp_str_is(fields[1].text, key) && slp_str_is(fields[3].text, "2023-11-14T22:13:20.000Z"));
    CHECK(fields[0].text.n && fields[2].text.n);
    size_t user = 0;
    for (const char *c = key + strlen("user-"); *c; c++) user = user * 10 + (size_t)(*c - '0');
    CHECK(user < sizeof seen);
    keys += !seen[user];
    seen[user] = 1;
    if (!i) snprintf(first, sizeof first, "%s", key);
  }
  CHECK_INT(keys, sizeof seen);
  CHECK_INT(slp_feed_record(0, 1, &b, key), 0);
  CHECK_STR(key, first);
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(what_is_due) {
  CHECK_INT(slp_feed_due(0, 100), 0);
  CHECK_INT(slp_feed_due(9999, 100), 0);
  CHECK_INT(slp_feed_due(10000, 100), 1);
  CHECK_INT(slp_feed_due(2500000, 3), 7);
  CHECK(slp_feed_due(UINT64_C(86400000000) * 365, 10000) == UINT64_C(315360000000));
}
