/* changes_get.c - GetRecords of changes: the record, the page, the end, the limits, and its faults.
 */
#include "sandbox_changes.h"

TEST(a_record_as_the_service_writes_it) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  slp_str none = {NULL, 0}, keys = SLP_STR("{\"id\":{\"S\":\"a\\\"b\"}}"),
          image = SLP_STR("{\"id\":{\"S\":\"a\\\"b\"},\"n\":{\"N\":\"5\"}}");
  CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", keys, none, image, 0), 0);
  CHECK_INT(slp_box_add_change(t.box, T0 + 999, "Tbl", keys, image, keys, 0), 0);
  CHECK_INT(slp_box_add_change(t.box, T0 + 1000, "Tbl", keys, keys, none, 1), 0);
  char it[600], number[SLP_CHANGE_NUMBER_TEXT], expect[1200], id[600];
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  const char *page = get_changes(&t, it);
  CHECK_INT(strlen(member(page, "eventID", id)), 32);
  slp_change_text(s->shards[0], 0, number);
  snprintf(expect, sizeof expect,
           "{\"Records\":[{\"eventID\":\"%s\",\"eventName\":\"INSERT\",\"eventVersion\":\"1.1\","
           "\"eventSource\":\"aws:dynamodb\",\"awsRegion\":\"us-east-1\",\"dynamodb\":{"
           "\"ApproximateCreationDateTime\":1.795231285000E9,\"Keys\":{\"id\":{\"S\":\"a\\\"b\"}},"
           "\"NewImage\":{\"id\":{\"S\":\"a\\\"b\"},\"n\":{\"N\":\"5\"}},\"SequenceNumber\":\"%s\","
           "\"SizeBytes\":13,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}},{",
           id, number);
  CHECK(strncmp(page, expect, strlen(expect)) == 0);
  CHECK_HAS(page, "\"eventName\":\"MODIFY\"");
  CHECK_HAS(page, "\"eventName\":\"REMOVE\"");
  CHECK_HAS(page, "\"ApproximateCreationDateTime\":1.795231286000E9");
  CHECK_INT(occurrences(page, "1.795231286000E9"), 2);
  CHECK_HAS(page, "\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}");
  CHECK_INT(occurrences(page, "userIdentity"), 1);
  CHECK_LACKS(page, "MillisBehindLatest");
  CHECK_LACKS(page, "ChildShards");
  CHECK_INT(t.box->stats.records_out, 3);
  bench_close(&t);
}

TEST(pages_end_at_a_thousand_records_or_a_megabyte) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  for (int i = 0; i < 1001; i++) change(&t, "k", i);
  char it[600];
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  const char *page = get_changes(&t, it);
  CHECK_INT(occurrences(page, "eventID"), 1000);
  page = get_changes(&t, member(page, "NextShardIterator", it));
  CHECK_INT(occurrences(page, "eventID"), 1);
  page = call_changes(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":1001}", it);
  CHECK_HAS(page, "ValidationException");
  CHECK_HAS(call_changes(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":0}", it),
            "ValidationException");
  slp_buf big;
  slp_buf_init(&big, t.mem, 1 << 20);
  CHECK_INT(slp_buf_add_z(&big, "{\"id\":{\"S\":\"big\"},\"x\":{\"S\":\""), 0);
  for (int i = 0; i < 300000; i++) CHECK_INT(slp_buf_add_char(&big, 'x'), 0);
  CHECK_INT(slp_buf_add_z(&big, "\"}}"), 0);
  for (int i = 0; i < 5; i++) {
    CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR("{\"id\":{\"S\":\"big\"}}"), (slp_str){NULL, 0},
                                 slp_buf_str(&big), 0),
              0);
  }
  slp_buf_free(&big);
  change_iterator(&t, s, s->shards[0]->id, LATEST, it);
  char number[SLP_CHANGE_NUMBER_TEXT], rest[200];
  slp_change_text(s->shards[0], 1001, number);
  snprintf(rest, sizeof rest, "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"SequenceNumber\":\"%s\"",
           number);
  change_iterator(&t, s, s->shards[0]->id, rest, it);
  page = get_changes(&t, it);
  CHECK_INT(occurrences(page, "eventID"), 3); /* a fourth would go over 1 MiB */
  CHECK_INT(occurrences(get_changes(&t, member(page, "NextShardIterator", it)), "eventID"), 2);
  bench_close(&t);
}

TEST(only_a_closed_shard_ends) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  slp_buf all;
  slp_buf_init(&all, t.mem, 1 << 20);
  change(&t, "k", 1);
  CHECK(!read_shard_through(&t, s, s->shards[0]->id, &all));
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  CHECK(read_shard_through(&t, s, s->shards[0]->id, &all));
  CHECK(!read_shard_through(&t, s, s->shards[1]->id, &all));
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  CHECK(read_shard_through(&t, s, s->shards[1]->id, &all)); /* never had a record */
  slp_buf_free(&all);
  char it[600];
  change_iterator(&t, s, s->shards[0]->id, LATEST, it);
  CHECK_STR(get_changes(&t, it), "{\"Records\":[]}");
  bench_close(&t);
}

TEST(iterators_live_fifteen_minutes) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  char it[600], next[600];
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  t.now_ms += 15 * 60000;
  member(get_changes(&t, it), "NextShardIterator", next);
  t.now_ms += 1;
  CHECK_HAS(get_changes(&t, it), "com.amazonaws.dynamodb.v20120810#ExpiredIteratorException");
  CHECK_HAS(get_changes(&t, next), "NextShardIterator");
  t.now_ms += 16 * 60000;
  CHECK_HAS(get_changes(&t, next), "ExpiredIteratorException");
  CHECK_HAS(get_changes(&t, "what is this"), "ValidationException");
  bench_close(&t);
}

TEST(trimmed_under_an_iterator) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  char it[600], tip[600];
  change(&t, "k", 1);
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  change_iterator(&t, s, s->shards[0]->id, LATEST, tip);
  t.now_ms += 10;
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", t.now_ms), 0);
  CHECK_HAS(get_changes(&t, it), "TrimmedDataAccessException");
  CHECK_HAS(get_changes(&t, tip), "NextShardIterator"); /* nothing was lost there */
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  t.now_ms += 10;
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", t.now_ms), 0); /* the shard is gone */
  CHECK_HAS(get_changes(&t, tip), "TrimmedDataAccessException");
  bench_close(&t);
}

TEST(readers_and_calls_a_second) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.change_readers_max = 2;
  slp_changes *s = open_table(&t, &o, 2);
  char it[3][600], other[600];
  for (int i = 0; i < 3; i++) change_iterator(&t, s, s->shards[0]->id, OLDEST, it[i]);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 2; i++) member(get_changes(&t, it[i]), "NextShardIterator", it[i]);
  }
  CHECK_HAS(get_changes(&t, it[2]), "com.amazonaws.dynamodb.v20120810#LimitExceededException");
  for (int i = 0; i < 2; i++) CHECK_HAS(get_changes(&t, it[i]), "NextShardIterator"); /* it is not counted */
  change_iterator(&t, s, s->shards[1]->id, OLDEST, other);
  CHECK_HAS(get_changes(&t, other), "NextShardIterator");
  t.now_ms += 1000;
  CHECK_HAS(get_changes(&t, it[2]), "NextShardIterator");
  CHECK_HAS(get_changes(&t, it[0]), "NextShardIterator");
  bench_close(&t);
  o.change_readers_max = 0;
  o.change_reads_per_second = 3;
  s = open_table(&t, &o, 1);
  change_iterator(&t, s, s->shards[0]->id, OLDEST, other);
  for (int i = 0; i < 3; i++) CHECK_HAS(get_changes(&t, other), "NextShardIterator");
  CHECK_INT(slp_changes_asked_max(t.box), 3);
  CHECK_HAS(get_changes(&t, other), "ThrottlingException");
  t.now_ms += 1000;
  CHECK_HAS(get_changes(&t, other), "NextShardIterator");
  bench_close(&t);
}

TEST(empty_pages_before_full_ones) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "empty-gets", 2), 0);
  for (int i = 0; i < 2; i++) change(&t, "k", i);
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  char it[600];
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  static const int there[] = {0, 0, 1, 0, 0, 1};
  for (size_t i = 0; i < SLP_COUNT(there); i++) {
    const char *page = call_changes(&t, "GetRecords", "{\"ShardIterator\":\"%s\",\"Limit\":1}", it);
    CHECK_INT(occurrences(page, "eventID"), there[i]);
    if (i + 1 < SLP_COUNT(there))
      member(page, "NextShardIterator", it);
    else
      CHECK_LACKS(page, "NextShardIterator");
  }
  bench_close(&t);
}

TEST(faults_of_pages) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  char it[600], a[600], b[600];
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  CHECK_INT(slp_box_faults(t.box,
                           "1 GetRecords * behind 5\n1 GetRecords * no-children\n1 GetRecords * backwards\n"
                           "1 GetRecords * repeat\n1 GetRecords * foreign\n1 GetRecords * no-next",
                           NULL),
            0);
  const char *page = get_changes(&t, it); /* no record: only no-next can be done */
  CHECK_STR(page, "{\"Records\":[]}");
  CHECK_INT(t.box->stats.faults_used, 1);
  change(&t, "k", 1);
  page = get_changes(&t, it);
  CHECK_INT(occurrences(page, "eventID"), 2); /* repeat */
  member(page, "SequenceNumber", a);
  CHECK_INT(occurrences(page, a), 2);
  change(&t, "k", 2);
  page = get_changes(&t, it);
  CHECK(strstr(page, "\"N\":\"2\"") < strstr(page, "\"N\":\"1\"")); /* backwards */
  page = get_changes(&t, it);
  member(page, "SequenceNumber", b);
  CHECK(strlen(b) > strlen(a)); /* foreign */
  CHECK_INT(slp_box_faults(t.box, NULL, NULL), 0);
  CHECK_INT(slp_box_faults(t.box, "1 GetRecords * empty\n1 GetRecords * empty-object\n1 GetRecords * expired",
                           NULL),
            0);
  page = get_changes(&t, it);
  CHECK_HAS(page, "\"Records\":[]");
  CHECK_HAS(page, "NextShardIterator");
  CHECK_STR(get_changes(&t, it), "{}");
  CHECK_HAS(get_changes(&t, it), "ExpiredIteratorException");
  CHECK_INT(occurrences(get_changes(&t, it), "eventID"), 2);
  CHECK_INT(
      slp_box_faults(t.box, "1 GetRecords * throttle\n1 DescribeStream * throttle\n1 GetRecords Tbl bad-crc",
                     NULL),
      0);
  CHECK_HAS(get_changes(&t, it), "LimitExceededException");
  CHECK_HAS(describe(&t, s, ""), "ThrottlingException");
  CHECK_INT(occurrences(get_changes(&t, it), "eventID"), 2);
  bench_close(&t);
}
