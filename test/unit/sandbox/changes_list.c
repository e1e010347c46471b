/* changes_list.c - ListStreams and DescribeStream: pages, filters, limits, and what misleads readers.
 */
#include "sandbox_changes.h"

TEST(streams_come_in_pages) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  CHECK_STR(call_changes(&t, "ListStreams", "{}"), "{\"Streams\":[]}");
  for (int i = 0; i < 5; i++) {
    char name[20];
    snprintf(name, sizeof name, "table-%d", i);
    CHECK_INT(slp_box_table(t.box, T0, name, 1, "KEYS_ONLY"), 0);
  }
  const char *all = call_changes(&t, "ListStreams", "{}");
  CHECK_INT(occurrences(all, "\"StreamArn\""), 5);
  CHECK_LACKS(all, "LastEvaluatedStreamArn");
  const char *page = call_changes(&t, "ListStreams", "{\"Limit\":2}");
  CHECK_INT(occurrences(page, "\"StreamArn\""), 2);
  char last[600];
  member(page, "LastEvaluatedStreamArn", last);
  CHECK_HAS(last, "table/table-1/stream/");
  page = call_changes(&t, "ListStreams", "{\"Limit\":3,\"ExclusiveStartStreamArn\":\"%s\"}", last);
  CHECK_HAS(page, "\"TableName\":\"table-2\"");
  CHECK_HAS(page, "\"TableName\":\"table-4\"");
  CHECK_LACKS(page, "LastEvaluatedStreamArn");
  page = call_changes(&t, "ListStreams", "{\"TableName\":\"table-3\"}");
  CHECK_INT(occurrences(page, "\"StreamArn\""), 1);
  CHECK_HAS(page, "\"StreamLabel\":\"2026-11-21T03:21:25.123\"");
  CHECK_STR(call_changes(&t, "ListStreams", "{\"TableName\":\"none\"}"), "{\"Streams\":[]}");
  last[0] = 'x';
  CHECK_HAS(call_changes(&t, "ListStreams",
                         "{\"ExclusiveStartStreamArn\":\"arn:aws:dynamodb:no:such:table/x/stream/y\"}"),
            "ResourceNotFoundException");
  CHECK_HAS(call_changes(&t, "ListStreams", "{\"Limit\":101}"), "ValidationException");
  bench_close(&t);
}

/* All shards by pages of that many. Returns the number of pages. */
static int list_all(bench *t, const slp_changes *s, int limit, slp_buf *ids) {
  char after[600] = "", rest[800], id[600];
  int pages = 0;
  for (;;) {
    snprintf(rest, sizeof rest, ",\"Limit\":%d%s%s%s", limit, after[0] ? ",\"ExclusiveStartShardId\":\"" : "",
             after, after[0] ? "\"" : "");
    const char *page = describe(t, s, rest);
    CHECK_INT(t->answer.status, 200);
    pages++;
    for (const char *at = page; (at = strstr(at, "\"ShardId\"")) != NULL; at++) {
      CHECK_INT(slp_buf_addf(ids, "%s\n", member(at, "ShardId", id)), 0);
    }
    if (!strstr(page, "LastEvaluatedShardId")) return pages;
    member(page, "LastEvaluatedShardId", after);
    CHECK(pages < 100);
  }
}

TEST(shards_come_in_pages) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 3);
  for (int i = 0; i < 3; i++) CHECK_INT(slp_box_roll(t.box, ++t.now_ms, "Tbl", 0), 0);
  slp_buf all, ids;
  slp_buf_init(&all, t.mem, 1 << 20);
  for (uint32_t i = 0; i < s->shards_n; i++) CHECK_INT(slp_buf_addf(&all, "%s\n", s->shards[i]->id), 0);
  static const struct {
    int limit, pages, empty_pages;
  } cases[] = {{1, 12, 0}, {3, 4, 0}, {5, 3, 0}, {12, 1, 0}, {100, 1, 0}, {5, 6, 1}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_buf_init(&ids, t.mem, 1 << 20);
    CHECK_INT(slp_box_quirk(t.box, "Tbl", "empty-lists", (uint32_t)cases[i].empty_pages), 0);
    CHECK_INT(list_all(&t, s, cases[i].limit, &ids), cases[i].pages);
    CHECK_STR(slp_buf_z(&ids), slp_buf_z(&all));
    slp_buf_free(&ids);
  }
  slp_buf_free(&all);
  CHECK_HAS(describe(&t, s, ",\"Limit\":0"), "ValidationException");
  CHECK_HAS(describe(&t, s, ",\"Limit\":101"), "ValidationException");
  CHECK_HAS(describe(&t, s, ",\"ExclusiveStartShardId\":\"short\""), "ValidationException");
  CHECK_HAS(call_changes(&t, "DescribeStream", "{}"), "ValidationException");
  bench_close(&t);
}

TEST(a_shard_has_its_parent_and_its_range) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  char expect[600], start[SLP_CHANGE_NUMBER_TEXT], end[SLP_CHANGE_NUMBER_TEXT];
  t.now_ms += 10;
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  slp_change_start_text(s->shards[0], start);
  slp_change_end_text(s->shards[0], end);
  snprintf(expect, sizeof expect,
           "{\"ShardId\":\"%s\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"%s\","
           "\"EndingSequenceNumber\":\"%s\"}}",
           s->shards[0]->id, start, end);
  CHECK_HAS(describe(&t, s, ""), expect);
  slp_change_start_text(s->shards[1], start);
  snprintf(expect, sizeof expect,
           "{\"ShardId\":\"%s\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"%s\"},"
           "\"ParentShardId\":\"%s\"}",
           s->shards[1]->id, start, s->shards[0]->id);
  CHECK_HAS(describe(&t, s, ""), expect);
  bench_close(&t);
}

TEST(children_of_one_shard) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 2);
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 1), 0);
  char rest[300];
  snprintf(rest, sizeof rest, ",\"ShardFilter\":{\"Type\":\"CHILD_SHARDS\",\"ShardId\":\"%s\"}",
           s->shards[1]->id);
  const char *d = describe(&t, s, rest);
  CHECK_INT(occurrences(d, "\"ShardId\""), 2);
  CHECK_HAS(d, s->shards[s->shards[1]->child[0]]->id);
  CHECK_HAS(d, s->shards[s->shards[1]->child[1]]->id);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "child-filter", 1), 0);
  CHECK_INT(occurrences(describe(&t, s, rest), "\"ShardId\""), 6);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "child-filter", 2), 0);
  CHECK_HAS(describe(&t, s, rest), "ValidationException");
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "child-filter", 0), 0);
  snprintf(rest, sizeof rest, ",\"ShardFilter\":{\"Type\":\"CHILD_SHARDS\",\"ShardId\":\"%s\"}",
           s->shards[2]->id);
  CHECK_HAS(describe(&t, s, rest), "\"Shards\":[]");
  CHECK_HAS(describe(&t, s, ",\"ShardFilter\":{\"Type\":\"CHILD_SHARDS\"}"), "ValidationException");
  CHECK_HAS(describe(&t, s, ",\"ShardFilter\":{\"Type\":\"OTHER\"}"), "ValidationException");
  bench_close(&t);
}

TEST(misleading_listings) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  t.now_ms += 10;
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  CHECK_HAS(describe(&t, s, ""), "EndingSequenceNumber");
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "open-parents", 1), 0);
  const char *d = describe(&t, s, "");
  CHECK_LACKS(d, "EndingSequenceNumber");
  CHECK_INT(occurrences(d, "\"ShardId\""), 2);
  CHECK_INT(slp_box_quirk(t.box, NULL, "open-parents", 0), 0);
  CHECK_INT(slp_box_quirk(t.box, NULL, "late-children", 100), 0);
  t.now_ms += 99;
  d = describe(&t, s, "");
  CHECK_INT(occurrences(d, "\"ShardId\""), 1);
  CHECK_HAS(d, "EndingSequenceNumber");
  t.now_ms += 1;
  CHECK_INT(occurrences(describe(&t, s, ""), "\"ShardId\""), 2);
  CHECK_INT(slp_box_table(t.box, t.now_ms, "later", 1, "KEYS_ONLY"), 0);
  CHECK_INT(slp_changes_latest(t.box, SLP_STR("later"))->quirks.late_children_ms, 100);
  bench_close(&t);
}

TEST(calls_a_second) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.describes_per_second = 10;
  o.lists_per_second = 5;
  slp_changes *s = open_table(&t, &o, 1);
  for (int i = 0; i < 10; i++) CHECK_HAS(describe(&t, s, ""), "StreamStatus");
  CHECK_HAS(describe(&t, s, ""), "com.amazon.coral.availability#ThrottlingException");
  for (int i = 0; i < 5; i++) CHECK_HAS(call_changes(&t, "ListStreams", "{}"), "StreamArn");
  CHECK_HAS(call_changes(&t, "ListStreams", "{}"), "ThrottlingException");
  t.now_ms += 1000;
  CHECK_HAS(describe(&t, s, ""), "StreamStatus");
  CHECK_HAS(call_changes(&t, "ListStreams", "{}"), "StreamArn");
  bench_close(&t);
}
