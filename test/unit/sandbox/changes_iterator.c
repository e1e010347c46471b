/* changes_iterator.c - GetShardIterator: the five places, and what it refuses. */
#include "sandbox_changes.h"

#define AT "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"SequenceNumber\":\"%s\""
#define AFTER "\"ShardIteratorType\":\"AFTER_SEQUENCE_NUMBER\",\"SequenceNumber\":\"%s\""

/* The attribute v of the first change an iterator of that kind gives; -1: none, -2: refused. */
static int first_at(bench *t, const slp_changes *s, const char *shard, const char *type, const char *number) {
  char rest[200], it[600];
  snprintf(rest, sizeof rest, type, number);
  ask_iterator(t, s, shard, rest);
  if (t->answer.status != 200) return -2;
  member(slp_buf_z(&t->answer.body), "ShardIterator", it);
  const char *page = get_changes(t, it);
  CHECK_INT(t->answer.status, 200);
  const char *v = strstr(page, "\"v\":{\"N\":\"");
  return v ? (int)strtol(v + 10, NULL, 10) : -1;
}

TEST(each_kind_of_place) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  const slp_change_shard *sh = s->shards[0];
  char number[SLP_CHANGE_NUMBER_TEXT], start[SLP_CHANGE_NUMBER_TEXT], end[SLP_CHANGE_NUMBER_TEXT];
  slp_change_start_text(sh, start);
  CHECK_INT(first_at(&t, s, sh->id, OLDEST, ""), -1);
  CHECK_INT(first_at(&t, s, sh->id, AT, start), -1);
  for (int i = 0; i < 10; i++) change(&t, "k", i);
  CHECK_INT(first_at(&t, s, sh->id, OLDEST, ""), 0);
  CHECK_INT(first_at(&t, s, sh->id, LATEST, ""), -1);
  CHECK_INT(first_at(&t, s, sh->id, AT, start), 0);
  CHECK_INT(first_at(&t, s, sh->id, AFTER, start), 0);
  for (int i = 0; i < 10; i++) {
    slp_change_text(sh, (uint64_t)i, number);
    CHECK_INT(first_at(&t, s, sh->id, AT, number), i);
    CHECK_INT(first_at(&t, s, sh->id, AFTER, number), i < 9 ? i + 1 : -1);
  }
  char it[600];
  change_iterator(&t, s, sh->id, LATEST, it);
  change(&t, "k", 10);
  CHECK_HAS(get_changes(&t, it), "\"v\":{\"N\":\"10\"}");
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  slp_change_end_text(sh, end);
  CHECK_INT(first_at(&t, s, sh->id, AT, end), -1);
  CHECK_INT(first_at(&t, s, sh->id, AFTER, end), -1);
  CHECK_INT(first_at(&t, s, sh->id, LATEST, ""), -1);
  bench_close(&t);
}

static int first_at_ms(bench *t, const slp_changes *s, int64_t ms) {
  char at[100];
  snprintf(at, sizeof at, "\"ShardIteratorType\":\"AT_TIMESTAMP\",\"Timestamp\":%lld.%03d",
           (long long)(ms / 1000), (int)(ms % 1000));
  return first_at(t, s, s->shards[0]->id, at, "");
}

/* Stamps are whole seconds: a record of 5.4 s has the stamp 5, and is not at or after 5.1. */
TEST(a_time_leads_to_the_first_record_with_that_stamp_or_a_later_one) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  int64_t second = t.now_ms / 1000 * 1000 + 1000;
  for (int i = 0; i < 10; i++) {
    t.now_ms = second + i * 1000 + 400;
    change(&t, "k", i);
  }
  for (int i = 0; i < 10; i++) {
    CHECK_INT(first_at_ms(&t, s, second + i * 1000), i);
    CHECK_INT(first_at_ms(&t, s, second + i * 1000 + 1), i < 9 ? i + 1 : -1);
  }
  CHECK_INT(first_at_ms(&t, s, second - 86400000), 0); /* older than the trim horizon */
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", second + 5000), 0);
  CHECK_INT(first_at_ms(&t, s, second + 2000), 5);
  CHECK_INT(first_at_ms(&t, s, t.now_ms), -1);
  CHECK_INT(first_at_ms(&t, s, t.now_ms + 1), -2); /* in the future */
  CHECK_HAS(slp_buf_z(&t.answer.body), "com.amazon.coral.validate#ValidationException");
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "no-times", 1), 0);
  CHECK_INT(first_at_ms(&t, s, second + 7000), -2);
  CHECK_HAS(slp_buf_z(&t.answer.body), "com.amazon.coral.validate#ValidationException");
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "no-times", 0), 0);
  CHECK_INT(first_at_ms(&t, s, second + 7000), 7);
  bench_close(&t);
}

TEST(an_iterator_begins_with_its_stream) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  char it[600], arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, "us-east-1", arn);
  change_iterator(&t, s, s->shards[0]->id, OLDEST, it);
  CHECK(strncmp(it, arn, strlen(arn)) == 0);
  CHECK(strncmp(it + strlen(arn), "|1|AAAAA", 8) == 0);
  slp_box_mark m;
  CHECK_INT(slp_changes_mark_read(t.box, slp_str_of(it), &m), 0);
  CHECK_INT(m.stream_uid, s->uid);
  it[strlen(it) - 3] ^= 1;
  CHECK_INT(slp_changes_mark_read(t.box, slp_str_of(it), &m), SLP_EBADDATA);
  CHECK_INT(slp_changes_mark_read(t.box, slp_str_of(arn), &m), SLP_EBADDATA);
  CHECK_INT(slp_changes_mark_read(t.box, (slp_str){NULL, 0}, &m), SLP_EBADDATA);
  bench_close(&t);
}

TEST(numbers_of_elsewhere_are_refused) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  for (int i = 0; i < 3; i++) change(&t, "k", i);
  t.now_ms += 1;
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  for (int i = 3; i < 6; i++) change(&t, "k", i);
  char number[SLP_CHANGE_NUMBER_TEXT];
  const slp_change_shard *parent = s->shards[0], *child = s->shards[1];
  slp_change_text(parent, 1, number);
  CHECK_INT(first_at(&t, s, child->id, AT, number), -2);
  CHECK_HAS(slp_buf_z(&t.answer.body), "com.amazon.coral.validate#ValidationException");
  slp_change_text(child, 1, number);
  CHECK_INT(first_at(&t, s, parent->id, AFTER, number), -2);
  slp_change_text(child, 3, number); /* the record to come */
  CHECK_INT(first_at(&t, s, child->id, AT, number), -2);
  CHECK_INT(first_at(&t, s, child->id, AT, "0000000000000000000000001"), -2);
  CHECK_INT(first_at(&t, s, child->id, AT, "12345678901234567890x1"), -2);
  CHECK_INT(first_at(&t, s, child->id, AT, "12"), -2); /* shorter than any */
  bench_close(&t);
}

TEST(trimmed_numbers_say_so) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  for (int i = 0; i < 10; i++) {
    change(&t, "k", i);
    t.now_ms += 10;
  }
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", T0 + 50), 0);
  char number[SLP_CHANGE_NUMBER_TEXT];
  const slp_change_shard *sh = s->shards[0];
  CHECK_INT(first_at(&t, s, sh->id, OLDEST, ""), 5);
  for (uint64_t place = 0; place < 5; place++) {
    slp_change_text(sh, place, number);
    CHECK_INT(first_at(&t, s, sh->id, AT, number), -2);
    CHECK_HAS(slp_buf_z(&t.answer.body), "com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException");
    CHECK_INT(first_at(&t, s, sh->id, AFTER, number), -2);
  }
  slp_change_start_text(sh, number);
  CHECK_INT(first_at(&t, s, sh->id, AT, number), -2);
  slp_change_text(sh, 5, number);
  CHECK_INT(first_at(&t, s, sh->id, AT, number), 5);
  bench_close(&t);
}

TEST(what_is_missing_or_unknown) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  const char *id = s->shards[0]->id;
  CHECK_HAS(ask_iterator(&t, s, "shardId-00000001795288915743-50c550be", OLDEST),
            "ResourceNotFoundException");
  CHECK_HAS(ask_iterator(&t, s, "shard", OLDEST), "ValidationException");
  CHECK_HAS(ask_iterator(&t, s, id, "\"ShardIteratorType\":\"AT_TIMESTAMP\""), "ValidationException");
  CHECK_HAS(ask_iterator(&t, s, id, OLDEST ",\"Timestamp\":1"), "ValidationException");
  CHECK_HAS(ask_iterator(&t, s, id, "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\""), "ValidationException");
  CHECK_HAS(ask_iterator(&t, s, id, OLDEST ",\"SequenceNumber\":\"123456789012345678901\""),
            "ValidationException");
  CHECK_HAS(ask_iterator(&t, s, id, "\"SequenceNumber\":\"123456789012345678901\""), "ValidationException");
  CHECK_HAS(call_changes(&t, "GetShardIterator",
                         "{\"StreamArn\":\"arn:aws:dynamodb:us-east-1:000000000000:table/Tbl/stream/2020\","
                         "\"ShardId\":\"%s\"," OLDEST "}",
                         id),
            "ResourceNotFoundException");
  bench_close(&t);
}

TEST(the_script_s_third_word) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 2);
  char script[300], it[600];
  change_iterator(&t, s, s->shards[1]->id, OLDEST, it);
  snprintf(script, sizeof script,
           "* GetShardIterator %s error Broken\n* DescribeStream Tbl error Broken\n"
           "* ListStreams Tbl error Broken\n* GetRecords %s error Broken",
           s->shards[0]->id, s->shards[1]->id + 28);
  CHECK_INT(slp_box_faults(t.box, script, NULL), 0);
  CHECK_HAS(ask_iterator(&t, s, s->shards[0]->id, OLDEST), "Broken");
  CHECK_LACKS(ask_iterator(&t, s, s->shards[1]->id, OLDEST), "Broken");
  CHECK_HAS(describe(&t, s, ""), "Broken");
  CHECK_HAS(call_changes(&t, "ListStreams", "{\"TableName\":\"Tbl\"}"), "Broken");
  CHECK_LACKS(call_changes(&t, "ListStreams", "{}"), "Broken");
  CHECK_HAS(get_changes(&t, it), "Broken");
  char other[600];
  change_iterator(&t, s, s->shards[1]->id, LATEST, other);
  CHECK_INT(slp_box_faults(t.box, NULL, NULL), 0);
  CHECK_LACKS(get_changes(&t, it), "Broken");
  bench_close(&t);
}
