/* sandbox_changes.h - what the tests of tables' streams share: a box with a table, changes, calls. */
#ifndef SLP_TEST_SANDBOX_CHANGES_H
#define SLP_TEST_SANDBOX_CHANGES_H

#include "sandbox/changes.h"
#include "sandbox_box.h"

/* No limits, nothing rolls over by itself, changes take no time. */
static inline sloop_sandbox_opts_t free_change_opts(void) {
  sloop_sandbox_opts_t o = free_opts();
  o.roll_ms = 0;
  o.change_readers_max = o.change_reads_per_second = 0;
  o.describes_per_second = o.lists_per_second = 0;
  return o;
}

/* A box with a table T and its stream. */
static inline slp_changes *open_table(bench *t, const sloop_sandbox_opts_t *o, uint32_t partitions) {
  sloop_sandbox_opts_t plain = free_change_opts();
  bench_open(t, o ? o : &plain);
  CHECK_INT(slp_box_table(t->box, t->now_ms, "Tbl", partitions, "NEW_AND_OLD_IMAGES"), 0);
  slp_changes *s = slp_changes_latest(t->box, SLP_STR("Tbl"));
  CHECK(s != NULL);
  return s;
}

/* An item of that key comes (with its number as attribute v). */
static inline void change(bench *t, const char *key, int v) {
  char keys[200], image[300];
  snprintf(keys, sizeof keys, "{\"id\":{\"S\":\"%s\"}}", key);
  snprintf(image, sizeof image, "{\"id\":{\"S\":\"%s\"},\"v\":{\"N\":\"%d\"}}", key, v);
  CHECK_INT(slp_box_add_change(t->box, t->now_ms, "Tbl", slp_str_of(keys), (slp_str){NULL, 0},
                               slp_str_of(image), 0),
            0);
}

static inline const char *call_changes(bench *t, const char *operation, const char *fmt, ...)
    SLP_PRINTF(3, 4);
static inline const char *call_changes(bench *t, const char *operation, const char *fmt, ...) {
  char body[4096], target[80];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(body, sizeof body, fmt, args);
  va_end(args);
  CHECK(n >= 0 && (size_t)n < sizeof body);
  snprintf(target, sizeof target, "DynamoDBStreams_20120810.%s", operation);
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("localhost"),
                        .target = slp_str_of(target),
                        .content_type = SLP_STR("application/x-amz-json-1.0"),
                        .body = {body, (size_t)n}};
  slp_buf_clear(&t->answer.body);
  slp_box_handle(t->box, t->now_ms, &rq, &t->answer);
  return slp_buf_z(&t->answer.body);
}

static inline const char *describe(bench *t, const slp_changes *s, const char *rest) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, "us-east-1", arn);
  return call_changes(t, "DescribeStream", "{\"StreamArn\":\"%s\"%s}", arn, rest);
}

/* rest: the type, and the number where there is one. The text of the answer. */
static inline const char *ask_iterator(bench *t, const slp_changes *s, const char *shard, const char *rest) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, "us-east-1", arn);
  return call_changes(t, "GetShardIterator", "{\"StreamArn\":\"%s\",\"ShardId\":\"%s\",%s}", arn, shard,
                      rest);
}

static inline const char *change_iterator(bench *t, const slp_changes *s, const char *shard, const char *rest,
                                          char room[600]) {
  const char *json = ask_iterator(t, s, shard, rest);
  if (t->answer.status != 200) CHECK_FAIL("no iterator: %s", json);
  return member(json, "ShardIterator", room);
}

static inline const char *get_changes(bench *t, const char *shard_iterator) {
  return call_changes(t, "GetRecords", "{\"ShardIterator\":\"%s\"}", shard_iterator);
}

/* The whole shard from its oldest record on, without its pages' frames, into `all`. Returns whether it ended.
 */
static inline int read_shard_through(bench *t, const slp_changes *s, const char *shard, slp_buf *all) {
  char at[600];
  change_iterator(t, s, shard, OLDEST, at);
  for (;;) {
    const char *page = get_changes(t, at);
    if (t->answer.status != 200) CHECK_FAIL("no page: %s", page);
    CHECK_INT(slp_buf_add_z(all, page), 0);
    if (!strstr(page, "NextShardIterator")) return 1;
    if (!strstr(page, "eventID")) return 0;
    member(page, "NextShardIterator", at);
  }
}

#endif
