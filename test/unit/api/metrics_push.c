/* api/metrics_push.c: rounds, calls and repeated data, against a CloudWatch that adds up the data it took. */
#include "api/metrics_push.h"

#include "aws_fake_host.h"
#include "scarce.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_metrics_push push;
static slp_host_ops ops;
static const fake_pair env[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                {"AWS_SECRET_ACCESS_KEY", "secret"},
                                {"AWS_REGION", "us-east-1"},
                                {"AWS_ENDPOINT_URL_CLOUDWATCH", "http://127.0.0.1:9"},
                                {NULL, NULL}};

/* ---- what it tells of -------------------------------------------------------------------------------- */
static uint64_t records[3];
static size_t consumers_n, shards_n;
static int sample_fails;
static int sample(void *arg, slp_sample *into) {
  CHECK(arg == &f);
  if (sample_fails) return SLP_ENOMEM;
  for (size_t i = 0; i < consumers_n; i++) {
    char stream[8] = {'s', (char)('0' + i), 0};
    sloop_stats_t stats = {.records = records[i], .behind_ms_now = 5};
    if (slp_sample_add(into, "", stream, "", SLP_READING_RUNNING, &stats)) return SLP_ENOMEM;
    into->consumers[i].member = i;
    for (size_t k = 0; k < shards_n; k++) {
      char shard[40];
      snprintf(shard, sizeof shard, "shardId-%012zu", k);
      if (slp_sample_add_shard(into, &(sloop_shard_stats_t){.shard = shard, .behind_ms = (int64_t)k}))
        return SLP_ENOMEM;
    }
  }
  return 0;
}

/* ---- the service --------------------------------------------------------------------------------------- */
static int calls, largest, refuse_call,
    hang;                      /* refuse_call: the number of the call from which on all are refused */
static int asks_in_call;       /* 1: while the next call is out, another round is asked for */
static uint64_t took[3], lags; /* RecordsProcessed by stream, and how many lags of shards */
static size_t count(const char *z, const char *what) {
  size_t n = 0;
  while ((z = strstr(z, what))) n++, z++;
  return n;
}
static void take(const char *body) {
  int n = (int)count(body, "\"MetricName\"");
  if (n > largest) largest = n;
  CHECK(strncmp(body, "{\"Namespace\":\"My/Space\",", 24) == 0);
  lags += count(body, "\"Shard\"");
  for (const char *at = body; (at = strstr(at, "\"RecordsProcessed\"")); at++) {
    const char *stream = strstr(at, "\"Value\":\"s"), *value = strstr(stream, ",\"Value\":");
    took[stream[10] - '0'] += strtoull(value + 9, NULL, 10);
    /* all totals of a consumer in the same call */
    CHECK(strstr(at, "\"DeadLetters\""));
  }
}
static void http_send(slp_host *h, slp_http *call) {
  char *body = malloc(call->body.n + 1); /* the call's own has no end */
  memcpy(body, call->body.p, call->body.n);
  body[call->body.n] = 0;
  CHECK(call->body.n <= 1000000);
  calls++;
  if (asks_in_call) {
    asks_in_call = 0;
    records[0] = 15;
    slp_metrics_push_soon(&push);
  }
  int refused = refuse_call && calls >= refuse_call;
  if (!refused && !hang) take(body);
  free(body);
  call->sent_us = call->done_us = f.mono_us;
  call->status = refused ? 400 : 200;
  call->error = 0;
  call->date_ms = -1;
  call->length_known = 1;
  call->ev.run = fake_http_run;
  if (refused)
    CHECK_INT(slp_buf_add_z(call->into, "{\"__type\":\"AccessDenied\",\"message\":\"you may not\"}"), 0);
  if (!hang) slp_post(h, &call->ev);
}

/* ---- news ---------------------------------------------------------------------------------------------- */
static int troubles, fines;
static char said[400];
static void on_trouble(void *arg, const slp_fail *fail) {
  CHECK(arg == &f);
  troubles++;
  snprintf(said, sizeof said, "%s", fail->message);
}
static void on_fine(void *arg) {
  CHECK(arg == &f);
  fines++;
}

static scarce memory = {.left = -1};
static void begin(size_t consumers, size_t shards) {
  char why[160];
  consumers_n = consumers;
  shards_n = shards;
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  ops = fake_ops;
  ops.http_send = http_send;
  f.h.ops = &ops;
  f.env = env;
  slp_aws_options o = {.getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  push = (slp_metrics_push){.sample = sample,
                            .on_trouble = on_trouble,
                            .on_fine = on_fine,
                            .arg = &f,
                            .ns = "My/Space",
                            .set = slp_metrics_set_of(NULL),
                            .every_ms = 60000};
  CHECK_INT(slp_metrics_push_open(&push, &f.h, aws), 0);
}
static void minutes(int n) { fake_run(&f, (uint64_t)n * 60000000); }
static void end(void) {
  slp_metrics_push_close(&push);
  slp_metrics_push_close(&push);
  slp_aws_drop(aws);
  fake_end(&f, mem);
}

TEST(once_a_minute_what_was_added) {
  begin(2, 3);
  fake_run(&f, 59000000);
  CHECK_INT(calls, 0);
  records[0] = 10;
  records[1] = 7;
  fake_run(&f, 2000000);
  CHECK_INT(calls, 1);
  CHECK_INT(took[0], 10);
  CHECK_INT(took[1], 7);
  CHECK_INT(lags, 6);
  minutes(1);
  CHECK_INT(calls, 2);
  CHECK_INT(took[0], 10);
  records[0] = 25;
  minutes(5);
  CHECK_INT(calls, 7);
  CHECK_INT(took[0], 25);
  CHECK_INT(push.failures, 0);
  CHECK_INT(push.data_told, 7 * (2 * 6 + 6));
  CHECK_INT(troubles + fines, 0);
  end();
}

TEST(many_shards_take_many_calls) {
  begin(3, 1234);
  records[0] = records[1] = records[2] = 5;
  minutes(1);
  fake_run(&f, 1000000);
  CHECK_INT(calls, 4);
  CHECK_INT(largest, 1000);
  CHECK_INT(lags, 3 * 1234);
  for (int i = 0; i < 3; i++) CHECK_INT(took[i], 5);
  CHECK_INT(push.data_told, 3 * (1234 + 6));
  end();
}

TEST(totals_that_would_be_cut_go_into_the_next_call) {
  begin(2, 985); /* 6 + 985 leave room for 9, the totals of a consumer with leases are up to 20 */
  records[1] = 5;
  minutes(1);
  fake_run(&f, 1000000);
  CHECK_INT(calls, 2);
  CHECK_INT(largest, 991);
  CHECK_INT(took[1], 5);
  end();
}

TEST(what_failed_is_told_once_and_counted_and_comes_with_the_next_minute) {
  begin(1, 2);
  records[0] = 10;
  refuse_call = 1;
  minutes(5);
  CHECK_INT(calls, 5); /* once a minute, not more */
  CHECK_INT(push.failures, 5);
  CHECK_INT(push.data_told, 0);
  CHECK_INT(troubles, 1);
  CHECK_STR(said, "no permission for cloudwatch:PutMetricData: you may not");
  CHECK_INT(fines, 0);
  refuse_call = 0;
  records[0] = 12;
  minutes(2);
  CHECK_INT(took[0], 12); /* nothing lost, nothing twice */
  CHECK_INT(fines, 1);
  refuse_call = calls + 1;
  minutes(1);
  CHECK_INT(troubles, 2); /* a new row of failures */
  end();
}

TEST(a_round_that_fails_in_its_middle_tells_the_rest_later) {
  begin(3, 1234);
  records[0] = records[1] = records[2] = 5;
  refuse_call = 3; /* the totals of 0 and 1 are told, those of 2 in the third call are not */
  minutes(1);
  fake_run(&f, 1000000);
  CHECK_INT(calls, 3);
  CHECK_INT(took[0] + took[1], 10);
  CHECK_INT(took[2], 0);
  refuse_call = 0;
  minutes(1);
  CHECK_INT(took[0] + took[1], 10);
  CHECK_INT(took[2], 5);
  end();
}

TEST(no_memory_for_a_sample_is_a_failure_as_others) {
  begin(1, 2);
  sample_fails = 1;
  minutes(2);
  CHECK_INT(push.failures, 2);
  CHECK_INT(troubles, 1);
  sample_fails = 0;
  minutes(1);
  CHECK_INT(calls, 1);
  CHECK_INT(fines, 1);
  end();
}

TEST(an_endpoint_that_never_answers_makes_no_heap_of_rounds) {
  begin(1, 2);
  hang = 1;
  minutes(10); /* what times out is the transport's to say */
  CHECK_INT(calls, 1);
  end(); /* closed while it is out */
}

TEST(no_memory_at_any_moment) {
  begin(2, 40);
  records[0] = 10;
  uint64_t failures = 0;
  fake_run(&f, 10000000); /* from here on each minute has one round, and 10 s for its calls */
  for (long n = 0;; n++) {
    memory.left = n;
    minutes(1);
    memory.left = -1;
    if (took[0] == 10) break;
    CHECK(push.failures > failures); /* nothing was told, and that was noticed */
    failures = push.failures;
    CHECK(n < 1000);
  }
  CHECK(failures > 5);
  CHECK_INT(troubles, 1);
  minutes(2);
  CHECK_INT(took[0], 10);
  end();
}

TEST(told_before_the_minute_is_over) {
  begin(1, 1);
  records[0] = 10;
  slp_metrics_push_soon(&push);
  slp_metrics_push_soon(&push);
  CHECK_INT(calls, 0); /* in a turn, not in there */
  fake_run(&f, 1000000);
  CHECK_INT(calls, 1);
  CHECK_INT(took[0], 10);
  fake_run(&f, 58000000);
  CHECK_INT(calls, 1); /* and then a minute later */
  fake_run(&f, 2000000);
  CHECK_INT(calls, 2);
  hang = 1;
  slp_metrics_push_soon(&push);
  fake_run(&f, 1000000);
  slp_metrics_push_soon(&push);
  fake_run(&f, 1000000);
  CHECK_INT(calls, 3); /* one is out */
  end();
  slp_metrics_push_soon(&push);
}

static uint64_t taken_before, taken[3];
static int rests;
static void begin_at(void *arg, size_t member, sloop_stats_t *ret) {
  CHECK(arg == &f && ret->records == 0);
  if (member == 0) ret->records = taken_before;
}
static void on_taken(void *arg, size_t member, const sloop_stats_t *stats) {
  CHECK(arg == &f);
  taken[member] = stats->records;
}
static void on_rest(void *arg) {
  CHECK(arg == &f && !slp_metrics_push_is_telling(&push));
  rests++;
}

TEST(what_was_taken_before_is_not_told_again) {
  begin(2, 0);
  push.begin = begin_at;
  push.on_taken = on_taken;
  taken_before = 7;
  records[0] = 10;
  records[1] = 20;
  refuse_call = 1;
  minutes(1);
  CHECK_INT(taken[0] + taken[1], 0);
  refuse_call = 0;
  minutes(1);
  CHECK_INT(took[0], 3);
  CHECK_INT(took[1], 20);
  CHECK_INT(taken[0], 10);
  CHECK_INT(taken[1], 20);
  end();
}

TEST(a_round_is_asked_for_while_another_one_is_out) {
  begin(1, 0);
  push.on_rest = on_rest;
  records[0] = 10;
  CHECK(!slp_metrics_push_is_telling(&push));
  slp_metrics_push_soon(&push);
  CHECK(slp_metrics_push_is_telling(&push));
  asks_in_call = 1;
  fake_run(&f, 1000000);
  CHECK_INT(calls, 2);
  CHECK_INT(took[0], 15);
  CHECK_INT(rests, 1); /* only behind the last of them */
  refuse_call = 1;
  slp_metrics_push_soon(&push);
  fake_run(&f, 1000000);
  CHECK_INT(rests, 2); /* a round that fails is over too */
  end();
  CHECK(!slp_metrics_push_is_telling(&push));
}

TEST(nothing_to_tell_is_no_call) {
  begin(0, 0);
  minutes(3);
  CHECK_INT(calls, 0);
  CHECK_INT(push.failures, 0);
  end();
}
