/* stream_life.c - streams, lineage, changes that take time, listings with filters, pages and tokens. */
#include "sandbox_box.h"

TEST(a_stream_comes_after_its_time) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  o.change_ms = 50;
  bench_open(&t, &o);
  CHECK_STR(call(&t, "CreateStream", "{\"StreamName\":\"s\",\"ShardCount\":2}"), "");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"s\"}"), "\"StreamStatus\":\"CREATING\"");
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "ResourceInUseException");
  CHECK_INT(t.answer.status, 400);
  CHECK_HAS(call(&t, "CreateStream", "{\"StreamName\":\"s\",\"ShardCount\":2}"), "ResourceInUseException");
  t.now_ms += 49;
  CHECK_HAS(call(&t, "DescribeStream", "{\"StreamName\":\"s\"}"), "CREATING");
  t.now_ms += 1;
  const char *d = call(&t, "DescribeStream", "{\"StreamName\":\"s\"}");
  CHECK_HAS(d, "ACTIVE");
  CHECK_INT(occurrences(d, "\"ShardId\""), 2);
  CHECK_HAS(d, "\"EndingHashKey\":\"170141183460469231731687303715884105727\"");
  CHECK_STR(call(&t, "DeleteStream", "{\"StreamName\":\"s\"}"), "");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"s\"}"), "DELETING");
  t.now_ms += 50;
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"s\"}"), "ResourceNotFoundException");
  bench_close(&t);
}

TEST(three_shards_tile_the_ring) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "s", 3), 0);
  slp_stream *s = slp_box_find(t.box, SLP_STR("s"));
  CHECK(slp_u128_eq(s->shards[0]->hash_start, SLP_U128(0)) &&
        slp_u128_eq(s->shards[2]->hash_end, SLP_U128_MAX));
  for (int i = 0; i < 2; i++)
    CHECK(slp_u128_eq(slp_u128_add(s->shards[i]->hash_end, SLP_U128(1)), s->shards[i + 1]->hash_start));
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "s", 3), -EEXIST);
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "no spaces", 3), SLP_EINVAL);
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "one", 1), 0);
  s = slp_box_find(t.box, SLP_STR("one"));
  CHECK(slp_u128_eq(s->shards[0]->hash_start, SLP_U128(0)) &&
        slp_u128_eq(s->shards[0]->hash_end, SLP_U128_MAX));
  bench_close(&t);
}

static void check_tiling(slp_stream *s, uint32_t open) {
  slp_u128 at = {0, 0};
  uint32_t n = 0;
  for (;;) {
    slp_box_shard *found = NULL;
    for (uint32_t i = 0; i < s->shards_n; i++) {
      slp_box_shard *sh = s->shards[i];
      if (!slp_box_shard_open(sh) || !slp_u128_eq(sh->hash_start, at)) continue;
      CHECK(found == NULL);
      found = sh;
    }
    CHECK(found != NULL);
    n++;
    if (slp_u128_eq(found->hash_end, SLP_U128_MAX)) break;
    at = slp_u128_add(found->hash_end, SLP_U128(1));
  }
  CHECK_INT(n, open);
  CHECK_INT(slp_box_open_shards(s), open);
}

TEST(updates_of_the_count_leave_equal_parts) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  static const int counts[] = {4, 8, 5, 3, 2, 1, 2, 3, 6, 7};
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "s", 2), 0);
  slp_stream *s = slp_box_find(t.box, SLP_STR("s"));
  for (size_t i = 0; i < SLP_COUNT(counts); i++) {
    t.now_ms += 1000;
    const char *u =
        call(&t, "UpdateShardCount",
             "{\"StreamName\":\"s\",\"TargetShardCount\":%d,\"ScalingType\":\"UNIFORM_SCALING\"}", counts[i]);
    if (t.answer.status != 200) CHECK_FAIL("%d: %s", counts[i], u);
    check_tiling(s, (uint32_t)counts[i]);
  }
  for (uint32_t i = 0; i < s->shards_n;
       i++) { /* every closed shard has heirs; numbers rise along the lineage */
    slp_box_shard *sh = s->shards[i];
    CHECK_INT(slp_box_shard_open(sh), sh->child_n == 0);
    if (sh->parent >= 0) CHECK(sh->create_s > s->shards[sh->parent]->create_s);
    if (sh->adjacent_parent >= 0) CHECK(sh->create_s > s->shards[sh->adjacent_parent]->create_s);
  }
  CHECK_HAS(call(&t, "UpdateShardCount",
                 "{\"StreamName\":\"s\",\"TargetShardCount\":15,\"ScalingType\":"
                 "\"UNIFORM_SCALING\"}"),
            "LimitExceededException");
  CHECK_HAS(call(&t, "UpdateShardCount",
                 "{\"StreamName\":\"s\",\"TargetShardCount\":3,\"ScalingType\":"
                 "\"UNIFORM_SCALING\"}"),
            "LimitExceededException");
  bench_close(&t);
}

TEST(split_and_merge_by_the_services_rules) {
  bench t;
  char start[600], end[600];
  sloop_sandbox_opts_t o = free_opts();
  o.change_ms = 100;
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "s", 2), 0);
  const char *split =
      "{\"StreamName\":\"s\",\"ShardToSplit\":\"shardId-000000000000\",\"NewStartingHashKey\":\"%s\"}";
  CHECK_HAS(call(&t, "SplitShard", split, "0"), "InvalidArgumentException");
  CHECK_HAS(call(&t, "SplitShard", split, "170141183460469231731687303715884105728"),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "SplitShard", split, "abc"), "ValidationException");
  CHECK_STR(call(&t, "SplitShard", split, "1"), "");
  CHECK_HAS(call(&t, "SplitShard", split, "5"), "not ACTIVE, instead in state UPDATING");
  CHECK_HAS(call(&t, "SplitShard", split, "5"), "ResourceInUseException");
  CHECK_INT(slp_box_split(t.box, t.now_ms, "s", "shardId-000000000001", NULL), -EBUSY);
  CHECK_INT(occurrences(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "\"ShardId\""), 2);
  t.now_ms += 100;
  const char *l = call(&t, "ListShards", "{\"StreamName\":\"s\"}");
  CHECK_INT(occurrences(l, "\"ShardId\""), 4);
  CHECK_INT(occurrences(l, "\"ParentShardId\":\"shardId-000000000000\""), 2);
  CHECK_INT(occurrences(l, "EndingSequenceNumber"), 1);
  CHECK_HAS(l, "\"StartingHashKey\":\"0\",\"EndingHashKey\":\"0\"");
  member(l, "EndingSequenceNumber", end);
  l = strstr(l, "shardId-000000000002");
  member(l, "StartingSequenceNumber", start);
  CHECK_INT(strlen(start), 56);
  CHECK(strcmp(start, end) > 0); /* children's numbers are above their parent's last */
  CHECK_HAS(call(&t, "SplitShard", split, "1"), "already been merged or split");
  CHECK_HAS(call(&t, "SplitShard",
                 "{\"StreamName\":\"s\",\"ShardToSplit\":\"shardId-000000000002\","
                 "\"NewStartingHashKey\":\"0\"}"),
            "InvalidArgumentException"); /* one hash only */
  CHECK_HAS(call(&t, "SplitShard",
                 "{\"StreamName\":\"s\",\"ShardToSplit\":\"shardId-000000000009\","
                 "\"NewStartingHashKey\":\"7\"}"),
            "ResourceNotFoundException");
  const char *merge =
      "{\"StreamName\":\"s\",\"ShardToMerge\":\"shardId-%012d\",\"AdjacentShardToMerge\":\"shardId-%012d\"}";
  CHECK_HAS(call(&t, "MergeShards", merge, 2, 1), "not an adjacent pair");
  CHECK_HAS(call(&t, "MergeShards", merge, 2, 2), "not an adjacent pair");
  CHECK_STR(call(&t, "MergeShards", merge, 1, 3), "");
  t.now_ms += 100;
  l = strstr(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "\"ShardId\":\"shardId-000000000004\"");
  CHECK(l != NULL);
  CHECK_HAS(l,
            "\"ParentShardId\":\"shardId-000000000001\",\"AdjacentParentShardId\":\"shardId-000000000003\"");
  bench_close(&t);
}

static int listed(bench *t, const char *rest) {
  const char *l = call(t, "ListShards", "{\"StreamName\":\"s\"%s}", rest);
  if (t->answer.status != 200) CHECK_FAIL("%s: %s", rest, l);
  return occurrences(l, "{\"ShardId\"");
}

static int listed_at(bench *t, const char *type, int64_t ms) {
  char rest[160];
  snprintf(rest, sizeof rest, ",\"ShardFilter\":{\"Type\":\"%s\",\"Timestamp\":%lld.%03d}", type,
           (long long)(ms / 1000), (int)(ms % 1000));
  return listed(t, rest);
}

TEST(listing_filters) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 2), 0);
  CHECK_INT(slp_box_split(t.box, T0 + 10000, "s", "shardId-000000000000", NULL), 0);
  CHECK_INT(slp_box_merge(t.box, T0 + 20000, "s", "shardId-000000000003", "shardId-000000000001"), 0);
  t.now_ms = T0 + 30000; /* shards 0 and 1, 3 closed; 2 and 4 open */
  CHECK_INT(listed(&t, ""), 5);
  CHECK_INT(listed(&t, ",\"ShardFilter\":{\"Type\":\"FROM_TRIM_HORIZON\"}"), 5);
  CHECK_INT(listed(&t, ",\"ShardFilter\":{\"Type\":\"AT_TRIM_HORIZON\"}"), 2);
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\",\"ShardFilter\":{\"Type\":\"AT_TRIM_HORIZON\"}}"),
            "\"ShardId\":\"shardId-000000000000\"");
  CHECK_INT(listed(&t, ",\"ShardFilter\":{\"Type\":\"AT_LATEST\"}"), 2);
  CHECK_INT(listed(&t, ",\"ShardFilter\":{\"Type\":\"AFTER_SHARD_ID\",\"ShardId\":\"shardId-000000000001\"}"),
            3);
  CHECK_INT(listed(&t, ",\"ExclusiveStartShardId\":\"shardId-000000000002\""), 2);
  CHECK_INT(listed_at(&t, "AT_TIMESTAMP", T0 + 5000), 2);    /* 0 1 */
  CHECK_INT(listed_at(&t, "AT_TIMESTAMP", T0 + 10000), 4);   /* 0 1 2 3: both sides of the moment */
  CHECK_INT(listed_at(&t, "AT_TIMESTAMP", T0 + 15000), 3);   /* 1 2 3 */
  CHECK_INT(listed_at(&t, "AT_TIMESTAMP", T0 + 25000), 2);   /* 2 4 */
  CHECK_INT(listed_at(&t, "AT_TIMESTAMP", T0 - 99999), 2);   /* as at the horizon */
  CHECK_INT(listed_at(&t, "FROM_TIMESTAMP", T0 + 15000), 4); /* all but 0 */
  CHECK_INT(listed_at(&t, "FROM_TIMESTAMP", T0 + 25000), 2);
  const char *bad[] = {",\"ShardFilter\":{\"Type\":\"AFTER_SHARD_ID\"}",
                       ",\"ShardFilter\":{\"Type\":\"AT_TIMESTAMP\"}",
                       ",\"ShardFilter\":{\"Type\":\"AT_LATEST\",\"Timestamp\":1}",
                       ",\"ShardFilter\":{\"Type\":\"AT_TIMESTAMP\",\"Timestamp\":9795231285}"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\"%s}", bad[i]), "InvalidArgumentException");
  }
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\",\"ShardFilter\":{\"Type\":\"NONE\"}}"),
            "Value 'NONE' at 'shardFilter.type' failed to satisfy constraint: Member must satisfy enum value "
            "set: [");
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\",\"ShardFilter\":{}}"),
            "Value null at 'shardFilter.type' failed to satisfy constraint: Member must not be null");
  bench_close(&t);
}

TEST(pages_and_tokens) {
  bench t;
  char token[600];
  sloop_sandbox_opts_t o = free_opts();
  o.list_page_max = 4;
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 9), 0);
  CHECK_INT(slp_box_split(t.box, T0 + 1000, "s", "shardId-000000000003", NULL), 0);
  t.now_ms += 2000;
  const char *l = call(&t, "ListShards", "{\"StreamName\":\"s\",\"ShardFilter\":{\"Type\":\"AT_LATEST\"}}");
  int seen = occurrences(l, "{\"ShardId\"");
  CHECK_INT(seen, 4);
  CHECK_LACKS(l, "shardId-000000000003"); /* closed: filtered */
  for (int page = 2; page <= 3; page++) {
    member(l, "NextToken", token);
    CHECK_HAS(call(&t, "ListShards", "{\"NextToken\":\"%s\",\"StreamName\":\"s\"}", token),
              "cannot be provided together");
    l = call(&t, "ListShards", "{\"NextToken\":\"%s\"}", token);
    seen += occurrences(l, "{\"ShardId\"");
    CHECK_INT(occurrences(l, "EndingSequenceNumber"), 0); /* the filter holds on every page */
  }
  CHECK_INT(seen, 10);
  CHECK_LACKS(l, "NextToken");
  l = call(&t, "ListShards", "{\"NextToken\":\"%s\",\"MaxResults\":1}", token);
  CHECK_INT(occurrences(l, "{\"ShardId\""), 1);
  t.now_ms += 300000;
  CHECK_INT(occurrences(call(&t, "ListShards", "{\"NextToken\":\"%s\"}", token), "{\"ShardId\""), 2);
  t.now_ms += 1;
  CHECK_HAS(call(&t, "ListShards", "{\"NextToken\":\"%s\"}", token), "ExpiredNextTokenException");
  token[100] ^= 1;
  CHECK_HAS(call(&t, "ListShards", "{\"NextToken\":\"%s\"}", token), "InvalidArgumentException");
  CHECK_HAS(call(&t, "ListShards", "{\"NextToken\":\"x\"}"), "InvalidArgumentException");
  l = call(&t, "DescribeStream",
           "{\"StreamName\":\"s\",\"Limit\":3,\"ExclusiveStartShardId\":\"shardId-000000000007\"}");
  CHECK_INT(occurrences(l, "{\"ShardId\""), 3);
  CHECK_HAS(l, "\"HasMoreShards\":false");
  CHECK_HAS(call(&t, "DescribeStream", "{\"StreamName\":\"s\",\"Limit\":3}"), "\"HasMoreShards\":true");
  bench_close(&t);
}

TEST(names_arns_and_validation) {
  bench t;
  char long_name[140];
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "b", 1), 0);
  CHECK_INT(slp_box_stream(t.box, T0, "a", 1), 0);
  CHECK_INT(slp_box_stream(t.box, T0, "c", 1), 0);
  const char *l = call(&t, "ListStreams", "{\"Limit\":2}");
  CHECK_HAS(l, "\"StreamNames\":[\"a\",\"b\"]");
  CHECK_HAS(l, "\"HasMoreStreams\":true");
  CHECK_HAS(call(&t, "ListStreams", "{\"ExclusiveStartStreamName\":\"b\"}"), "\"StreamNames\":[\"c\"]");
  CHECK_HAS(call(&t, "ListStreams", "{\"NextToken\":\"b\"}"), "\"HasMoreStreams\":false");
  l = call(&t, "DescribeStreamSummary",
           "{\"StreamARN\":\"arn:aws:kinesis:eu-west-1:000000000000:stream/b\"}");
  CHECK_HAS(l, "\"StreamName\":\"b\"");
  CHECK_HAS(l, "arn:aws:kinesis:us-east-1:000000000000:stream/b");
  CHECK_HAS(call(&t, "DescribeStreamSummary",
                 "{\"StreamName\":\"a\",\"StreamARN\":\"arn:aws:kinesis:eu-west-1:000000000000:stream/b\"}"),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{}"), "InvalidArgumentException");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"zz\"}"),
            "{\"__type\":\"ResourceNotFoundException\",\"message\":\"Stream zz under account 000000000000 "
            "not found.\"}");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"no good\"}"),
            "1 validation error detected: Value 'no good' at 'streamName' failed to satisfy constraint: "
            "Member must "
            "satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  memset(long_name, 'n', 129);
  long_name[129] = 0;
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"%s\"}", long_name),
            "length less than or equal to 128");
  CHECK_HAS(call(&t, "CreateStream", "{\"ShardCount\":0}"), "2 validation errors detected");
  CHECK_HAS(call(&t, "CreateStream", "{\"StreamName\":7}"), "SerializationException");
  CHECK_HAS(call(&t, "CreateStream", "{\"StreamName\":"), "SerializationException");
  CHECK_HAS(call(&t, "CreateStream", "[]"), "SerializationException");
  CHECK_HAS(ask(&t, "CreateStream", JSON_TYPE, (slp_str){"", 0}), "SerializationException");
  CHECK_HAS(call(&t, "Fly", "{}"), "UnknownOperationException");
  CHECK_INT(t.answer.status, 400);
  CHECK_INT(strlen(t.answer.request_id), 36);
  CHECK_HAS(ask(&t, "ListStreams", "text/html", SLP_STR("{}")), "UnknownOperationException");
  CHECK_INT(t.answer.status, 404);
  bench_close(&t);
}

TEST(retention_by_its_rules) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 1), 0);
  const char *body = "{\"StreamName\":\"s\",\"RetentionPeriodHours\":%d}";
  CHECK_STR(call(&t, "IncreaseStreamRetentionPeriod", body, 48), "");
  CHECK_HAS(call(&t, "IncreaseStreamRetentionPeriod", body, 24), "InvalidArgumentException");
  CHECK_HAS(call(&t, "IncreaseStreamRetentionPeriod", body, 8761), "InvalidArgumentException");
  CHECK_HAS(call(&t, "DecreaseStreamRetentionPeriod", body, 23), "InvalidArgumentException");
  CHECK_HAS(call(&t, "DecreaseStreamRetentionPeriod", body, 72), "InvalidArgumentException");
  CHECK_STR(call(&t, "DecreaseStreamRetentionPeriod", body, 24), "");
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"s\"}"), "\"RetentionPeriodHours\":24");
  bench_close(&t);
}
