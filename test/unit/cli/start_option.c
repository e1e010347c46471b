/* start_option.c - positions as people write them. */
#include "cli/start_option.h"
#include "check.h"

#define NOW_MS INT64_C(1700000000000)

static slp_start start;
static const slp_clock utc = {NOW_MS, NULL};

static void parses(const char *text, sloop_position_kind_t kind) {
  char why[200] = "";
  if (slp_start_parse(text, &utc, &start, why) != 0) CHECK_FAIL("\"%s\": %s", text, why);
  CHECK_INT(start.kind, kind);
}
static void refused(const char *text, const char *part) {
  char why[200] = "";
  CHECK_INT(slp_start_parse(text, &utc, &start, why), SLP_EINVAL);
  if (!strstr(why, part)) CHECK_FAIL("\"%s\" lacks \"%s\"", why, part);
  CHECK(strlen(why) < 199);
}

TEST(words_and_times) {
  parses("oldest", SLOOP_OLDEST);
  parses("beginning", SLOOP_OLDEST);
  parses("earliest", SLOOP_OLDEST);
  parses("TRIM_HORIZON", SLOOP_OLDEST);
  parses("latest", SLOOP_LATEST);
  parses("end", SLOOP_LATEST);
  parses("s@10m", SLOOP_AT_TIME);
  CHECK_INT(start.at_ms, NOW_MS - 600000);
  CHECK(!start.is_end);
  parses("e@1700000000", SLOOP_AT_TIME);
  CHECK_INT(start.at_ms, NOW_MS);
  CHECK(start.is_end);
}

TEST(files) {
  parses("@place.json", SLOOP_AT_TOKEN);
  CHECK_STR(start.file, "place.json");
  parses("@a:b", SLOOP_AT_TOKEN);
  refused("@", "is not a position");
}

TEST(sequence_numbers) {
  parses("3:495", SLOOP_AT_SEQ);
  CHECK_STR(start.shard, "shardId-000000000003");
  CHECK_STR(start.seq, "495");
  CHECK_INT(start.sub, 0);
  parses("3:000000000000000000100", SLOOP_AT_SEQ); /* as DynamoDB Local writes them */
  CHECK_STR(start.seq, "000000000000000000100");
  parses("my_shard.1-x:0", SLOOP_AT_SEQ);
  CHECK_STR(start.shard, "my_shard.1-x");
  parses("123456789012:5", SLOOP_AT_SEQ);
  CHECK_STR(start.shard, "shardId-123456789012");
  parses("shardId-00000001414576573621-f55eea83:100000000003498069978.12", SLOOP_AT_SEQ);
  CHECK_STR(start.shard, "shardId-00000001414576573621-f55eea83");
  CHECK_STR(start.seq, "100000000003498069978");
  CHECK_INT(start.sub, 12);
}

TEST(a_sequence_number_alone) {
  slp_start s = {0};
  CHECK_INT(slp_start_parse_seq(SLP_STR("4951"), &s), 0);
  CHECK(s.kind == SLOOP_AT_SEQ && s.sub == 0 && !*s.shard);
  CHECK_STR(s.seq, "4951");
  CHECK_INT(slp_start_parse_seq(SLP_STR("4951.12"), &s), 0);
  CHECK_INT(s.sub, 12);
  static const char *const bad[] = {"", ".", "5.", ".5", "5.x", "x", "1:5", "5.1.2"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    CHECK_INT(slp_start_parse_seq(slp_str_of(bad[i]), &s), SLP_EINVAL);
  char digits[200];
  memset(digits, '9', sizeof digits);
  CHECK_INT(slp_start_parse_seq((slp_str){digits, sizeof digits}, &s), SLP_EINVAL);
}

TEST(what_is_wrong_is_said) {
  refused("newest", "is not a position");
  refused("10m", "\"10m\" is a time, so say s@10m to begin there");
  refused("2026-01-31T12:00:00Z", "is a time, so say s@2026-01-31T12:00:00Z");
  refused("1234", "is not a position");
  refused("", "is not a position");
  refused("s@", "is not a time");
  refused("s@yesterday", "is not a time; use s@");
  refused("e@yesterday", "is not a time; use e@");
  refused(":5", "not a shard id");
  refused("a b:5", "not a shard id");
  refused("3:", "not a sequence number");
  refused("3:5e0", "not a sequence number");
  refused("3:5:5", "not a sequence number");
  refused("3:.5", "not a sequence number");
  refused("3:5.", "not a sub-sequence number");
  refused("3:5.x", "not a sub-sequence number");
  refused("3:5.5.5", "not a sub-sequence number");
}
