/* pace.c - every operation of Kinesis, DynamoDB and DynamoDB Streams is answered wrongly, with each wrong
 * answer there is, from the first call on or once all is well, to a whole consumer in virtual time: how often
 * each operation is called in any second, how many turns and how much memory that costs is bounded.
 *
 *   hostile_pace               all of them
 *   hostile_pace sample        one of twenty
 *   hostile_pace show TEXT     those whose names hold TEXT, with what they cost */
#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "../check.h"
#include "../wire/junk.h"
#include "api/open.h"
#include "sim/world.h"

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define SECONDS 25
#define LATER_S 8
#define OPS_MAX 32
#define TABLE "orders"

/* ---- what each operation may be called in a second ----------------------------------------------------- */
/* burst: in any second. mean: over the whole run. Kinesis itself answers a shard 5 GetRecords and 5
 * GetShardIterator a second, a stream 1000 ListShards, an account 20 DescribeStreamSummary; DynamoDB Streams
 * 10 DescribeStream. A page of a long listing counts as a call. */
typedef struct limit {
  const char *op;
  uint32_t burst, mean;
} limit;
static const limit limits[] = {{"GetRecords", 60, 40},
                               {"GetShardIterator", 60, 20},
                               {"ListShards", 140, 110},
                               {"DescribeStream", 140, 110},
                               {"Query", 280, 210},
                               {"Scan", 280, 210}, /* two at a time */
                               {NULL, 30, 12} /* all others */};
#define TURNS_A_SECOND 4000
#define STEP_MS 10 /* of virtual time: all turns of so long together, and the service's own part: */
/* 32 pages of 15 MB may come in them. CPU on a busy machine; sanitizers get ten times as much. */
#define STEP_US 2000000
#define MEMORY_MAX (600u << 20) /* two lists of rows of 256 MiB, and the budget of records */

/* ---- one run ------------------------------------------------------------------------------------------- */
typedef struct run {
  const char *op;                           /* answered wrongly */
  int junk;                                 /* row of junks, or -1: by write */
  int (*write)(struct run *r, slp_buf *to); /* the status */
  const char *error_type;
  uint64_t from_us;
  const char *source, *schema;
  uint8_t streams; /* of a table */

  slp_world *w;
  uint64_t n; /* wrong answers so far */
  struct {
    char name[40];
    uint32_t now, worst, all;
  } ops[OPS_MAX];
  size_t ops_n;
  uint64_t second;
  int errors, fatal;
  char last[300];
  size_t peak;
  uint64_t turns_at_once, turns, step_us;
  slp_mem *mem; /* of the library */
  uint8_t closed;
} run;

static void count(run *r, const char *op) {
  uint64_t second = slp_sim_now_us(r->w->sim) / 1000000;
  if (second != r->second)
    for (size_t i = 0; i < r->ops_n; i++) r->ops[i].now = 0;
  r->second = second;
  size_t i = 0;
  while (i < r->ops_n && strcmp(r->ops[i].name, op) != 0) i++;
  CHECK(i < OPS_MAX);
  if (i == r->ops_n) snprintf(r->ops[r->ops_n++].name, sizeof r->ops[0].name, "%s", op);
  r->ops[i].all++;
  if (++r->ops[i].now > r->ops[i].worst) r->ops[i].worst = r->ops[i].now;
}

static void say_junk(run *r, slp_sim_reply *reply) {
  const junk *j = &junks[r->junk];
  slp_buf_clear(&reply->body);
  reply->content_type[0] = reply->error_type[0] = 0;
  reply->date_ms = -1;
  if (j->error == UV_ETIMEDOUT) reply->silent = 1;
  if (j->error) reply->drop = 1;
  reply->status = j->status;
  CHECK_INT(slp_buf_add_z(&reply->body, j->error ? "" : j->text), 0);
}

static void say(run *r, slp_sim_reply *reply) {
  r->n++;
  if (r->junk >= 0) {
    say_junk(r, reply);
    return;
  }
  slp_buf_clear(&reply->body);
  reply->error_type[0] = 0;
  snprintf(reply->content_type, sizeof reply->content_type, "application/x-amz-json-1.1");
  reply->status = r->write(r, &reply->body);
}

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  run *r = arg;
  slp_world *w = r->w;
  slp_str target = slp_sim_ask_header(ask, "x-amz-target");
  const char *dot = target.n ? memchr(target.p, '.', target.n) : NULL;
  char op[40];
  snprintf(op, sizeof op, "%.*s", dot ? (int)(target.p + target.n - dot - 1) : 0, dot ? dot + 1 : "");
  count(r, op);
  slp_box_request rq = {.method = ask->method,
                        .path = ask->path,
                        .host = ask->authority,
                        .target = target,
                        .content_type = slp_sim_ask_header(ask, "content-type"),
                        .authorization = slp_sim_ask_header(ask, "authorization"),
                        .amz_date = slp_sim_ask_header(ask, "x-amz-date"),
                        .body = ask->body};
  reply->cut_after = SIZE_MAX;
  reply->date_ms = slp_world_ms(w);
  if (strcmp(op, r->op) == 0 && slp_sim_now_us(w->sim) >= r->from_us) {
    say(r, reply);
    return;
  }
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  slp_buf_init(&answer.body, w->mem, SIZE_MAX / 2);
  slp_box_handle(w->box, slp_world_ms(w), &rq, &answer);
  reply->status = answer.status;
  slp_buf_free(&reply->body);
  slp_buf_move(&reply->body, &answer.body);
  snprintf(reply->content_type, sizeof reply->content_type, "%s",
           answer.content_type ? answer.content_type : "");
  snprintf(reply->error_type, sizeof reply->error_type, "%s", answer.error_type);
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
  for (size_t i = 0; i < bytes; i++) to->p[to->n + i] = 'x';
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
/* Two shards are each other's parents. */
static int shards_circle(run *r, slp_buf *to) {
  static const char range[] = "\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"}";
  add(to, r->streams ? "{\"StreamDescription\":{\"StreamArn\":\"a\",\"StreamStatus\":\"ENABLED\",\"Shards\":["
                     : "{\"Shards\":[");
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
    A("Query", rows_endless_empty),
    A("Query", rows_same_key),
    A("Query", rows_two_keys),
    A("Query", rows_none),
    A("Scan", rows_endless),
    A("Scan", rows_endless_large),
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

/* ---- the consumer -------------------------------------------------------------------------------------- */
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, sloop_batch_count(b));
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  run *r = arg;
  (void)s;
  r->errors++;
  r->fatal += e->fatal;
  snprintf(r->last, sizeof r->last, "%s: %s", sloop_err_name(e->code), e->message);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  ((run *)arg)->closed = 1;
}
static const char *environment(void *ctx, const char *name) {
  (void)ctx;
  if (strcmp(name, "AWS_ACCESS_KEY_ID") == 0) return "AKID";
  if (strcmp(name, "AWS_SECRET_ACCESS_KEY") == 0) return "secret";
  return NULL;
}
static const slp_outside outside = {.getenv_fn = environment};

static void make_stream(run *r) {
  int64_t now = slp_world_ms(r->w);
  if (!r->streams) {
    CHECK_INT(slp_box_stream(r->w->box, now, "orders", 2), 0);
    return;
  }
  CHECK_INT(slp_box_table(r->w->box, now, TABLE, 2, "NEW_AND_OLD_IMAGES"), 0);
}

static uint64_t cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void pass(run *r, uint64_t ms) {
  for (uint64_t done = 0; done < ms; done += STEP_MS) {
    uint64_t from = cpu_us(), us;
    slp_world_pass(r->w, STEP_MS);
    us = cpu_us() - from;
    r->step_us = us > r->step_us ? us : r->step_us;
  }
}

static void play(run *r) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  sloop_sandbox_opts_t so;
  slp_world_box_opts(&so);
  so.roll_ms = 0;
  r->w = slp_world_new(mem, 7, &so);
  slp_sim_serve(r->w->sim, serve, r);
  slp_sim_network(r->w->sim)->latency_us_min = slp_sim_network(r->w->sim)->latency_us_max = 50;
  make_stream(r);
  r->mem = slp_mem_new(NULL, NULL);
  slp_sim_clock clock = {.mono_start_us = 1000000};
  slp_host *host = slp_sim_host_new(r->w->sim, r->mem, &clock);
  sloop_opts_t o;
  char why[160];
  sloop_t *s;
  sloop_opts_init(&o);
  o.stream = r->streams ? "dynamodb:" TABLE : "orders";
  o.region = "eu-west-1";
  o.endpoint = SLP_ENDPOINT;
  o.start.kind = SLOOP_OLDEST;
  if (r->write == shards_reversed) /* what is read is found by kin */
    o.start = (sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "shardId-000000000000", .seq = "1"};
  o.app = r->schema ? "billing" : NULL;
  o.worker = r->schema ? "w" : NULL;
  o.schema = r->schema;
  o.lease_ms = 3000;
  o.arg = r;
  o.on_batch = on_batch;
  o.on_error = on_error;
  if (slp_open_on(host, r->mem, &outside, &s, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_start(s), 0);
  pass(r, SECONDS * 1000);
  r->turns = slp_sim_stats(host).turns;
  r->turns_at_once = slp_sim_stats(host).turns_at_once_peak;
  sloop_close(s, on_closed, r);
  slp_world_pass(r->w, 1000);
  CHECK(r->closed);
  slp_host_close(host, NULL, NULL);
  slp_world_pass(r->w, 60000);
  r->peak = r->mem->peak_bytes;
  CHECK_INT(r->mem->live_bytes, 0);
  slp_mem_drop(r->mem);
  slp_world_free(r->w);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* ---- judging ------------------------------------------------------------------------------------------- */
static const limit *limit_of(const char *op) {
  const limit *l = limits;
  while (l->op && strcmp(l->op, op) != 0) l++;
  return l;
}

static struct {
  uint32_t n, given, broken, worst;
  uint64_t step_us;
  size_t peak;
  char worst_at[260], peak_at[200], step_at[200];
} sums;

static int judge(run *r, const char *name, int show) {
  int bad = 0;
  for (size_t i = 0; i < r->ops_n; i++) {
    const limit *l = limit_of(r->ops[i].name);
    int over = r->ops[i].worst > l->burst || r->ops[i].all > l->mean * SECONDS;
    bad |= over;
    if (show || over)
      printf("%s %s: %s %u in a second, %u in %u s\n", over ? "OVER" : "    ", name, r->ops[i].name,
             r->ops[i].worst, r->ops[i].all, SECONDS);
    if (r->ops[i].worst > sums.worst) {
      sums.worst = r->ops[i].worst;
      snprintf(sums.worst_at, sizeof sums.worst_at, "%s in %s", r->ops[i].name, name);
    }
  }
  if (r->peak > MEMORY_MAX) bad = 1, printf("OVER %s: %zu bytes\n", name, r->peak);
  if (r->turns > (uint64_t)TURNS_A_SECOND * SECONDS)
    bad = 1, printf("OVER %s: %llu turns\n", name, (unsigned long long)r->turns);
  if (r->step_us > STEP_US * (SANITIZED ? 10u : 1u))
    bad = 1, printf("OVER %s: %llu us for %d ms\n", name, (unsigned long long)r->step_us, STEP_MS);
  if (show)
    printf("     %s: %llu wrong answers, peak %zu KiB, %llu turns, %llu us, %d errors, %d fatal: %s\n", name,
           (unsigned long long)r->n, r->peak >> 10, (unsigned long long)r->turns,
           (unsigned long long)r->step_us, r->errors, r->fatal, r->last);
  if (r->step_us > sums.step_us) {
    sums.step_us = r->step_us;
    snprintf(sums.step_at, sizeof sums.step_at, "%s", name);
  }
  if (r->peak > sums.peak) {
    sums.peak = r->peak;
    snprintf(sums.peak_at, sizeof sums.peak_at, "%s", name);
  }
  sums.n++;
  sums.given += r->n > 0;
  sums.broken += (uint32_t)bad;
  fflush(stdout);
  return bad;
}

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

static uint32_t every = 1, number; /* one of so many is played */

static void once(const setting *s, const char *op, const answer *a, int row, int later, const char *only) {
  run r = {.op = op,
           .junk = row,
           .write = a ? a->write : NULL,
           .from_us = later ? LATER_S * 1000000u : 0,
           .schema = s->schema,
           .streams = s->streams};
  char name[200];
  snprintf(name, sizeof name, "%s %s %s %s", s->name, op, a ? a->name : junks[row].name,
           later ? "later" : "first");
  if ((only && !strstr(name, only)) || number++ % every) return;
  if (s->schema && r.write == shards_reversed) return; /* 20,000 leases are made of them, as they should be */
  play(&r);
  judge(&r, name, only != NULL);
}

static void each_answer(const setting *s, const char *op, const char *only) {
  for (int later = 0; later < 2; later++) {
    for (size_t i = 0; i < SLP_COUNT(answers); i++)
      if (!answers[i].op[0] || strcmp(answers[i].op, op) == 0) once(s, op, &answers[i], -1, later, only);
    for (int i = 0; i < (int)SLP_COUNT(junks); i++)
      if (!junk_seen(i)) once(s, op, NULL, i, later, only);
  }
}

int main(int argc, char **argv) {
  const char *only = argc == 3 && strcmp(argv[1], "show") == 0 ? argv[2] : NULL;
  if (argc == 2 && strcmp(argv[1], "sample") == 0) every = 20;
  for (size_t i = 0; i < SLP_COUNT(settings); i++)
    for (size_t k = 0; settings[i].ops[k]; k++) each_answer(&settings[i], settings[i].ops[k], only);
  printf("%u combinations, %u with a wrong answer given, %u over a bound\n", sums.n, sums.given, sums.broken);
  printf("longest %d ms: %llu us of CPU, %s\n", STEP_MS, (unsigned long long)sums.step_us, sums.step_at);
  printf("most calls in a second: %u, %s; most memory: %zu KiB, %s\n", sums.worst, sums.worst_at,
         sums.peak >> 10, sums.peak_at);
  return sums.broken != 0;
}
