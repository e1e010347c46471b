/* changes_streams.c - a stream is enabling, enabled, disabling, disabled, and a day later gone. */
#include "sandbox_changes.h"

static slp_changes *new_stream(bench *t, const char *table) {
  slp_changes *s;
  CHECK_INT(
      slp_changes_new(t->box, t->now_ms, slp_str_of(table), SLP_STR("h"), SLP_STR("r"), SLP_VIEW_NEW, &s), 0);
  return s;
}

TEST(a_life) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.change_ms = 50;
  bench_open(&t, &o);
  slp_changes *s = new_stream(&t, "T");
  const char *d = describe(&t, s, "");
  CHECK_HAS(d, "\"StreamStatus\":\"ENABLING\"");
  CHECK_HAS(d, "\"Shards\":[]");
  t.now_ms += 50;
  d = describe(&t, s, "");
  CHECK_HAS(d, "\"StreamStatus\":\"ENABLED\"");
  CHECK_INT(occurrences(d, "\"ShardId\""), 4);
  CHECK_LACKS(d, "EndingSequenceNumber");
  slp_changes_stop(s, t.now_ms, 50);
  CHECK_HAS(describe(&t, s, ""), "\"StreamStatus\":\"DISABLING\"");
  slp_changes_stop(s, t.now_ms + 49, 50); /* once is enough */
  t.now_ms += 50;
  d = describe(&t, s, "");
  CHECK_HAS(d, "\"StreamStatus\":\"DISABLED\"");
  CHECK_INT(occurrences(d, "EndingSequenceNumber"), 4);
  t.now_ms += 24 * SLP_BOX_HOUR_MS - 1;
  CHECK_HAS(describe(&t, s, ""), "\"StreamStatus\":\"DISABLED\"");
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, "us-east-1", arn);
  t.now_ms += 1;
  CHECK_HAS(call_changes(&t, "DescribeStream", "{\"StreamArn\":\"%s\"}", arn), "ResourceNotFoundException");
  CHECK(slp_list_empty(&t.box->changes_all->streams)); /* no table held it */
  bench_close(&t);
}

TEST(stopped_before_it_was_enabled) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.change_ms = 50;
  bench_open(&t, &o);
  slp_changes *s = new_stream(&t, "T");
  slp_changes_stop(s, t.now_ms, 0);
  const char *d = describe(&t, s, "");
  CHECK_HAS(d, "\"StreamStatus\":\"DISABLED\"");
  CHECK_HAS(d, "\"Shards\":[]");
  bench_close(&t);
}

TEST(labels_are_times_and_never_twice) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  slp_changes *a = new_stream(&t, "T"), *b = new_stream(&t, "T"), *other = new_stream(&t, "U");
  CHECK_STR(a->label, "2026-11-21T03:21:25.123");
  CHECK_STR(b->label, "2026-11-21T03:21:25.124");
  CHECK_STR(other->label, a->label);
  CHECK(slp_changes_latest(t.box, SLP_STR("T")) == b);
  CHECK(slp_changes_latest(t.box, SLP_STR("none")) == NULL);
  CHECK(slp_changes_find_uid(t.box, a->uid) == a);
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(b, "eu-north-1", arn);
  CHECK_STR(arn, "arn:aws:dynamodb:eu-north-1:000000000000:table/T/stream/2026-11-21T03:21:25.124");
  CHECK(slp_changes_find_arn(t.box, slp_str_of(arn)) == b);
  static const char *const bad[] = {
      "", "arn:aws:dynamodb:eu-north-1:000000000000:table/T",
      "arn:aws:dynamodb:eu-north-1:000000000000:table/T/stream/",
      "arn:aws:dynamodb:eu-north-1:000000000000:table/X/stream/2026-11-21T03:21:25.124",
      "arn:aws:kinesis:eu-north-1:000000000000:stream/T"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK(slp_changes_find_arn(t.box, slp_str_of(bad[i])) == NULL);
  bench_close(&t);
}

TEST(listed_by_table_then_age) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  static const char *const tables[] = {"b", "a", "ab", "a", "B"};
  static const char *const order[] = {"B", "a", "a", "ab", "b"};
  for (size_t i = 0; i < SLP_COUNT(tables); i++) {
    t.now_ms += 5;
    new_stream(&t, tables[i]);
  }
  size_t n = 0;
  SLP_LIST_EACH(&t.box->changes_all->streams, it) {
    CHECK_STR(SLP_OWNER(it, slp_changes, link)->table, order[n++]);
  }
  CHECK_INT(n, SLP_COUNT(order));
  bench_close(&t);
}

TEST(views_have_names) {
  static const char *const names[] = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"};
  slp_change_view view;
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    CHECK_INT(slp_changes_view_of(slp_str_of(names[i]), &view), 0);
    CHECK_STR(slp_changes_view_name(view), names[i]);
  }
  CHECK_INT(slp_changes_view_of(SLP_STR("keys_only"), &view), SLP_EINVAL);
}
