/* faults.c - the fault script: what is understood, which call a line holds for, what it does. */
#include <zlib.h>

#include "sandbox_box.h"

#include "codec/cbor.h"

static void script(bench *t, const char *text) {
  char why[160];
  int r = slp_box_faults(t->box, text, why);
  if (r) CHECK_FAIL("%d for: %s", r, why);
}

/* Two shards, three records in each. */
static void open_box(bench *t) {
  sloop_sandbox_opts_t o = free_opts();
  bench_open(t, &o);
  CHECK_INT(slp_box_stream(t->box, T0, "s", 2), 0);
  for (int i = 0; i < 3; i++) {
    put(t, "s", "k0", "a");
    put(t, "s", "k1", "b"); /* MD5 of k0 and k1 begin with different bits, see the first test */
    t->now_ms += 10;
  }
}

TEST(words) {
  bench t;
  open_box(&t);
  slp_stream *s = slp_box_find(t.box, SLP_STR("s"));
  CHECK_INT(s->shards[0]->next, 4);
  CHECK_INT(s->shards[1]->next, 4);
  static const char *const good[] = {
      "",
      "\n\n",
      "# only a comment",
      "  1 GetRecords * drop  # and this",
      "* * * throttle",
      "1 GetRecords 0 error SomeException",
      "1 * shardId-000000000001 error X:503:with: colons and spaces",
      "2 GetRecords 0001 body a # is no comment \\x00\\n\\\\",
      "1 * * cut 0\r\n1 * * delay 5",
      "1 * * body",
      "1 PutItem Music lost",
      "1 DescribeStream Music.of-all_times twice",
      "1 * 50c550be bad-crc",
  };
  for (size_t i = 0; i < SLP_COUNT(good); i++) script(&t, good[i]);
  CHECK_INT(slp_box_faults(t.box, NULL, NULL), 0);
  CHECK(slp_list_empty(&t.box->faults));
  static const char *const bad[] = {
      "x GetRecords * drop",
      "0 GetRecords * drop",
      "-1 GetRecords * drop",
      "1 GetRecord * drop",
      "1 GetRecords * fly",
      "1 GetRecords *",
      "1",
      "1 GetRecords * drop now",
      "1 GetRecords * delay",
      "1 GetRecords * delay x",
      "1 GetRecords * status 99",
      "1 GetRecords * status 600",
      "1 GetRecords * error",
      "1 GetRecords * error :400",
      "1 GetRecords * error X:abc",
      "1 GetRecords * error X Y",
      "1 GetRecords a/b drop",
      "1 GetRecords * body \\q",
      "1 GetRecords * body \\x0",
      "1 GetRecords * behind",
      "1 GetRecords * behind 1 2",
      "1 PutItem * twice 2",
      "1 PutItems * lost",
  };
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    char why[160], text[300];
    snprintf(text, sizeof text, "1 * * drop\n%s\n", bad[i]);
    CHECK_INT(slp_box_faults(t.box, text, why), SLP_EINVAL);
    CHECK_STR(why, bad[i]);
    CHECK(slp_list_empty(&t.box->faults)); /* all or nothing */
  }
  bench_close(&t);
}

TEST(carried_out_twice_or_for_nobody) {
  bench t;
  open_box(&t);
  slp_stream *s = slp_box_find(t.box, SLP_STR("s"));
  static const char put_one[] =
      "{\"StreamName\":\"s\",\"Data\":\"aGVsbG8=\",\"PartitionKey\":\"k\",\"ExplicitHashKey\":\"0\"}";
  script(&t, "1 PutRecord * twice\n1 PutRecord * lost");
  const char *answer = call(&t, "PutRecord", "%s", put_one);
  CHECK_INT(t.answer.status, 200);
  CHECK_INT(occurrences(answer, "SequenceNumber"), 1);
  CHECK_INT(s->shards[0]->next, 6); /* there were three, from 1 */
  slp_box_view v;
  CHECK_INT(slp_box_view_get(t.box, s->shards[0], 5, &v), 0);
  CHECK(slp_str_is(v.data, "hello"));
  call(&t, "PutRecord", "%s", put_one);
  CHECK(t.answer.drop);
  CHECK_INT(s->shards[0]->next, 7);
  call(&t, "PutRecord", "%s", put_one);
  CHECK(!t.answer.drop);
  CHECK_INT(t.box->stats.faults_used, 2);
  script(&t, "1 PutRecord * twice");
  CHECK_HAS(call(&t, "PutRecord", "{\"StreamName\":\"none\",\"Data\":\"aGVsbG8=\",\"PartitionKey\":\"k\"}"),
            "ResourceNotFoundException"); /* both times */
  bench_close(&t);
}

TEST(lines_hold_for_their_calls_and_are_used_up) {
  bench t;
  char zero[600], one[600];
  open_box(&t);
  iterator(&t, "s", 0, OLDEST, zero);
  iterator(&t, "s", 1, OLDEST, one);
  script(&t,
         "2 GetRecords 1 throttle\n1 ListShards * throttle\n1 GetRecords * error MyException:418:no tea\n");
  CHECK_HAS(get(&t, one), "ProvisionedThroughputExceededException");
  CHECK_HAS(get(&t, zero), "{\"__type\":\"MyException\",\"message\":\"no tea\"}");
  CHECK_INT(t.answer.status, 418);
  CHECK_HAS(get(&t, zero), "Records");
  CHECK_HAS(get(&t, one), "ProvisionedThroughputExceededException");
  CHECK_HAS(get(&t, one), "Records");
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "LimitExceededException");
  CHECK_HAS(call(&t, "ListShards", "{\"StreamName\":\"s\"}"), "Shards");
  sloop_sandbox_stats_t stats;
  slp_box_stats(t.box, &stats);
  CHECK_INT(stats.faults_used, 4);
  script(&t, "* * * status 503");
  for (int i = 0; i < 3; i++) {
    CHECK_STR(get(&t, one), "");
    CHECK_INT(t.answer.status, 503);
    CHECK(t.answer.content_type == NULL);
  }
  bench_close(&t);
}

TEST(actions_on_any_answer) {
  bench t;
  char it[600];
  open_box(&t);
  iterator(&t, "s", 0, OLDEST, it);
  script(&t,
         "1 * * delay 1500\n1 * * cut 77\n1 * * drop\n1 * * expired\n1 * * html\n1 * * body {\"a\\x62\\n\n"
         "1 * * trailing\n1 * * json-for-cbor\n1 * * cbor-cut\n1 * * error InternalFailure");
  CHECK_HAS(get(&t, it), "Records");
  CHECK_INT(t.answer.delay_ms, 1500);
  CHECK_HAS(get(&t, it), "Records");
  CHECK_INT(t.answer.delay_ms, 0);
  CHECK_INT(t.answer.cut_after, 77);
  CHECK_INT(t.answer.drop, 0);
  get(&t, it);
  CHECK_INT(t.answer.drop, 1);
  CHECK_HAS(get(&t, it), "ExpiredIteratorException");
  CHECK_HAS(get(&t, it), "<html>");
  CHECK_STR(t.answer.content_type, "text/html");
  CHECK_INT(t.answer.status, 200);
  CHECK_STR(get(&t, it), "{\"ab\n");
  CHECK_STR(t.answer.content_type, JSON_TYPE);
  const char *page = get(&t, it);
  CHECK_STR(page + strlen(page) - 3, "}{}");
  get(&t, it);
  CHECK_INT(t.answer.status, 500); /* the two lines before are for CBOR only */
  slp_buf body;
  slp_buf_init(&body, t.mem, 4096);
  CHECK_INT(slp_buf_addf(&body, "\xa1\x6dShardIterator\x78\xe0%s", it), 0);
  CHECK_HAS(ask(&t, "GetRecords", CBOR_TYPE, slp_buf_str(&body)), "{\"Records\":[{");
  CHECK_STR(t.answer.content_type, JSON_TYPE);
  ask(&t, "GetRecords", CBOR_TYPE, slp_buf_str(&body));
  CHECK_STR(t.answer.content_type, CBOR_TYPE);
  slp_cbor c;
  slp_cbor_begin(&c, t.answer.body.p, t.answer.body.n);
  CHECK(slp_cbor_skip(&c) < 0);
  slp_buf_free(&body);
  bench_close(&t);
}

TEST(gzip_is_gzip) {
  bench t;
  char it[600];
  static uint8_t out[200000];
  open_box(&t);
  for (int i = 0; i < 500; i++) put(&t, "s", "k0", "some more data to go over one stored block of gzip");
  iterator(&t, "s", 0, OLDEST, it);
  get(&t, it);
  size_t plain_n = t.answer.body.n;
  CHECK(plain_n > 70000 && plain_n < sizeof out);
  script(&t, "1 * * gzip");
  get(&t, it);
  CHECK_STR(t.answer.content_encoding, "gzip");
  z_stream z = {.next_in = (Bytef *)t.answer.body.p,
                .avail_in = (uInt)t.answer.body.n,
                .next_out = out,
                .avail_out = sizeof out};
  CHECK_INT(inflateInit2(&z, 15 + 16), Z_OK);
  CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END); /* checks length and CRC */
  inflateEnd(&z);
  CHECK_INT(z.total_out, plain_n);
  CHECK(memcmp(out, "{\"Records\":[{", 13) == 0);
  bench_close(&t);
}

TEST(actions_on_pages) {
  bench t;
  char it[600], a[600], b[600], next[600];
  open_box(&t);
  iterator(&t, "s", 0, OLDEST, it);
  script(&t, "1 GetRecords * no-next");
  const char *page = get(&t, it);
  CHECK_INT(occurrences(page, "PartitionKey"), 3);
  CHECK_LACKS(page, "NextShardIterator");
  CHECK_LACKS(page, "ChildShards");
  script(&t, "1 GetRecords * children-with-next");
  page = get(&t, it);
  CHECK_HAS(page, "NextShardIterator");
  CHECK_HAS(
      page,
      "\"ChildShards\":[{\"ShardId\":\"shardId-999999999999\",\"ParentShards\":[\"shardId-000000000000\"]");
  script(&t, "1 GetRecords * empty");
  page = get(&t, it);
  CHECK_HAS(page, "{\"Records\":[],");
  CHECK_LACKS(page, "\"MillisBehindLatest\":0");
  CHECK_INT(occurrences(get(&t, member(page, "NextShardIterator", next)), "PartitionKey"), 3);
  script(&t, "1 GetRecords * empty-object");
  CHECK_STR(get(&t, it), "{}");
  script(&t, "1 GetRecords * repeat");
  page = get(&t, it);
  CHECK_INT(occurrences(page, "PartitionKey"), 4);
  CHECK_STR(member(page, "SequenceNumber", a), member(strstr(page, "},{"), "SequenceNumber", b));
  script(&t, "1 GetRecords * backwards");
  page = get(&t, it);
  CHECK_INT(occurrences(page, "PartitionKey"), 3);
  CHECK_STR(member(strstr(strstr(page, "},{") + 1, "},{"), "SequenceNumber", b), a);
  script(&t, "1 GetRecords * foreign");
  page = get(&t, it);
  slp_box_seq seq;
  CHECK_INT(slp_box_seq_parse(slp_str_of(member(page, "SequenceNumber", b)), &seq), 0);
  CHECK_INT(seq.shard, 1);
  CHECK_HAS(page, "NextShardIterator");
  script(&t, "1 GetRecords * bad-base64");
  page = get(&t, it);
  CHECK_INT(occurrences(page, "\"Data\":\"!!!!\""), 1);
  CHECK_INT(occurrences(page, "PartitionKey"), 3);
  script(&t,
         "1 GetRecords * behind -1\n1 GetRecords * behind 9223372036854775808\n1 GetRecords * behind absent");
  CHECK_HAS(get(&t, it), "\"MillisBehindLatest\":-1}");
  CHECK_HAS(get(&t, it), "\"MillisBehindLatest\":9223372036854775808}");
  CHECK_LACKS(get(&t, it), "MillisBehindLatest");
  CHECK(slp_list_empty(&t.box->faults));
  script(&t, "1 * * error-in-header AccessDeniedException:403");
  CHECK_STR(get(&t, it), "");
  CHECK_INT(t.answer.status, 403);
  CHECK_STR(t.answer.error_type, "AccessDeniedException");
  CHECK_HAS(get(&t, it), "Records");
  CHECK_STR(t.answer.error_type, "");
  bench_close(&t);
}

TEST(lines_wait_for_a_page_they_can_change) {
  bench t;
  char it[600], end[600];
  open_box(&t);
  iterator(&t, "s", 0, OLDEST, it);
  iterator(&t, "s", 0, LATEST, end);
  script(&t,
         "1 GetRecords * no-children\n1 GetRecords * children-without-parents\n1 GetRecords * repeat\n"
         "1 GetRecords * delay 7");
  get(&t, end); /* empty and open: only the last line can do something */
  CHECK_INT(t.answer.delay_ms, 7);
  CHECK_INT(occurrences(get(&t, it), "PartitionKey"), 4);
  CHECK_INT(slp_box_split(t.box, t.now_ms, "s", "shardId-000000000000", NULL), 0);
  const char *page = get(&t, it);
  CHECK_LACKS(page, "NextShardIterator");
  CHECK_LACKS(page, "ChildShards");
  page = get(&t, it);
  CHECK_INT(occurrences(page, "\"ParentShards\":[]"), 2);
  CHECK_INT(occurrences(get(&t, it), "\"ParentShards\":[\"shardId-000000000000\"]"), 2);
  CHECK(slp_list_empty(&t.box->faults));
  script(&t, "1 GetRecords * empty"); /* a closed shard does not end on an empty page */
  page = get(&t, it);
  CHECK_HAS(page, "NextShardIterator");
  CHECK_LACKS(page, "ChildShards");
  bench_close(&t);
}
