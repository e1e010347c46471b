/* records.c - putting and reading: iterators of all kinds, pages, limits, retention, ends of shards.
 */
#include "sandbox_box.h"

#include "codec/base64.h"

static void one_shard(bench *t, const sloop_sandbox_opts_t *o) {
  bench_open(t, o);
  CHECK_INT(slp_box_stream(t->box, t->now_ms, "s", 1), 0);
}

TEST(what_is_put_comes_back) {
  bench t;
  char it[600], next[600], seq[600], first[600], text[800];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  const char *p =
      call(&t, "PutRecord", "{\"StreamName\":\"s\",\"PartitionKey\":\"k\\u00e9y\",\"Data\":\"aGVsbG8=\"}");
  CHECK_HAS(p, "\"ShardId\":\"shardId-000000000000\"");
  member(p, "SequenceNumber", first);
  t.now_ms += 5;
  put(&t, "s", "k2", "");
  iterator(&t, "s", 0, OLDEST, it);
  t.now_ms += 1000;
  const char *page = get(&t, it);
  CHECK_INT(occurrences(page, "\"PartitionKey\""), 2);
  CHECK_HAS(page, "\"Data\":\"aGVsbG8=\",\"PartitionKey\":\"k\xc3\xa9y\"");
  CHECK_HAS(page, "\"Data\":\"\",\"PartitionKey\":\"k2\"");
  CHECK_HAS(page, "\"ApproximateArrivalTimestamp\":1.795231285123E9");
  CHECK_HAS(page, "\"MillisBehindLatest\":0}");
  CHECK_STR(member(page, "SequenceNumber", seq), first);
  CHECK_LACKS(page, "ChildShards");
  member(page, "NextShardIterator", next);
  CHECK_HAS(get(&t, next), "{\"Records\":[],");
  snprintf(text, sizeof text,
           "\"ShardIteratorType\":\"AFTER_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"", first);
  CHECK_INT(occurrences(get(&t, iterator(&t, "s", 0, text, it)), "PartitionKey"), 1);
  snprintf(text, sizeof text,
           "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"", first);
  CHECK_INT(occurrences(get(&t, iterator(&t, "s", 0, text, it)), "PartitionKey"), 2);
  bench_close(&t);
}

TEST(iterators_of_all_kinds) {
  bench t;
  char it[600], latest[600], text[800], room[600];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  for (int i = 0; i < 10; i++) {
    put(&t, "s", "k", "x");
    t.now_ms += 10;
  }
  iterator(&t, "s", 0, LATEST, latest);
  CHECK_HAS(get(&t, latest), "{\"Records\":[],");
  put(&t, "s", "k", "y");
  CHECK_INT(occurrences(get(&t, latest), "PartitionKey"), 1);
  struct {
    int64_t at_ms;
    int records;
  } times[] = {{T0 - 100000, 11}, {T0, 11}, {T0 + 1, 10}, {T0 + 90, 2}, {T0 + 95, 1}, {T0 + 100, 1}};
  t.now_ms += 50;
  for (size_t i = 0; i < SLP_COUNT(times); i++) {
    snprintf(text, sizeof text, "\"ShardIteratorType\":\"AT_TIMESTAMP\",\"Timestamp\":%lld.%03d",
             (long long)(times[i].at_ms / 1000), (int)(times[i].at_ms % 1000));
    CHECK_INT(occurrences(get(&t, iterator(&t, "s", 0, text, it)), "PartitionKey"), times[i].records);
  }
  /* later than the last record: what comes from now on */
  snprintf(text, sizeof text, "\"ShardIteratorType\":\"AT_TIMESTAMP\",\"Timestamp\":%lld.%03d",
           (long long)(t.now_ms / 1000), (int)(t.now_ms % 1000));
  iterator(&t, "s", 0, text, it);
  CHECK_HAS(get(&t, it), "{\"Records\":[],");
  put(&t, "s", "k", "z");
  CHECK_INT(occurrences(get(&t, it), "PartitionKey"), 1);
  slp_box_shard_start(slp_box_find(t.box, SLP_STR("s"))->shards[0], room);
  snprintf(text, sizeof text,
           "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"", room);
  CHECK_INT(occurrences(get(&t, iterator(&t, "s", 0, text, it)), "PartitionKey"), 12);
  bench_close(&t);
}

TEST(iterators_that_are_refused) {
  bench t;
  char it[600], other[600];
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 2), 0);
  static const struct {
    const char *rest, *error;
  } bad[] = {
      {"\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\"", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"AFTER_SEQUENCE_NUMBER\"", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"AT_TIMESTAMP\"", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"AT_TIMESTAMP\",\"Timestamp\":1795231286.123", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"TRIM_HORIZON\",\"StartingSequenceNumber\":\"1\"", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"LATEST\",\"Timestamp\":1", "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"7\"",
       "InvalidArgumentException"},
      {"\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"x\"",
       "ValidationException"},
      {"\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"007\"",
       "ValidationException"},
      {"\"ShardIteratorType\":\"SOMEWHERE\"", "ValidationException"},
      {"\"ShardIteratorType\":null", "ValidationException"},
  };
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_HAS(call(&t, "GetShardIterator", "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000000\",%s}",
                   bad[i].rest),
              bad[i].error);
    CHECK_INT(t.answer.status, 400);
  }
  CHECK_HAS(
      call(&t, "GetShardIterator", "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000002\"," OLDEST "}"),
      "ResourceNotFoundException");
  /* a number of the other shard */
  slp_box_shard_start(slp_box_find(t.box, SLP_STR("s"))->shards[1], other);
  CHECK_HAS(call(&t, "GetShardIterator",
                 "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000000\","
                 "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"}",
                 other),
            "did not come from this stream");
  /* time, forgery, strangers */
  iterator(&t, "s", 0, OLDEST, it);
  t.now_ms += 300000;
  CHECK_HAS(get(&t, it), "Records");
  t.now_ms += 1;
  CHECK_HAS(get(&t, it), "ExpiredIteratorException");
  CHECK_HAS(get(&t, it),
            "created at time Sat Nov 21 03:21:25 UTC 2026 while right now it is Sat Nov 21 03:26:25");
  iterator(&t, "s", 0, OLDEST, it);
  it[60] ^= 1;
  CHECK_HAS(get(&t, it), "InvalidArgumentException");
  CHECK_HAS(get(&t, "AAAA"), "InvalidArgumentException");
  CHECK_HAS(get(&t, ""), "ValidationException");
  iterator(&t, "s", 0, OLDEST, it);
  CHECK_STR(call(&t, "DeleteStream", "{\"StreamName\":\"s\"}"), "");
  CHECK_INT(slp_box_stream(t.box, t.now_ms, "s", 2), 0); /* another stream of that name */
  CHECK_HAS(get(&t, it), "ResourceNotFoundException");
  CHECK_HAS(call(&t, "GetShardIterator",
                 "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000001\","
                 "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"}",
                 other),
            "did not come from this stream");
  bench_close(&t);
}

TEST(what_is_quoted_back_is_utf8) {
  bench t;
  char name[1400] = "{\"StreamName\":\"x";
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  CHECK_HAS(ask(&t, "Li\xf6t", JSON_TYPE, SLP_STR("{}")), "Li?t");
  size_t n = strlen(name);
  for (int i = 0; i < 600; i++, n += 2) memcpy(name + n, "\xc3\xa9", 2); /* more than a message holds */
  memcpy(name + n, "\"}", 3);
  CHECK_HAS(ask(&t, "ListShards", JSON_TYPE, slp_str_of(name)), "\xc3\xa9\xc3\xa9");
  CHECK_INT(t.answer.status, 400);
  bench_close(&t);
}

TEST(the_end_of_a_shard) {
  bench t;
  char it[600], next[600];
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 2), 0);
  for (int i = 0; i < 20; i++) {
    char key[16];
    snprintf(key, sizeof key, "key%d", i);
    put(&t, "s", key, "x");
  }
  iterator(&t, "s", 0, OLDEST, it);
  CHECK_INT(slp_box_split(t.box, T0 + 5, "s", "shardId-000000000000", NULL), 0);
  const char *page = call(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":1}", it);
  CHECK_HAS(page, "NextShardIterator");
  CHECK_LACKS(page, "ChildShards");
  CHECK_LACKS(page, "\"MillisBehindLatest\":0");
  member(page, "NextShardIterator", next);
  page = get(&t, next);
  CHECK_LACKS(page, "NextShardIterator");
  CHECK_HAS(
      page,
      "\"MillisBehindLatest\":0,\"ChildShards\":[{\"ShardId\":\"shardId-000000000002\",\"ParentShards\":"
      "[\"shardId-000000000000\"],\"HashKeyRange\":{\"StartingHashKey\":\"0\",\"EndingHashKey\":");
  CHECK_HAS(page, "\"ShardId\":\"shardId-000000000003\"");
  iterator(&t, "s", 0, LATEST, it);
  page = get(&t, it);
  CHECK_HAS(page, "{\"Records\":[],\"MillisBehindLatest\":0,\"ChildShards\"");
  CHECK_INT(slp_box_merge(t.box, T0 + 9, "s", "shardId-000000000001", "shardId-000000000003"), 0);
  for (int shard = 1; shard <= 3; shard += 2) {
    page = get(&t, iterator(&t, "s", shard, LATEST, it));
    CHECK_INT(occurrences(page, "\"ShardId\""), 1);
    CHECK_HAS(page, "\"ParentShards\":[\"shardId-000000000001\",\"shardId-000000000003\"]");
  }
  /* at its last number, which no record has */
  char text[800], end[SLP_BOX_SEQ_TEXT];
  slp_box_shard_end(slp_box_find(t.box, SLP_STR("s"))->shards[0], end);
  snprintf(text, sizeof text,
           "\"ShardIteratorType\":\"AFTER_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"", end);
  CHECK_HAS(get(&t, iterator(&t, "s", 0, text, it)),
            "{\"Records\":[],\"MillisBehindLatest\":0,\"ChildShards\"");
  bench_close(&t);
}

TEST(retention_drops_records_then_shards) {
  bench t;
  char it[600], early[600], text[800];
  sloop_sandbox_opts_t o = free_opts();
  o.iterator_ms = UINT32_MAX;
  one_shard(&t, &o);
  put(&t, "s", "k", "old");
  member(get(&t, iterator(&t, "s", 0, OLDEST, it)), "SequenceNumber", early);
  t.now_ms += 3600000;
  put(&t, "s", "k", "new");
  CHECK_INT(slp_box_split(t.box, t.now_ms, "s", "shardId-000000000000", NULL), 0);
  t.now_ms = T0 + 24 * 3600000 + 1000;
  const char *page = get(&t, it); /* an old place is served from the oldest record, silently */
  CHECK_INT(occurrences(page, "PartitionKey"), 1);
  CHECK_HAS(page, "bmV3");
  snprintf(text, sizeof text,
           "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"StartingSequenceNumber\":\"%s\"", early);
  CHECK_HAS(get(&t, iterator(&t, "s", 0, text, it)), "bmV3");
  CHECK_INT(occurrences(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "{\"ShardId\""), 3);
  t.now_ms += 3600000;
  CHECK_INT(occurrences(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "{\"ShardId\""), 2);
  CHECK_HAS(get(&t, it), "ResourceNotFoundException");
  bench_close(&t);
}

TEST(trim_by_order) {
  bench t;
  char it[600];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  for (int i = 0; i < 200; i++) {
    put(&t, "s", "k", i < 150 ? "old" : "new");
    t.now_ms += 10;
  }
  CHECK_INT(slp_box_trim(t.box, t.now_ms, "s", T0 + 1500), 0);
  CHECK_INT(occurrences(get(&t, iterator(&t, "s", 0, OLDEST, it)), "bmV3"), 50);
  CHECK_INT(slp_box_trim(t.box, t.now_ms, "none", T0), SLP_ENOENT);
  bench_close(&t);
}

TEST(a_page_holds_ten_mebibytes_and_no_more) {
  bench t;
  char it[600], next[600];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  size_t big = 1u << 20;
  char *data = slp_zalloc(t.mem, 10 * big);
  for (int i = 0; i < 10; i++) { /* ten of 1 MiB with their keys are over 10 MiB by 10 bytes */
    CHECK_INT(slp_box_put(t.box, t.now_ms, "s", SLP_STR("k"), (slp_str){data, big}, NULL, NULL), 0);
  }
  CHECK_INT(slp_box_put(t.box, t.now_ms, "s", SLP_STR("k"), (slp_str){data, 10 * big}, NULL, NULL), 0);
  const char *page = get(&t, iterator(&t, "s", 0, OLDEST, it));
  CHECK_INT(occurrences(page, "PartitionKey"), 9);
  CHECK_LACKS(page, "\"MillisBehindLatest\":0"); /* more to come */
  member(strstr(page, "\"NextShardIterator\""), "NextShardIterator", next);
  page = get(&t, next);
  CHECK_INT(occurrences(page, "PartitionKey"), 1);
  page = get(&t, member(strstr(page, "\"NextShardIterator\""), "NextShardIterator", next));
  CHECK_INT(occurrences(page, "PartitionKey"), 1); /* 10 MiB and its key: a page of its own */
  CHECK(t.answer.body.n > 13 * big);
  slp_free(t.mem, data);
  for (int i = 0; i < 10050; i++) put(&t, "s", "k", "");
  page = get(&t, member(strstr(page, "\"NextShardIterator\""), "NextShardIterator", next));
  CHECK_INT(occurrences(page, "PartitionKey"), 10000);
  CHECK_HAS(call(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":10001}", it),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":0}", it), "ValidationException");
  bench_close(&t);
}

TEST(five_reads_a_second) {
  bench t;
  char it[600];
  sloop_sandbox_opts_t o = free_opts();
  o.reads_per_second = 5;
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 2), 0);
  iterator(&t, "s", 0, OLDEST, it);
  for (int i = 0; i < 5; i++) CHECK_HAS(get(&t, it), "Records");
  t.now_ms += 999;
  CHECK_HAS(get(&t, it), "ProvisionedThroughputExceededException");
  CHECK_HAS(get(&t, it),
            "Rate exceeded for shard shardId-000000000000 in stream s under account 000000000000.");
  t.now_ms += 1;
  CHECK_HAS(get(&t, it), "Records");
  iterator(&t, "s", 1, OLDEST, it); /* the other shard has its own */
  CHECK_HAS(get(&t, it), "Records");
  slp_buf stats;
  slp_buf_init(&stats, t.mem, 1u << 20);
  CHECK_INT(slp_box_stats_json(t.box, &stats), 0);
  CHECK_HAS(slp_buf_z(&stats), "\"shard_reads_per_second_max\":7");
  CHECK_HAS(slp_buf_z(&stats), "\"GetRecords\":{\"calls\":9,\"errors\":2,");
  slp_buf_free(&stats);
  bench_close(&t);
}

TEST(a_big_page_makes_the_next_seconds_fail) {
  bench t;
  char it[600];
  sloop_sandbox_opts_t o = free_opts();
  o.read_bytes_per_second = 2u << 20;
  one_shard(&t, &o);
  char *data = slp_zalloc(t.mem, 10u << 20);
  CHECK_INT(slp_box_put(t.box, T0, "s", SLP_STR("k"), (slp_str){data, (10u << 20) - 1}, NULL, NULL), 0);
  slp_free(t.mem, data);
  iterator(&t, "s", 0, OLDEST, it);
  CHECK_HAS(get(&t, it), "Records");
  t.now_ms += 4999;
  CHECK_HAS(get(&t, it), "ProvisionedThroughputExceededException");
  t.now_ms += 1;
  CHECK_HAS(get(&t, it), "Records");
  bench_close(&t);
}

TEST(writes_have_limits_and_fail_in_part) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  o.write_records_per_second = 3;
  one_shard(&t, &o);
  const char *p = call(&t, "PutRecords",
                       "{\"StreamName\":\"s\",\"Records\":[{\"Data\":\"\",\"PartitionKey\":\"a\"},"
                       "{\"Data\":\"\",\"PartitionKey\":\"a\"},{\"Data\":\"\",\"PartitionKey\":\"a\"},"
                       "{\"Data\":\"\",\"PartitionKey\":\"a\"},{\"Data\":\"\",\"PartitionKey\":\"a\"}]}");
  CHECK_INT(t.answer.status, 200);
  CHECK_HAS(p, "\"FailedRecordCount\":2");
  CHECK_INT(occurrences(p, "\"SequenceNumber\""), 3);
  CHECK_INT(occurrences(p, "\"ErrorCode\":\"ProvisionedThroughputExceededException\""), 2);
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"a\"}"),
            "ProvisionedThroughputExceededException");
  t.now_ms += 1000;
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"a\"}"),
            "SequenceNumber");
  sloop_sandbox_stats_t stats;
  slp_box_stats(t.box, &stats);
  CHECK_INT(stats.records_in, 4);
  bench_close(&t);
}

TEST(puts_that_are_refused) {
  bench t;
  char key[300];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  memset(key, 'k', 257);
  key[257] = 0;
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"%s\"}", key),
            "less than or equal to 256");
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"\"}"),
            "ValidationException");
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"PartitionKey\":\"k\"}"), "Value null at 'data'");
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"?\",\"PartitionKey\":\"k\"}"),
            "SerializationException");
  CHECK_HAS(call(&t, "PutRecord",
                 "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"k\",\"ExplicitHashKey\":"
                 "\"340282366920938463463374607431768211456\"}"),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "PutRecords", "{\"StreamName\":\"s\",\"Records\":[]}"),
            "length greater than or equal to 1");
  CHECK_HAS(call(&t, "PutRecords", "{\"StreamName\":\"s\",\"Records\":[{\"Data\":\"\"}]}"),
            "Value null at 'records.1.member.partitionKey'");
  CHECK_HAS(call(&t, "PutRecords", "{\"StreamName\":\"s\",\"Records\":[7]}"), "SerializationException");
  sloop_sandbox_stats_t stats;
  slp_box_stats(t.box, &stats);
  CHECK_INT(stats.records_in, 0);
  bench_close(&t);
}

/* ---- synthetic --------------------------------------------------------------------------------------- */
TEST(synthetic_pages_equal_the_records_one_by_one) {
  static const uint32_t sizes[] = {0, 1, 15, 16, 17, 24, 41, 42, 43, 65, 66, 67, 68, 89, 90, 91, 1000, 1024};
  for (size_t i = 0; i < SLP_COUNT(sizes); i++) {
    for (int cbor = 0; cbor < 2; cbor++) {
      bench t;
      char it[600], name[32];
      sloop_sandbox_opts_t o = free_opts();
      o.cbor_indefinite = cbor;
      bench_open(&t, &o);
      snprintf(name, sizeof name, "s%u", sizes[i]);
      CHECK_INT(slp_box_synthetic(t.box, T0, name, 3, 500, sizes[i], 0, 99), 0);
      iterator(&t, name, 2, OLDEST, it);
      slp_buf fast, body;
      slp_buf_init(&fast, t.mem, 1u << 24);
      slp_buf_init(&body, t.mem, 4096);
      CHECK_INT(
          slp_buf_addf(&body, cbor ? "\xa1\x6dShardIterator\x78\xe0%s" : "{\"ShardIterator\":\"%s\"}", it),
          0);
      ask(&t, "GetRecords", cbor ? CBOR_TYPE : JSON_TYPE, slp_buf_str(&body));
      CHECK_INT(t.answer.status, 200);
      CHECK_INT(slp_buf_add_str(&fast, slp_buf_str(&t.answer.body)), 0);
      /* A page that a fault has touched is written record by record; this one's number is the same. */
      CHECK_INT(slp_box_faults(t.box, "1 GetRecords * behind 0", NULL), 0);
      ask(&t, "GetRecords", cbor ? CBOR_TYPE : JSON_TYPE, slp_buf_str(&body));
      CHECK_MEM(fast.p, fast.n, t.answer.body.p, t.answer.body.n);
      slp_buf_free(&fast);
      slp_buf_free(&body);
      bench_close(&t);
    }
  }
}

TEST(synthetic_records_say_who_they_are) {
  bench t;
  char it[600], data[600];
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_synthetic(t.box, T0, "s", 4, UINT64_MAX, 30, 100, 5), 0);
  CHECK_INT(slp_box_synthetic(t.box, T0, "s", 4, 1, 30, 100, 5), -EEXIST);
  iterator(&t, "s", 3, OLDEST, it);
  CHECK_HAS(get(&t, it), "{\"Records\":[],");
  t.now_ms += 1000;
  const char *page = call(&t, "GetRecords", "{\"ShardIterator\":\"%s\"}", it);
  CHECK_INT(occurrences(page, "PartitionKey"), 100);
  member(page, "Data", data);
  int64_t n = slp_base64_decode(data, data, strlen(data));
  CHECK_INT(n, 30);
  CHECK(data[0] == 0 && data[7] == 0 && data[8] == 3 && data[15] == 0);
  char text[128];
  snprintf(text, sizeof text, "\"ShardIteratorType\":\"AT_TIMESTAMP\",\"Timestamp\":%lld.%03d",
           (long long)((T0 + 500) / 1000), (int)((T0 + 500) % 1000));
  page = call(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":1}", iterator(&t, "s", 3, text, it));
  member(page, "Data", data);
  slp_base64_decode(data, data, strlen(data));
  CHECK_INT(data[0], 49); /* the 50th came after exactly 500 ms */
  CHECK_HAS(page, "\"MillisBehindLatest\":500}");
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"s\",\"Data\":\"\",\"PartitionKey\":\"k\"}"),
            "InvalidArgumentException");
  CHECK_INT(slp_box_put(t.box, t.now_ms, "s", SLP_STR("k"), SLP_STR(""), NULL, NULL), SLP_EINVAL);
  /* a split ends the parent where it stands */
  CHECK_INT(slp_box_split(t.box, t.now_ms, "s", "shardId-000000000003", NULL), 0);
  t.now_ms += 1000;
  page = get(&t, iterator(&t, "s", 3, OLDEST, it));
  CHECK_INT(occurrences(page, "\"PartitionKey\""), 100);
  CHECK_HAS(page, "ChildShards");
  CHECK_INT(occurrences(get(&t, iterator(&t, "s", 4, OLDEST, it)), "\"PartitionKey\""), 100);
  bench_close(&t);
}

TEST(synthetic_keys_hash_into_their_shard) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_synthetic(t.box, T0, "s", 512, 10, 8, 0, 5), 0);
  slp_stream *s = slp_box_find(t.box, SLP_STR("s"));
  for (uint32_t i = 0; i < 512; i++) {
    slp_u128 hash;
    CHECK_INT(slp_box_hash_of(t.box, slp_str_of(s->shards[i]->synthetic_key), &hash), 0);
    CHECK(slp_box_shard_for(s, hash) == s->shards[i]);
  }
  bench_close(&t);
}

/* ---- the record distribution strategy AUTO, DryRun, and what is not known ------------------------------ */
#define AUTO "\"StreamModeDetails\":{\"StreamMode\":\"ON_DEMAND\"},\"RecordDistributionStrategy\":\"AUTO\""
#define ARN "\"StreamARN\":\"arn:aws:kinesis:us-east-1:000000000000:stream/a\""

static int records_of(bench *t, int shard) {
  char it[600];
  return occurrences(get(t, iterator(t, "a", shard, OLDEST, it)), "\"SequenceNumber\"");
}

TEST(a_stream_that_spreads_its_records_heeds_no_key) {
  bench t;
  char it[600];
  sloop_sandbox_opts_t o = free_opts();
  o.change_ms = 0;
  bench_open(&t, &o);
  call(&t, "CreateStream", "{\"StreamName\":\"a\"," AUTO "}");
  CHECK_INT(t.answer.status, 200);
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"a\"}"),
            "\"RecordDistributionStrategy\":\"AUTO\"");
  for (int i = 0; i < 6; i++) {
    call(&t, "PutRecord",
         "{\"StreamName\":\"a\",\"PartitionKey\":\"k\",\"ExplicitHashKey\":\"0\",\"Data\":\"\"}");
    CHECK_INT(t.answer.status, 200);
  }
  call(&t, "PutRecord", "{\"StreamName\":\"a\",\"Data\":\"\"}");
  CHECK_INT(t.answer.status, 200);
  CHECK_HAS(call(&t, "PutRecords",
                 "{\"StreamName\":\"a\",\"Records\":[{\"Data\":\"\"},{\"Data\":\"YQ==\"},"
                 "{\"Data\":\"\",\"PartitionKey\":\"k\"}]}"),
            "\"FailedRecordCount\":0");
  CHECK_INT(records_of(&t, 0), 3);
  CHECK_INT(records_of(&t, 1), 3);
  CHECK_INT(records_of(&t, 2), 2);
  CHECK_INT(records_of(&t, 3), 2);
  CHECK_INT(slp_box_put(t.box, t.now_ms, "a", (slp_str){NULL, 0}, SLP_STR("x"), NULL, NULL), 0);
  const char *page = get(&t, iterator(&t, "a", 2, OLDEST, it));
  CHECK_INT(occurrences(page, "\"PartitionKey\":\"k\""), 1); /* the key that was given comes back */
  CHECK_INT(occurrences(page, "PartitionKey"), 1);
  CHECK_INT(occurrences(page, "SequenceNumber"), 3);
  /* From now on keys decide; what is there stays where it is. */
  call(&t, "UpdateStreamRecordDistributionStrategy",
       "{" ARN ",\"RecordDistributionStrategy\":\"USER_PARTITION_KEY\"}");
  CHECK_INT(t.answer.status, 200);
  CHECK_HAS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"a\"}"),
            "\"RecordDistributionStrategy\":\"USER_PARTITION_KEY\"");
  for (int i = 0; i < 3; i++) put(&t, "a", "k", "x");
  int three = 0;
  for (int i = 0; i < 4; i++) three += records_of(&t, i) >= 5;
  CHECK_INT(three, 1);
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"a\",\"Data\":\"\"}"),
            "Value null at 'partitionKey' failed to satisfy constraint: Member must not be null");
  CHECK_HAS(call(&t, "PutRecords",
                 "{\"StreamName\":\"a\",\"Records\":[{\"Data\":\"\",\"PartitionKey\":\"k\"},"
                 "{\"Data\":\"\"}]}"),
            "Value null at 'records.2.member.partitionKey'");
  CHECK_INT(slp_box_put(t.box, t.now_ms, "a", (slp_str){NULL, 0}, SLP_STR("x"), NULL, NULL), SLP_EINVAL);
  bench_close(&t);
}

TEST(provisioned_streams_have_no_strategy) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  CHECK_LACKS(call(&t, "DescribeStreamSummary", "{\"StreamName\":\"s\"}"), "RecordDistributionStrategy");
  CHECK_HAS(call(&t, "UpdateStreamRecordDistributionStrategy",
                 "{\"StreamARN\":\"arn:aws:kinesis:us-east-1:000000000000:stream/s\","
                 "\"RecordDistributionStrategy\":\"AUTO\"}"),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "CreateStream",
                 "{\"StreamName\":\"p\",\"ShardCount\":1,\"RecordDistributionStrategy\":\"AUTO\"}"),
            "InvalidArgumentException");
  CHECK_HAS(call(&t, "CreateStream",
                 "{\"StreamName\":\"p\",\"ShardCount\":1,\"RecordDistributionStrategy\":\"X\"}"),
            "ValidationException");
  bench_close(&t);
}

TEST(a_dry_run_is_refused_and_changes_nothing) {
  bench t;
  char it[600], text[900];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  put(&t, "s", "k", "x");
  iterator(&t, "s", 0, OLDEST, it);
  snprintf(text, sizeof text, "{\"ShardIterator\":\"%s\",\"DryRun\":true}", it);
  const struct {
    const char *operation, *body;
  } dry[] = {{"PutRecord", "{\"StreamName\":\"s\",\"PartitionKey\":\"k\",\"Data\":\"\",\"DryRun\":true}"},
             {"PutRecords",
              "{\"StreamName\":\"s\",\"Records\":[{\"PartitionKey\":\"k\",\"Data\":\"\"}],\"DryRun\":true}"},
             {"GetShardIterator",
              "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000000\",\"ShardIteratorType\":\"LATEST\","
              "\"DryRun\":true}"},
             {"GetRecords", text}};
  for (size_t i = 0; i < SLP_COUNT(dry); i++) {
    const char *answer = call(&t, dry[i].operation, "%s", dry[i].body);
    CHECK_INT(t.answer.status, 400);
    CHECK_HAS(answer, "DryRunOperationException");
    CHECK_LACKS(answer, "ShardIterator\"");
  }
  CHECK_INT(occurrences(get(&t, it), "SequenceNumber"), 1);
  call(&t, "PutRecord", "{\"StreamName\":\"s\",\"PartitionKey\":\"k\",\"Data\":\"\",\"DryRun\":false}");
  CHECK_INT(t.answer.status, 200);
  CHECK_HAS(
      call(&t, "PutRecord", "{\"StreamName\":\"none\",\"PartitionKey\":\"k\",\"Data\":\"\",\"DryRun\":true}"),
      "ResourceNotFoundException"); /* it would not have succeeded */
  bench_close(&t);
}

TEST(members_that_are_not_known_are_not_ignored) {
  bench t;
  char it[600];
  sloop_sandbox_opts_t o = free_opts();
  one_shard(&t, &o);
  const struct {
    const char *operation, *body;
  } odd[] = {
      {"PutRecord", "{\"StreamName\":\"s\",\"PartitionKey\":\"k\",\"Data\":\"\",\"Later\":true}"},
      {"PutRecords",
       "{\"StreamName\":\"s\",\"Records\":[{\"PartitionKey\":\"k\",\"Data\":\"\",\"Later\":true}]}"},
      {"CreateStream", "{\"StreamName\":\"n\",\"ShardCount\":1,\"Later\":{}}"},
      {"CreateStream",
       "{\"StreamName\":\"n\",\"ShardCount\":1,\"StreamModeDetails\":{\"StreamMode\":\"PROVISIONED\","
       "\"Later\":1}}"},
      {"DescribeLimits", "{\"Later\":1}"},
  };
  for (size_t i = 0; i < SLP_COUNT(odd); i++) {
    CHECK_HAS(call(&t, odd[i].operation, "%s", odd[i].body), "does not know the member Later");
    CHECK_HAS(slp_buf_z(&t.answer.body), "ValidationException");
  }
  CHECK_HAS(get(&t, iterator(&t, "s", 0, OLDEST, it)), "{\"Records\":[],");
  call(&t, "PutRecord",
       "{\"StreamName\":\"s\",\"PartitionKey\":\"k\",\"Data\":\"\",\"Later\":null,\"StreamId\":\"x\"}");
  CHECK_INT(t.answer.status, 200);
  bench_close(&t);
}

TEST(limits_and_settings_of_the_account) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  o.change_ms = 0;
  one_shard(&t, &o);
  call(&t, "CreateStream", "{\"StreamName\":\"a\"," AUTO "}");
  CHECK_HAS(call(&t, "DescribeLimits", "{}"),
            "\"OpenShardCount\":5,\"OnDemandStreamCount\":1,\"OnDemandStreamCountLimit\":50}");
  CHECK_HAS(call(&t, "DescribeAccountSettings", "{}"),
            "{\"MinimumThroughputBillingCommitment\":{\"Status\":\"DISABLED\"}}");
  bench_close(&t);
}
