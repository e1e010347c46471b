/* fuzz_listing.c - the small answers of Kinesis and DynamoDB Streams: listings of shards against jansson, in
 * both shapes and slices of any number of rows; descriptions and iterators must only end, and stay inside
 * what they were given. */
#include "aws/answers.h"
#include "aws/kinesis.h"
#include "aws/streams.h"

#include "fuzz.h"
#if SLP_HAVE_JANSSON
#include "beyond_jansson.h"
#endif

static const slp_list_shape shapes[] = {
    {.next = "NextToken"},
    {.inside = "StreamDescription", .next = "LastEvaluatedShardId", .status = "StreamStatus"}};

static int read_in_slices(slp_op_list_shards *op, slp_mem *mem, const slp_list_shape *shape,
                          const uint8_t *data, size_t size, size_t rows_max) {
  slp_list_reader r;
  int verdict;
  size_t calls = 0;
  slp_op_list_init(op, mem);
  REQUIRE(slp_buf_add(&op->body, data, size) == 0);
  slp_list_reader_begin(&r, op, shape);
  do {
    verdict = slp_list_read(&r, op, rows_max);
    REQUIRE(++calls < size + 10);
  } while (verdict == SLP_MORE);
  REQUIRE(verdict == 0 || verdict == SLP_EBADDATA || verdict == SLP_ELIMIT);
  if (verdict) REQUIRE(r.why[0] || verdict == SLP_ELIMIT);
  return verdict;
}

static void same(const slp_op_list_shards *a, slp_str s, const slp_op_list_shards *b, slp_str t) {
  REQUIRE(!s.p == !t.p && slp_str_eq(s, t));
  if (!s.n) return;
  REQUIRE(s.p >= a->body.p && s.p + s.n <= a->body.p + a->body.n);
  REQUIRE(s.p - a->body.p == t.p - b->body.p);
}

static void same_listing(const slp_op_list_shards *a, const slp_op_list_shards *b) {
  REQUIRE(a->shards_n == b->shards_n && a->stream_ended == b->stream_ended);
  same(a, a->ret_next, b, b->ret_next);
  for (size_t i = 0; i < a->shards_n; i++) {
    const slp_shard_desc *c = &a->shards[i], *d = &b->shards[i];
    REQUIRE(c->id.n >= 1 && c->id.n <= 128);
    same(a, c->id, b, d->id);
    same(a, c->parent, b, d->parent);
    same(a, c->adjacent_parent, b, d->adjacent_parent);
    same(a, c->hash_start, b, d->hash_start);
    same(a, c->hash_end, b, d->hash_end);
    same(a, c->seq_start, b, d->seq_start);
    same(a, c->seq_end, b, d->seq_end);
  }
}

#if SLP_HAVE_JANSSON
/* An empty name is as good as none. */
static void same_name(const json_t *value, slp_str ours) {
  size_t n = json_is_string(value) ? json_string_length(value) : 0;
  REQUIRE(ours.n == n && !ours.p == !n);
  if (n) REQUIRE(memcmp(json_string_value(value), ours.p, n) == 0);
}

static void judge_row(const slp_shard_desc *d, const json_t *row) {
  const json_t *hashes = json_object_get(row, "HashKeyRange"),
               *range = json_object_get(row, "SequenceNumberRange");
  same_name(json_object_get(row, "ShardId"), d->id);
  same_name(json_object_get(row, "ParentShardId"), d->parent);
  same_name(json_object_get(row, "AdjacentParentShardId"), d->adjacent_parent);
  same_name(json_object_get(hashes, "StartingHashKey"), d->hash_start);
  same_name(json_object_get(hashes, "EndingHashKey"), d->hash_end);
  same_name(json_object_get(range, "StartingSequenceNumber"), d->seq_start);
  same_name(json_object_get(range, "EndingSequenceNumber"), d->seq_end);
}

/* Where no member is given twice. */
static void judge(const slp_op_list_shards *op, const slp_list_shape *shape, const uint8_t *data,
                  size_t size) {
  json_error_t e;
  json_t *answer = json_loadb((const char *)data, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &e);
  if (!answer) {
    REQUIRE(beyond_jansson(&e) || json_error_code(&e) == json_error_duplicate_key);
    return;
  }
  const json_t *list = shape->inside ? json_object_get(answer, shape->inside) : answer;
  const json_t *rows = json_object_get(list, "Shards");
  REQUIRE(json_is_array(rows) && json_array_size(rows) == op->shards_n);
  for (size_t i = 0; i < op->shards_n; i++) judge_row(&op->shards[i], json_array_get(rows, i));
  same_name(json_object_get(list, shape->next), op->ret_next);
  const char *status = shape->status ? json_string_value(json_object_get(list, shape->status)) : NULL;
  REQUIRE(op->stream_ended == (status && strcmp(status, "DISABLED") == 0));
  json_decref(answer);
}
#endif

static void read_listing(slp_mem *mem, const slp_list_shape *shape, const uint8_t *data, size_t size) {
  slp_op_list_shards whole;
  int verdict = read_in_slices(&whole, mem, shape, data, size, 1000000);
  for (size_t rows = 1; rows < 9; rows *= 2) {
    slp_op_list_shards sliced;
    REQUIRE(read_in_slices(&sliced, mem, shape, data, size, rows) == verdict);
    if (verdict == 0) same_listing(&whole, &sliced);
    slp_op_list_free(&sliced);
  }
#if SLP_HAVE_JANSSON
  if (verdict == 0) judge(&whole, shape, data, size);
#endif
  slp_op_list_free(&whole);
}

static void read_small(slp_mem *mem, const uint8_t *data, size_t size) {
  int (*const describe[])(slp_str, slp_op_describe *, const char **) = {
      slp_kinesis_read_describe, slp_streams_read_describe, slp_streams_read_table};
  for (size_t i = 0; i < SLP_COUNT(describe); i++) {
    char *body = fuzz_copy(data, size);
    slp_op_describe d = {.created_ms = -1};
    const char *why;
    int r = describe[i]((slp_str){body, size}, &d, &why);
    REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
    REQUIRE(memchr(d.ret_name, 0, sizeof d.ret_name) && memchr(d.ret_arn, 0, sizeof d.ret_arn));
    free(body);
  }
  char *body = fuzz_copy(data, size);
  slp_op_iterator it = {.kind = SLP_ITER_OLDEST};
  const char *why;
  slp_buf_init(&it.iterator, mem, 4096);
  int r = slp_read_iterator((slp_str){body, size}, &it, &why);
  REQUIRE((r == 0) == (it.iterator.n > 0) && it.iterator.n <= 4096);
  slp_buf_free(&it.iterator);
  free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  for (size_t i = 0; i < SLP_COUNT(shapes); i++) read_listing(mem, &shapes[i], data, size);
  read_small(mem, data, size);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
