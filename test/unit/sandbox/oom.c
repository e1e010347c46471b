/* oom.c - every allocation of a tour through the model fails once, and from some point on: each call
 * still gets an answer or an error, and all memory comes back. */
#include "sandbox_changes.h"
#include "scarce.h"

static slp_u128 hash_keys_of(slp_u128 from, slp_u128 to) {
  return slp_u128_add(slp_u128_sub(to, from), SLP_U128(1));
}

static int one_call(bench *t, const char *operation, const char *type, slp_str body) {
  ask(t, operation, type, body);
  int status = t->answer.status;
  CHECK(status == 200 || status == 400 || status == 500);
  if (status == 400) CHECK_LACKS(slp_buf_z(&t->answer.body), "SerializationException");
  return status == 200;
}

#define JSON_CALL(t, operation, text) one_call((t), (operation), JSON_TYPE, SLP_STR(text))

/* Reads one page of a shard in both forms; nothing when there is no iterator. */
static void read_page(bench *t, const char *stream) {
  char body[700];
  snprintf(body, sizeof body, "{\"StreamName\":\"%s\",\"ShardId\":\"shardId-000000000000\"," OLDEST "}",
           stream);
  if (!one_call(t, "GetShardIterator", JSON_TYPE, slp_str_of(body))) return;
  char it[600];
  member(slp_buf_z(&t->answer.body), "ShardIterator", it);
  snprintf(body, sizeof body, "{\"ShardIterator\":\"%s\"}", it);
  one_call(t, "GetRecords", JSON_TYPE, slp_str_of(body));
  snprintf(body, sizeof body, "\xa1\x6dShardIterator\x78\xe0%s", it);
  one_call(t, "GetRecords", CBOR_TYPE, slp_str_of(body));
}

static void call_streams(bench *t, const char *operation, const char *body) {
  call_changes(t, operation, "%s", body);
  CHECK(t->answer.status == 200 || t->answer.status == 400 || t->answer.status == 500);
  if (t->answer.status == 400) CHECK_LACKS(slp_buf_z(&t->answer.body), "SerializationException");
}

/* A table's stream: made, written to, rolled over, read, trimmed. */
static void tour_of_changes(bench *t) {
  char arn[SLP_CHANGES_ARN], body[1200], it[600];
  slp_str none = {NULL, 0}, keys = SLP_STR("{\"id\":{\"S\":\"a\"}}");
  slp_box_table(t->box, t->now_ms, "table", 2, "NEW_AND_OLD_IMAGES");
  slp_box_add_change(t->box, t->now_ms, "table", keys, none, keys, 0);
  slp_box_roll(t->box, t->now_ms, "table", 1);
  slp_box_add_change(t->box, t->now_ms, "table", keys, keys, keys, 0);
  slp_box_faults(t->box, "1 ListStreams table drop\n1 DescribeStream table delay 1", NULL);
  call_streams(t, "ListStreams", "{\"TableName\":\"table\"}");
  slp_changes *s = slp_changes_latest(t->box, SLP_STR("table"));
  if (!s || s->status != SLP_CHANGES_ENABLED) return;
  slp_changes_arn(s, "us-east-1", arn);
  snprintf(body, sizeof body, "{\"StreamArn\":\"%s\"}", arn);
  call_streams(t, "DescribeStream", body);
  for (uint32_t i = 0; i < s->shards_n; i++) {
    snprintf(body, sizeof body, "{\"StreamArn\":\"%s\",\"ShardId\":\"%s\"," OLDEST "}", arn,
             s->shards[i]->id);
    call_streams(t, "GetShardIterator", body);
    if (t->answer.status != 200) continue;
    member(slp_buf_z(&t->answer.body), "ShardIterator", it);
    snprintf(body, sizeof body, "{\"ShardIterator\":\"%s\"}", it);
    call_streams(t, "GetRecords", body);
  }
  slp_box_trim_table(t->box, t->now_ms, "table", t->now_ms + 1);
  slp_u128 covered = {0, 0};
  for (uint32_t i = 0; i < s->open_n; i++) {
    const slp_change_shard *sh = s->shards[s->open[i]];
    covered = slp_u128_add(covered, hash_keys_of(sh->hash_start, sh->hash_end));
  }
  CHECK(slp_u128_eq(covered, SLP_U128(0))); /* 2^128: whatever failed, every key has its shard */
}

static void tour(bench *t) {
  slp_box_stream(t->box, t->now_ms, "s", 3);
  JSON_CALL(t, "CreateStream", "{\"StreamName\":\"t\",\"ShardCount\":9}");
  JSON_CALL(t, "PutRecord",
            "{\"StreamName\":\"s\",\"Data\":\"aGVsbG8=\",\"PartitionKey\":\"k\",\"ExplicitHashKey\":\"0\"}");
  slp_box_put(t->box, t->now_ms, "s", SLP_STR("k"), SLP_STR("data"), NULL, NULL);
  read_page(t, "s");
  JSON_CALL(t, "SplitShard",
            "{\"StreamName\":\"s\",\"ShardToSplit\":\"shardId-000000000000\",\"NewStartingHashKey\":\"7\"}");
  JSON_CALL(t, "UpdateShardCount",
            "{\"StreamName\":\"t\",\"TargetShardCount\":5,\"ScalingType\":\"UNIFORM_SCALING\"}");
  JSON_CALL(t, "ListShards", "{\"StreamName\":\"t\",\"MaxResults\":1}");
  JSON_CALL(t, "DescribeStream", "{\"StreamName\":\"t\"}");
  JSON_CALL(t, "ListStreams", "{}");
  slp_box_synthetic(t->box, t->now_ms, "y", 2, 300, 50, 0, 1);
  slp_box_split(t->box, t->now_ms, "y", "shardId-000000000001", NULL);
  slp_box_faults(t->box, "1 GetRecords * gzip\n1 GetRecords 0 body hello\n2 PutRecord * error X:400:y", NULL);
  read_page(t, "y");
  read_page(t, "s");
  slp_box_trim(t->box, t->now_ms + 5, "s", t->now_ms + 1);
  JSON_CALL(t, "DeleteStream", "{\"StreamName\":\"t\"}");
  tour_of_changes(t);
  /* whatever failed, the open shards of a stream still tile the ring */
  slp_stream *s = slp_box_find(t->box, SLP_STR("s"));
  slp_u128 covered = {0, 0};
  for (uint32_t i = 0; s && i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    if (slp_box_shard_open(sh)) covered = slp_u128_add(covered, hash_keys_of(sh->hash_start, sh->hash_end));
  }
  CHECK(slp_u128_eq(covered, SLP_U128(0))); /* 2^128 */
}

/* 1 when an allocation failed. */
static int run(int64_t fail_at, int for_ever) {
  scarce memory = {.left = fail_at - 1, .once = !for_ever};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  if (!mem) return 1;
  sloop_sandbox_opts_t o = free_opts();
  o.access_key = NULL;
  bench t = {.mem = mem, .now_ms = T0, .box = slp_box_new(mem, &o, 7)};
  if (t.box) {
    slp_buf_init(&t.answer.body, mem, 64u << 20);
    tour(&t);
    slp_buf_free(&t.answer.body);
    slp_box_free(t.box);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return memory.failed > 0;
}

TEST(one_allocation_fails) {
  int64_t n = 1;
  while (run(n, 0)) n++;
  CHECK(n > 50);
}

TEST(all_allocations_from_one_on_fail) {
  int64_t n = 1;
  while (run(n, 1)) n++;
  CHECK(n > 50);
}
