/* hostile_pace.c - every operation of Kinesis, DynamoDB and DynamoDB Streams is answered wrongly, with each wrong
 * answer there is, from the first call on or once all is well, to a whole consumer in virtual time: how often
 * each operation is called in any second, how many turns and how much memory that costs is bounded.
 *
 *   hostile_pace               all of them
 *   hostile_pace sample N      one of N
 *   hostile_pace show TEXT     those whose names hold TEXT, with what they cost */
#include "../check.h"
#include "wire/junk.h"
#include "hostile_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define SECONDS 25
#define LEASED_LATER_SECONDS 90 /* a fleet lists its shards, and its whole table, once a minute */
#define LATER_S 8

/* row of junks, or -1: by write */
typedef struct wrong {
  int row;
  int (*write)(run *r, slp_buf *to); /* the status */
} wrong;

static void say_junk(run *r, slp_sim_reply *reply) {
  const junk *j = &junks[((const wrong *)r->arg)->row];
  slp_buf_clear(&reply->body);
  reply->content_type[0] = reply->error_type[0] = 0;
  reply->date_ms = -1;
  if (j->error == UV_ETIMEDOUT) reply->silent = 1;
  if (j->error) reply->drop = 1;
  reply->status = j->status;
  CHECK_INT(slp_buf_add_z(&reply->body, j->error ? "" : j->text), 0);
}

static void say(run *r, slp_sim_reply *reply) {
  const wrong *a = r->arg;
  if (a->row >= 0) {
    say_junk(r, reply);
    return;
  }
  slp_buf_clear(&reply->body);
  reply->error_type[0] = 0;
  snprintf(reply->content_type, sizeof reply->content_type, "application/x-amz-json-1.1");
  reply->status = a->write(r, &reply->body);
}

/* ---- wrong answers that can be read ---------------------------------------------------------------------- */
static int add(slp_buf *to, const char *fmt, ...) SLP_PRINTF(2, 3);
static int add(slp_buf *to, const char *fmt, ...) {
  char text[1000];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  CHECK(n >= 0 && n < (int)sizeof text);
  CHECK_INT(slp_buf_add(to, text, (size_t)n), 0);
  return 200;
}

static void pad(slp_buf *to, size_t bytes) {
  CHECK_INT(slp_buf_reserve(to, bytes), 0);
  memset(to->p + to->n, 'x', bytes);
  to->n += bytes;
}

static void shards(slp_buf *to, uint64_t from, int n) {
  add(to, "\"Shards\":[");
  for (int i = 0; i < n; i++)
    add(to, "%s{\"ShardId\":\"shardId-%012llu\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"}}",
        i ? "," : "", (unsigned long long)(from + (uint64_t)i));
  add(to, "]");
}

/* A page of a listing of shards. */
static int listing(const run *r, slp_buf *to, uint64_t from, int n, const char *token, size_t padding) {
  add(to, r->streams ? "{\"StreamDescription\":{\"StreamArn\":\"a\",\"StreamStatus\":\"ENABLED\"," : "{");
  shards(to, from, n);
  if (padding) {
    add(to, ",\"X\":\"");
    pad(to, padding);
    add(to, "\"");
  }
  add(to, ",\"%s\":\"%s\"}", r->streams ? "LastEvaluatedShardId" : "NextToken", token);
  return add(to, r->streams ? "}" : "");
}

static const char *token_of(uint64_t n) {
  static char text[60];
  snprintf(text, sizeof text, "shardId-%020llu-xxxx", (unsigned long long)n);
  return text;
}

static int shards_endless(run *r, slp_buf *to) { return listing(r, to, r->n * 100, 100, token_of(r->n), 0); }
static int shards_endless_huge(run *r, slp_buf *to) {
  return listing(r, to, r->n, 1, token_of(r->n), 15u << 20);
}
static int shards_endless_empty(run *r, slp_buf *to) { return listing(r, to, 0, 0, token_of(r->n), 0); }
static int shards_same_token(run *r, slp_buf *to) {
  return listing(r, to, r->n, 1, "shardId-same-token-xxxx", 0);
}
static int shards_two_tokens(run *r, slp_buf *to) { return listing(r, to, r->n, 1, token_of(r->n % 2), 0); }
/* Each is the child of the one that follows it: 20,000 reshards of one shard, the newest first. */
static int shards_reversed(run *r, slp_buf *to) {
  enum { N = 20000 };
  add(to, r->streams ? "{\"StreamDescription\":{\"StreamArn\":\"a\",\"StreamStatus\":\"ENABLED\",\"Shards\":["
                     : "{\"Shards\":[");
  for (int i = N - 1; i >= 0; i--) {
    add(to, "{\"ShardId\":\"shardId-%012d\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"%s}", i,
        i == N - 1 ? "" : ",\"EndingSequenceNumber\":\"2\"");
    if (i) add(to, ",\"ParentShardId\":\"shardId-%012d\"", i - 1);
    add(to, i ? "}," : "}");
  }
  return add(to, r->streams ? "]}}" : "]}");
}
/* The stream that the call asked for, in quotes. */
static slp_str asked_arn(const run *r) {
  static const char member[] = "\"StreamArn\":";
  const char *p = memmem(r->asked.p, r->asked.n, member, sizeof member - 1);
  CHECK(p);
  p += sizeof member - 1;
  const char *end = memchr(p + 1, '"', (size_t)(r->asked.p + r->asked.n - p - 1));
  CHECK(end);
  return (slp_str){p, (size_t)(end + 1 - p)};
}

/* Two shards are each other's parents. All else is as it is, so that this is what is complained of. */
static int shards_circle(run *r, slp_buf *to) {
  static const char range[] = "\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"}";
  if (r->streams) {
    slp_str arn = asked_arn(r);
    add(to, "{\"StreamDescription\":{\"StreamArn\":%.*s,\"StreamStatus\":\"ENABLED\",\"Shards\":[",
        (int)arn.n, arn.p);
  } else {
    add(to, "{\"Shards\":[");
  }
  add(to, "{\"ShardId\":\"shardId-000000000000\",\"ParentShardId\":\"shardId-000000000001\",%s},", range);
  add(to, "{\"ShardId\":\"shardId-000000000001\",\"ParentShardId\":\"shardId-000000000000\",%s}", range);
  return add(to, r->streams ? "]}}" : "]}");
}
static int shards_same_shard(run *r, slp_buf *to) { return listing(r, to, 7, 1, token_of(r->n), 0); }
static int shards_others_each_time(run *r, slp_buf *to) { return listing(r, to, r->n * 5, 5, "", 0); }

static int rows(slp_buf *to, uint64_t from, int n, size_t padding, const char *key) {
  add(to, "{\"Items\":[");
  for (int i = 0; i < n; i++) {
    add(to, "%s{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"l/shardId-%llu\"},\"x\":{\"S\":\"", i ? "," : "",
        (unsigned long long)(from + (uint64_t)i));
    pad(to, padding);
    add(to, "\"}}");
  }
  add(to, "],\"Count\":%d", n);
  if (key) add(to, ",\"LastEvaluatedKey\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"%s\"}}", key);
  return add(to, "}");
}
static int rows_endless(run *r, slp_buf *to) { return rows(to, r->n * 100, 100, 10, token_of(r->n)); }
static int rows_endless_large(run *r, slp_buf *to) { return rows(to, r->n, 1, 1u << 20, token_of(r->n)); }
static int rows_endless_empty(run *r, slp_buf *to) { return rows(to, 0, 0, 0, token_of(r->n)); }
static int rows_same_key(run *r, slp_buf *to) {
  (void)r;
  return rows(to, 1, 1, 10, "the same");
}
static int rows_two_keys(run *r, slp_buf *to) { return rows(to, r->n, 1, 10, token_of(r->n % 2)); }

/* Rows whose sets have as many members as are taken, the last first. */
static int sets(slp_buf *to, int rows_n, int sets_n) {
  enum { MEMBERS = 4096 };
  slp_buf set;
  slp_buf_init(&set, to->mem, MEMBERS * 8);
  for (int i = MEMBERS; i-- > 0;) add(&set, "%s\"%04x\"", i == MEMBERS - 1 ? "" : ",", (unsigned)i);
  add(to, "{\"Items\":[");
  for (int i = 0; i < rows_n; i++) {
    add(to, "%s{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"l/shardId-%d\"}", i ? "," : "", i);
    for (int k = 0; k < sets_n; k++) {
      add(to, ",\"s%d\":{\"SS\":[", k);
      slp_buf_add_str(to, slp_buf_str(&set));
      add(to, "]}");
    }
    add(to, "}");
  }
  slp_buf_free(&set);
  return add(to, "],\"Count\":%d}", rows_n);
}
static int rows_of_sets(run *r, slp_buf *to) {
  (void)r;
  return sets(to, 40, 1);
}
static int row_of_sets(run *r, slp_buf *to) {
  (void)r;
  return sets(to, 1, 250);
}
static int rows_none(run *r, slp_buf *to) {
  (void)r;
  return rows(to, 0, 0, 0, NULL);
}

static int nothing(run *r, slp_buf *to) {
  (void)r;
  return add(to, "{}");
}
static int unprocessed(run *r, slp_buf *to) {
  (void)r;
  return add(
      to,
      "{\"Responses\":{\"sloop-leases\":[]},\"UnprocessedKeys\":{\"sloop-leases\":{\"Keys\":[{\"pk\":{\"S\":"
      "\"a\"},\"sk\":{\"S\":\"b\"}}]}}}");
}
static int fail(slp_buf *to, const char *code) {
  add(to, "{\"__type\":\"%s\",\"message\":\"no\"}", code);
  return 400;
}
#define FAILS(name, code)                \
  static int name(run *r, slp_buf *to) { \
    (void)r;                             \
    return fail(to, code);               \
  }
FAILS(refused_condition, "ConditionalCheckFailedException")
FAILS(expired_iterator, "ExpiredIteratorException")
FAILS(expired_token, "ExpiredNextTokenException")
FAILS(no_such, "ResourceNotFoundException")
FAILS(in_use, "ResourceInUseException")
FAILS(throttled, "ProvisionedThroughputExceededException")
FAILS(limited, "LimitExceededException")
FAILS(invalid, "InvalidArgumentException")
FAILS(validation, "ValidationException")
FAILS(expired_keys, "ExpiredTokenException")
FAILS(bad_signature, "InvalidSignatureException")
FAILS(denied, "AccessDeniedException")
FAILS(trimmed, "TrimmedDataAccessException")
FAILS(unknown_op, "UnknownOperationException")
FAILS(internal, "InternalServerError")

static int table_is(slp_buf *to, const char *status) {
  return add(
      to,
      "{\"Table\":{\"TableStatus\":\"%s\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
      "{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],\"AttributeDefinitions\":[]}}",
      status);
}
static int table_creating(run *r, slp_buf *to) {
  (void)r;
  return table_is(to, "CREATING");
}
static int stream_is(slp_buf *to, const char *status, uint64_t created) {
  return add(
      to,
      "{\"StreamDescriptionSummary\":{\"StreamName\":\"orders\",\"StreamARN\":\"arn:x\",\"StreamStatus\":"
      "\"%s\",\"RetentionPeriodHours\":24,\"StreamCreationTimestamp\":%llu,\"OpenShardCount\":1}}",
      status, (unsigned long long)created);
}
static int stream_creating(run *r, slp_buf *to) {
  (void)r;
  return stream_is(to, "CREATING", 1);
}
static int stream_another_each_time(run *r, slp_buf *to) { return stream_is(to, "ACTIVE", 1000 + r->n * 60); }

static int page(slp_buf *to, const char *records, const char *next, const char *more) {
  add(to, "{\"Records\":[%s]%s", records, more);
  if (next) add(to, ",\"NextShardIterator\":\"%s\"", next);
  return add(to, "}");
}
static int page_empty_behind(run *r, slp_buf *to) {
  return page(to, "", token_of(r->n), ",\"MillisBehindLatest\":100000");
}
static int page_empty_same_iterator(run *r, slp_buf *to) {
  (void)r;
  return page(to, "", "same", ",\"MillisBehindLatest\":100000");
}
static int page_no_next(run *r, slp_buf *to) {
  (void)r;
  return page(to, "", NULL, ",\"MillisBehindLatest\":0");
}
static int page_own_child(run *r, slp_buf *to) {
  return page(to, "", NULL,
              r->streams
                  ? ""
                  : ",\"MillisBehindLatest\":0,\"ChildShards\":[{\"ShardId\":\"shardId-000000000000\","
                    "\"ParentShards\":[\"shardId-000000000000\"],\"HashKeyRange\":{\"StartingHashKey\":\"0\","
                    "\"EndingHashKey\":\"1\"}}]");
}
static int page_new_child(run *r, slp_buf *to) {
  char more[300];
  snprintf(more, sizeof more,
           ",\"MillisBehindLatest\":0,\"ChildShards\":[{\"ShardId\":\"shardId-%012llu\",\"ParentShards\":["
           "\"shardId-000000000000\"],\"HashKeyRange\":{\"StartingHashKey\":\"0\",\"EndingHashKey\":\"1\"}}]",
           (unsigned long long)r->n + 100);
  return page(to, "", NULL, more);
}
static int page_same_record(run *r, slp_buf *to) {
  return page(to,
              r->streams
                  ? "{\"eventID\":\"1\",\"eventName\":\"INSERT\",\"dynamodb\":{\"SequenceNumber\":\"100\","
                    "\"Keys\":{\"id\":{\"S\":\"a\"}},\"SizeBytes\":3}}"
                  : "{\"Data\":\"MA==\",\"PartitionKey\":\"a\",\"SequenceNumber\":\"100\","
                    "\"ApproximateArrivalTimestamp\":1.5}",
              token_of(r->n), ",\"MillisBehindLatest\":100000");
}
static int same_iterator(run *r, slp_buf *to) {
  (void)r;
  return add(to, "{\"ShardIterator\":\"x\"}");
}

typedef struct answer {
  const char *op, *name; /* op "": any of them */
  int (*write)(run *r, slp_buf *to);
} answer;
#define A(op, write) \
  { op, #write, write }
static const answer answers[] = {
    A("", nothing),
    A("", no_such),
    A("", throttled),
    A("", limited),
    A("", invalid),
    A("", validation),
    A("", expired_keys),
    A("", bad_signature),
    A("", denied),
    A("", unknown_op),
    A("", internal),
    A("", in_use),
    A("ListShards", shards_endless),
    A("ListShards", shards_endless_huge),
    A("ListShards", shards_endless_empty),
    A("ListShards", shards_same_token),
    A("ListShards", shards_two_tokens),
    A("ListShards", shards_same_shard),
    A("ListShards", shards_others_each_time),
    A("ListShards", shards_reversed),
    A("ListShards", shards_circle),
    A("ListShards", expired_token),
    A("DescribeStream", shards_endless),
    A("DescribeStream", shards_endless_huge),
    A("DescribeStream", shards_endless_empty),
    A("DescribeStream", shards_same_token),
    A("DescribeStream", shards_two_tokens),
    A("DescribeStream", shards_same_shard),
    A("DescribeStream", shards_others_each_time),
    A("DescribeStream", shards_circle),
    A("DescribeStreamSummary", stream_creating),
    A("DescribeStreamSummary", stream_another_each_time),
    A("GetShardIterator", expired_iterator),
    A("GetShardIterator", trimmed),
    A("GetShardIterator", same_iterator),
    A("GetRecords", expired_iterator),
    A("GetRecords", trimmed),
    A("GetRecords", page_empty_behind),
    A("GetRecords", page_empty_same_iterator),
    A("GetRecords", page_no_next),
    A("GetRecords", page_own_child),
    A("GetRecords", page_new_child),
    A("GetRecords", page_same_record),
    A("Query", rows_endless),
    A("Query", rows_endless_large),
    A("Query", rows_of_sets),
    A("Query", row_of_sets),
    A("Query", rows_endless_empty),
    A("Query", rows_same_key),
    A("Query", rows_two_keys),
    A("Query", rows_none),
    A("Scan", rows_endless),
    A("Scan", rows_endless_large),
    A("Scan", rows_of_sets),
    A("Scan", row_of_sets),
    A("Scan", rows_endless_empty),
    A("Scan", rows_same_key),
    A("Scan", rows_two_keys),
    A("Scan", rows_none),
    A("BatchGetItem", unprocessed),
    A("UpdateItem", refused_condition),
    A("PutItem", refused_condition),
    A("DeleteItem", refused_condition),
    A("DescribeTable", table_creating),
};

typedef struct setting {
  const char *name, *schema;
  uint8_t streams;
  const char *ops[16];
} setting;
static const setting settings[] = {
    {"kinesis", NULL, 0, {"DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords"}},
    {"sloop",
     "sloop",
     0,
     {"DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords", "DescribeTable", "CreateTable",
      "GetItem", "BatchGetItem", "Query", "UpdateItem", "PutItem", "DeleteItem"}},
    {"kcl",
     "kcl",
     0,
     {"ListShards", "DescribeTable", "CreateTable", "GetItem", "BatchGetItem", "Scan", "UpdateItem",
      "PutItem", "DeleteItem"}},
    {"changes", NULL, 1, {"DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"}},
    {"changes-leased", "sloop", 1, {"DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"}},
};

/* Rows of junk that come out the same for a host are one. */
static int junk_seen(int row) {
  for (int i = 0; i < row; i++)
    if (junks[i].error == junks[row].error && junks[i].status == junks[row].status &&
        (junks[i].error || strcmp(junks[i].text, junks[row].text) == 0))
      return 1;
  return 0;
}

static sums all;
/* One of `every` is played, diagonally through operations and answers: see rows.c. */
static uint32_t every = 1, operations, played[SLP_COUNT(junks)];

/* What on_error has to say at last. */
static const char *cause_of(const setting *s, const answer *a) {
  if (a && a->write == shards_circle) return "its own ancestor";
  if (a && a->write == rows_same_key) return "the pages would never end";
  if (a && a->write == rows_none && s->schema)
    return strcmp(s->schema, "sloop") == 0 ? "lacks the row of" : "the list of all leases is empty";
  if (a && a->write == rows_endless_empty) return "there is always a next one";
  return NULL;
}

static void once(const setting *s, const char *op, const answer *a, int row, int later, uint32_t number,
                 const char *only) {
  wrong wrong_one = {.row = row, .write = a ? a->write : NULL};
  int listed = strcmp(op, "ListShards") == 0 || strcmp(op, "DescribeStream") == 0 || strcmp(op, "Query") == 0;
  run r = {.op = op,
           .say = say,
           .arg = &wrong_one,
           .from_us = later ? LATER_S * 1000000u : 0,
           .seconds = later && listed && s->schema ? LEASED_LATER_SECONDS : SECONDS,
           .cause = cause_of(s, a),
           .by_kin = a && a->write == shards_reversed,
           .many = a && a->write == shards_reversed,
           .schema = s->schema,
           .streams = s->streams};
  char name[200];
  snprintf(name, sizeof name, "%s %s %s %s", s->name, op, a ? a->name : junks[row].name,
           later ? "later" : "first");
  int of_parts = a && a->write == rows_endless_large && later && s->schema; /* 16 lists at a time */
  int mended = r.many || r.cause || of_parts; /* seen once, and cheap: every sample has it */
  if ((only && !strstr(name, only)) || (number % every && !mended)) return;
  if (!a) played[row]++;
  if (s->schema && r.by_kin) return; /* 20,000 leases are made of them, as they should be */
  slp_hostile_play(&r);
  slp_hostile_judge(&r, &all, name, only != NULL);
}

static void each_answer(const setting *s, const char *op, const char *only) {
  for (int later = 0; later < 2; later++) {
    uint32_t number = operations + (later ? every / 2 : 0);
    for (uint32_t i = 0; i < SLP_COUNT(answers); i++)
      if (!answers[i].op[0] || strcmp(answers[i].op, op) == 0)
        once(s, op, &answers[i], -1, later, number + i, only);
    for (int i = 0; i < (int)SLP_COUNT(junks); i++)
      if (!junk_seen(i)) once(s, op, NULL, i, later, number + (uint32_t)i, only);
  }
  operations++;
}

int main(int argc, char **argv) {
  const char *only = argc == 3 && strcmp(argv[1], "show") == 0 ? argv[2] : NULL;
  if (argc == 3 && strcmp(argv[1], "sample") == 0) every = (uint32_t)strtoul(argv[2], NULL, 10);
  if (!every) every = 1;
  for (size_t i = 0; i < SLP_COUNT(settings); i++)
    for (size_t k = 0; settings[i].ops[k]; k++) each_answer(&settings[i], settings[i].ops[k], only);
  for (int i = 0; i < (int)SLP_COUNT(junks) && !only && every <= 2 * operations; i++)
    if (!played[i] && !junk_seen(i)) CHECK_FAIL("\"%s\" is never played", junks[i].name);
  return slp_hostile_sums(&all);
}
