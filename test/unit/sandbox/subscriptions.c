/* subscriptions.c - subscriptions of the model: when an event is due, what ends one, what the clock and news decide.
 * What clients see of it: test/process/sandbox_push.py. */
#include "codec/eventstream.h"
#include "sandbox_box.h"

typedef struct fan {
  bench t;
  char consumer[600];
  slp_buf bytes;
  slp_event_reader reader;
  slp_event_message m;
  int64_t at_ms;
} fan;

static void open_fan(fan *f, uint32_t bytes_a_second) {
  sloop_sandbox_opts_t o = free_opts();
  o.push_bytes_per_second = bytes_a_second;
  *f = (fan){.at_ms = 0};
  bench_open(&f->t, &o);
  CHECK_INT(slp_box_stream(f->t.box, T0, "s", 1), 0);
  slp_buf_init(&f->bytes, f->t.mem, 64u << 20);
  const char *json =
      call(&f->t, "RegisterStreamConsumer",
           "{\"StreamARN\":\"arn:aws:kinesis:us-east-1:000000000000:stream/s\",\"ConsumerName\":\"c\"}");
  member(json, "ConsumerARN", f->consumer);
}

static void close_fan(fan *f) {
  slp_buf_free(&f->bytes);
  bench_close(&f->t);
}

/* A new subscription, its initial response read; NULL when it is refused. */
static slp_box_sub *subscribe(fan *f, const char *type) {
  call(&f->t, "SubscribeToShard",
       "{\"ConsumerARN\":\"%s\",\"ShardId\":\"shardId-000000000000\",\"StartingPosition\":{\"Type\":\"%s\"}}",
       f->consumer, type);
  if (!f->t.answer.subscription) return NULL;
  slp_event_reader r = {0};
  CHECK_INT(slp_event_read(&r, f->t.answer.body.p, f->t.answer.body.n, &f->m), 0);
  CHECK_TEXT(slp_event_text(&f->m, ":event-type"), "initial-response");
  CHECK_INT(r.at, f->t.answer.body.n);
  return f->t.answer.subscription;
}

/* What slp_push_more says and gives; the message, if there is one, is f->m. */
static slp_push_next more(fan *f, slp_box_sub *u, int *ret_given) {
  slp_buf_clear(&f->bytes);
  slp_push_next next = slp_push_more(u, f->t.now_ms, &f->bytes, &f->at_ms);
  slp_event_reader r = {0};
  *ret_given = f->bytes.n > 0;
  if (f->bytes.n && next != SLP_PUSH_CUT) {
    CHECK_INT(slp_event_read(&r, f->bytes.p, f->bytes.n, &f->m), 0);
    CHECK_INT(r.at, f->bytes.n);
  }
  return next;
}

static int has(const fan *f, const char *text) {
  size_t n = strlen(text);
  for (size_t i = 0; i + n <= f->m.payload.n; i++) {
    if (memcmp(f->m.payload.p + i, text, n) == 0) return 1;
  }
  return 0;
}

TEST(events_come_with_news_or_every_five_seconds) {
  fan f;
  int given;
  open_fan(&f, 0);
  slp_box_sub *u = subscribe(&f, "LATEST");
  CHECK_INT(more(&f, u, &given), SLP_PUSH_OPEN);
  CHECK(given && has(&f, "\"Records\":[]") && has(&f, "\"MillisBehindLatest\":0"));
  CHECK_INT(f.at_ms, T0 + 5000);
  CHECK_INT(more(&f, u, &given), SLP_PUSH_OPEN);
  CHECK(!given);
  CHECK(!slp_push_next_news(f.t.box));
  f.t.now_ms += 1000;
  put(&f.t, "s", "k", "x");
  CHECK(slp_push_next_news(f.t.box) == u);
  CHECK(!slp_push_next_news(f.t.box));
  CHECK_INT(more(&f, u, &given), SLP_PUSH_OPEN);
  CHECK(given && has(&f, "\"Data\":\"eA==\""));
  CHECK_INT(f.at_ms, T0 + 6000);
  f.t.now_ms = T0 + 5999;
  more(&f, u, &given);
  CHECK(!given);
  f.t.now_ms++;
  more(&f, u, &given);
  CHECK(given);
  f.t.now_ms = T0 + 300000;
  CHECK_INT(more(&f, u, &given), SLP_PUSH_ENDED);
  CHECK(!given);
  slp_push_close(u);
  close_fan(&f);
}

TEST(one_a_time_and_the_new_one_wins) {
  fan f;
  int given;
  open_fan(&f, 0);
  slp_box_sub *old = subscribe(&f, "LATEST");
  f.t.now_ms += 4999;
  CHECK(!subscribe(&f, "LATEST"));
  CHECK_HAS(slp_buf_z(&f.t.answer.body), "ResourceInUseException");
  f.t.now_ms += 1;
  CHECK(!subscribe(&f, "LATEST")); /* the second call of a second */
  CHECK_HAS(slp_buf_z(&f.t.answer.body), "LimitExceededException");
  f.t.now_ms += 1000;
  slp_box_sub *new = subscribe(&f, "LATEST");
  CHECK(new != NULL);
  CHECK(slp_push_next_news(f.t.box) == old);
  CHECK_INT(more(&f, old, &given), SLP_PUSH_ENDED);
  CHECK_TEXT(slp_event_text(&f.m, ":exception-type"), "ResourceInUseException");
  CHECK_INT(more(&f, new, &given), SLP_PUSH_OPEN);
  slp_push_close(old);
  slp_push_close(new);
  close_fan(&f);
}

TEST(a_closed_shard_ends_with_its_children) {
  fan f;
  int given;
  open_fan(&f, 0);
  put(&f.t, "s", "k", "x");
  slp_box_sub *u = subscribe(&f, "TRIM_HORIZON");
  CHECK_INT(slp_box_split(f.t.box, f.t.now_ms, "s", "shardId-000000000000", NULL), 0);
  CHECK_INT(more(&f, u, &given), SLP_PUSH_ENDED);
  CHECK(has(&f, "\"Data\":\"eA==\"") && has(&f, "shardId-000000000002"));
  CHECK(!has(&f, "ContinuationSequenceNumber"));
  slp_push_close(u);
  close_fan(&f);
}

TEST(no_more_bytes_a_second_than_that) {
  fan f;
  int given;
  char text[1001];
  open_fan(&f, 100000);
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  for (int i = 0; i < 3000; i++) put(&f.t, "s", "k", text);
  slp_box_sub *u = subscribe(&f, "TRIM_HORIZON");
  more(&f, u, &given);
  CHECK(given && f.bytes.n > 1000000);
  CHECK(f.at_ms > T0 + 5000); /* a mebibyte is ten seconds of it */
  f.t.now_ms = f.at_ms - 1;
  more(&f, u, &given);
  CHECK(!given);
  f.t.now_ms = f.at_ms;
  more(&f, u, &given);
  CHECK(given);
  slp_push_close(u);
  close_fan(&f);
}

/* What a consumer or stream leaves behind: its subscriptions end with a word, and nothing is freed twice. */
TEST(consumers_and_streams_go) {
  fan f;
  int given;
  open_fan(&f, 0);
  slp_box_sub *u = subscribe(&f, "LATEST");
  call(&f.t, "DeregisterStreamConsumer", "{\"ConsumerARN\":\"%s\"}", f.consumer);
  CHECK_INT(more(&f, u, &given), SLP_PUSH_ENDED);
  CHECK_TEXT(slp_event_text(&f.m, ":exception-type"), "ResourceNotFoundException");
  slp_push_close(u);
  f.t.now_ms += 60000;
  const char *json =
      call(&f.t, "RegisterStreamConsumer",
           "{\"StreamARN\":\"arn:aws:kinesis:us-east-1:000000000000:stream/s\",\"ConsumerName\":\"c\"}");
  member(json, "ConsumerARN", f.consumer);
  u = subscribe(&f, "LATEST");
  call(&f.t, "DeleteStream", "{\"StreamName\":\"s\",\"EnforceConsumerDeletion\":true}");
  CHECK_INT(more(&f, u, &given), SLP_PUSH_ENDED);
  CHECK_TEXT(slp_event_text(&f.m, ":exception-type"), "ResourceNotFoundException");
  close_fan(&f); /* with the subscription still there */
}

TEST(faults_of_events) {
  static const struct {
    const char *line;
    slp_push_next next;
    int given;
  } rows[] = {{"1 SubscribeToShardEvent * cut 20", SLP_PUSH_CUT, 1},
              {"1 SubscribeToShardEvent * drop", SLP_PUSH_CUT, 0},
              {"1 SubscribeToShardEvent * silence", SLP_PUSH_OPEN, 0},
              {"1 SubscribeToShardEvent 0 delay 100", SLP_PUSH_OPEN, 0},
              {"1 SubscribeToShardEvent 1 drop", SLP_PUSH_OPEN, 1},
              {"1 * * drop", SLP_PUSH_OPEN, 1},
              {"1 SubscribeToShardEvent * error X", SLP_PUSH_ENDED, 1}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    fan f;
    int given;
    open_fan(&f, 0);
    slp_box_sub *u = subscribe(&f, "LATEST");
    CHECK_INT(slp_box_faults(f.t.box, rows[i].line, NULL), 0);
    CHECK_INT(more(&f, u, &given), rows[i].next);
    CHECK_INT(given, rows[i].given);
    if (rows[i].next == SLP_PUSH_CUT && given) CHECK_INT(f.bytes.n, 20);
    slp_push_close(u);
    close_fan(&f);
  }
}
