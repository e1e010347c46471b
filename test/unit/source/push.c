/* source/push.c and push_consumer.c: a service that is played here. A thousand subscriptions without a gap
 * or a repeat, the pace of calls, what a broken one leads to, and the consumer: found, registered, waited
 * for, refused. */
#include "source/push.h"

/* Part of the script is not for this file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "source_script.h"
#include "source/kinesis_poll.h"

/* ---- the service ------------------------------------------------------------------------------------------ */
static slp_op_subscribe *open_sub;
static slp_page *waiting;
static uint64_t next_record, subscribed_at[2000], records_each;
static size_t subscribed_n;
static char positions[2000][40];
static slp_event act_ev;
static slp_class refuse, refuse_each; /* the next one; all */
static const char *refusal = "refused";
static int silent;                 /* nothing comes of a subscription */
static uint64_t left_here;         /* records before this subscription ends; UINT64_MAX: it stays */
static const char *scripted_event; /* instead of the next record */

static void on_act(slp_event *ev) {
  (void)ev;
  slp_op_subscribe *op = open_sub;
  if (!op) return;
  if (silent) return;
  if (refuse_each != SLP_FINE) refuse = refuse_each;
  if (refuse != SLP_FINE) {
    open_sub = NULL;
    waiting = NULL;
    slp_fail_set(&op->op.fail, refuse, SLOOP_EREMOTE, "%s", refusal);
    op->op.fail.http_status = 400;
    snprintf(op->op.fail.aws_code, sizeof op->op.fail.aws_code, "ScriptedException");
    refuse = SLP_FINE;
    op->op.on_done(&op->op);
    return;
  }
  op->opened = 1;
  if (!left_here) {
    open_sub = NULL;
    waiting = NULL;
    op->op.on_done(&op->op);
    return;
  }
  if (!waiting) return;
  slp_page *page = waiting;
  char text[700];
  int n = snprintf(text, sizeof text,
                   "{\"Records\":[{\"SequenceNumber\":\"%llu\",\"Data\":\"eA==\"}],\"MillisBehindLatest\":0,"
                   "\"ContinuationSequenceNumber\":\"%llu\"}",
                   (unsigned long long)next_record, (unsigned long long)next_record);
  if (scripted_event) n = snprintf(text, sizeof text, "%s", scripted_event);
  next_record++;
  left_here--;
  waiting = NULL;
  CHECK_INT(slp_buf_add(&page->body, text, (size_t)n), 0);
  slp_page_reader *r = slp_page_reader_new(mem);
  slp_page_reader_begin(r, page, SLP_FORM_JSON);
  CHECK_INT(slp_page_read(r, 10000, 1000), 0);
  slp_page_reader_free(r);
  op->event_us = slp_now_us(&f.h);
  op->event_bytes = (size_t)n;
  op->on_event(op);
}

static int play_subscribe(slp_ops *o, slp_op_subscribe *op) {
  (void)o;
  CHECK(!open_sub && subscribed_n < SLP_COUNT(subscribed_at));
  open_sub = op;
  op->op.date_ms = -1;
  left_here = records_each;
  subscribed_at[subscribed_n] = slp_now_us(&f.h);
  snprintf(positions[subscribed_n++], sizeof positions[0], "%s %.*s", slp_iter_kind_name(op->kind),
           (int)(op->seq.n < 20 ? op->seq.n : 20), op->seq.n ? op->seq.p : "");
  if (op->kind == SLP_ITER_OLDEST) next_record = 1000;
  if (op->kind == SLP_ITER_AFTER_SEQ) next_record = strtoull(op->seq.p, NULL, 10) + 1;
  if (refuse != SLP_FINE || refuse_each != SLP_FINE || !records_each) slp_post(&f.h, &act_ev);
  return 0;
}

static void play_next(slp_ops *o, slp_op_subscribe *op, slp_page *page) {
  (void)o;
  CHECK(op == open_sub && !waiting);
  waiting = page;
  slp_post(&f.h, &act_ev);
}

static void play_resume(slp_ops *o, slp_op_subscribe *op) { (void)o, (void)op; }

static void play_unsubscribe(slp_ops *o, slp_op_subscribe *op) {
  (void)o;
  CHECK(op == open_sub);
  open_sub = NULL;
  waiting = NULL;
}

/* The consumer: a script of answers to DescribeStreamConsumer and RegisterStreamConsumer. */
static const struct answer {
  slp_consumer_call what;
  slp_class class;
  slp_consumer_status status;
} * answers;
static size_t answers_n, answered;
static const char *consumer_arn;
static slp_op_consumer *consumer_op;
static slp_event consumer_ev;
static int consumer_hangs;

static void on_consumer(slp_event *ev) {
  (void)ev;
  slp_op_consumer *op = consumer_op;
  consumer_op = NULL;
  op->op.on_done(&op->op);
}

static void play_consumer(slp_ops *o, slp_op_consumer *op) {
  (void)o;
  CHECK(answered < answers_n);
  const struct answer *a = &answers[answered++];
  CHECK_INT(op->what, a->what);
  CHECK_TEXT(op->name, "app");
  if (a->class != SLP_FINE) slp_fail_set(&op->op.fail, a->class, SLOOP_EREMOTE, "scripted");
  op->rows[0].status = a->status;
  snprintf(op->rows[0].arn, sizeof op->rows[0].arn, "%s", consumer_arn);
  consumer_op = op;
  if (!consumer_hangs) slp_post(&f.h, &consumer_ev);
}

/* ---- core's end ------------------------------------------------------------------------------------------- */
static slp_src_describe describing;
static slp_src_fetch fetching;
static slp_page *page;
static int described, fetched;

static void on_described(slp_op *rq) {
  CHECK(rq == &describing.rq);
  described++;
}

static void on_fetched(slp_op *rq) {
  CHECK(rq == &fetching.rq);
  fetched++;
}

static const char *consumer_given = "app"; /* its name, or its ARN */

static void open_push(const struct answer *scripted, size_t n, int or_poll) {
  static slp_ops table;
  slp_source *poll;
  begin_script();
  f.mono_us = 1000000000;
  script((step){.class = SLP_FINE, .arn = "arn:aws:kinesis:us-east-1:000000000000:stream/s"});
  status = SLP_STREAM_ACTIVE;
  table = ops;
  table.subscribe = play_subscribe;
  table.next_event = play_next;
  table.resume_events = play_resume;
  table.unsubscribe = play_unsubscribe;
  table.consumer = play_consumer;
  act_ev.run = on_act;
  consumer_ev.run = on_consumer;
  answers = scripted;
  answers_n = n;
  answered = subscribed_n = 0;
  consumer_arn = "arn:consumer";
  open_sub = NULL;
  waiting = NULL;
  refuse = SLP_FINE;
  records_each = UINT64_MAX;
  CHECK_INT(slp_kinesis_poll_new(&poll, &f.h, &table, SLP_STR("s"), SLOOP_AGGREGATES_EXPAND), 0);
  CHECK_INT(slp_push_new(&src, &f.h, &table, poll, consumer_given, or_poll), 0);
  CHECK_INT(src->pushes, 1);
  page = slp_page_new(mem);
}

static void describe(void) {
  described = 0;
  describing = (slp_src_describe){.rq = {.on_done = on_described}};
  src->ops->describe(src, &describing);
  CHECK_INT(described, 0);
  fake_run(&f, 300000000);
  CHECK_INT(described, 1);
}

/* An operator's question beside the consumer's own: one finding, two answers. */
static slp_src_describe second;
static int second_described;

static void on_second(slp_op *rq) {
  CHECK(rq == &second.rq && rq->fail.class == SLP_FINE);
  CHECK(strstr(second.arn, ":stream/s"));
  second_described++;
}

static void ask_second(void) {
  second = (slp_src_describe){.rq = {.on_done = on_second}};
  src->ops->describe(src, &second);
}

static void close_push(void) {
  if (src->ops->leave) src->ops->leave(src, SLP_STR("shard"));
  src->ops->close(src);
  CHECK(!open_sub);
  CHECK_INT(answered, answers_n);
  slp_page_free(page);
  slp_unpost(&act_ev);
  fake_end(&f, mem);
}

static void fetch(const char *cursor) {
  static char kept[200];
  snprintf(kept, sizeof kept, "%s", cursor);
  slp_page_reset(page);
  fetched = 0;
  fetching = (slp_src_fetch){.rq = {.on_done = on_fetched},
                             .shard = SLP_STR("shard"),
                             .cursor = slp_str_of(kept),
                             .limit = 1,
                             .page = page};
  src->ops->fetch(src, &fetching);
  CHECK_INT(fetched, 0); /* never inside the call */
}

/* ---- reading ------------------------------------------------------------------------------------------------ */
static const struct answer found[] = {{SLP_CONSUMER_DESCRIBE, SLP_FINE, SLP_CONSUMER_ACTIVE}};

TEST(two_ask_what_the_stream_is) {
  for (int cancels = 0; cancels < 2; cancels++) {
    open_push(found, 1, 0);
    second_described = 0;
    if (cancels) script((step){.class = SLP_FINE, .arn = "arn:aws:kinesis:us-east-1:000000000000:stream/s"});
    ask_second();
    if (cancels) src->ops->cancel(src, &second.rq);
    describe();
    CHECK_INT(second_described, !cancels);
    close_push();
  }
  open_push(found, 1, 0);
  described = 0;
  describing = (slp_src_describe){.rq = {.on_done = on_described}};
  src->ops->describe(src, &describing);
  ask_second();
  src->ops->cancel(src, &describing.rq);
  second_described = 0;
  fake_run(&f, 300000000);
  CHECK_INT(second_described, 1);
  CHECK_INT(described, 0);
  close_push();
}

/* The one that asked leaves while the consumer is looked for, and another one asks: its answer is that of its own
 * call, not what was found meanwhile. */
TEST(asked_anew_while_the_consumer_is_looked_for) {
  open_push(found, 1, 0);
  script((step){.class = SLP_FINE, .arn = "arn:aws:kinesis:us-east-1:000000000000:stream/s"});
  second_described = 0;
  consumer_hangs = 1;
  describing = (slp_src_describe){.rq = {.on_done = on_described}};
  src->ops->describe(src, &describing);
  fake_run(&f, 1000000);
  CHECK(consumer_op);
  src->ops->cancel(src, &describing.rq);
  hang = 1;
  ask_second();
  CHECK_INT(held_n, 1);
  slp_post(&f.h, &consumer_ev);
  fake_run(&f, 1000000);
  CHECK_INT(second_described, 0);
  slp_post(&f.h, &answer_ev);
  fake_run(&f, 1000000);
  CHECK_INT(second_described, 1);
  hang = consumer_hangs = 0;
  close_push();
}

/* The service ends a subscription after every third record; each goes on behind the last one. */
TEST(a_thousand_subscriptions) {
  char cursor[100] = "oldest";
  open_push(found, 1, 0);
  describe();
  records_each = 3;
  for (uint64_t want = 1000; want < 4000; want++) {
    fetch(cursor);
    fake_run(&f, 10000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, SLP_FINE);
    CHECK_INT(page->recs_n, 1);
    CHECK_INT(strtoull(slp_rec_seq(page, &page->recs[0]).p, NULL, 10), want);
    snprintf(cursor, sizeof cursor, "%.*s", (int)page->next.n, page->next.p);
  }
  CHECK(subscribed_n >= 1000);
  CHECK_STR(positions[0], "TRIM_HORIZON ");
  CHECK_STR(positions[1], "AFTER_SEQUENCE_NUMBER 1002");
  for (size_t i = 1; i < subscribed_n; i++) /* the service would refuse a sooner one */
    CHECK(subscribed_at[i] - subscribed_at[i - 1] >= 5000000);
  close_push();
}

/* It is renewed before five minutes are over, at an event, and goes on behind it. */
TEST(renewed_in_time) {
  char cursor[100] = "oldest";
  open_push(found, 1, 0);
  describe();
  for (uint64_t want = 1000; want < 2000; want++) {
    f.mono_us += 1000000; /* a record a second */
    fetch(cursor);
    fake_run(&f, 1000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(strtoull(slp_rec_seq(page, &page->recs[0]).p, NULL, 10), want);
    snprintf(cursor, sizeof cursor, "%.*s", (int)page->next.n, page->next.p);
  }
  CHECK(subscribed_n >= 4 && subscribed_n <= 5);
  for (size_t i = 1; i < subscribed_n; i++) {
    uint64_t lived = subscribed_at[i] - subscribed_at[i - 1];
    CHECK(lived > 235000000 && lived < 275000000);
  }
  close_push();
}

/* The service gives children without a number to go on after; ferrokinesis 0.7 gives both, with records and
 * then without. */
TEST(children_with_a_number_are_the_end_only_where_nothing_can_come) {
  static const struct {
    const char *text;
    int ends;
  } events[] = {
      {"{\"Records\":[{\"SequenceNumber\":\"7\"}],\"MillisBehindLatest\":0,\"ContinuationSequenceNumber\":"
       "\"7\","
       "\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"shard\"]}]}",
       0},
      {"{\"Records\":[],\"MillisBehindLatest\":9,\"ContinuationSequenceNumber\":\"7\","
       "\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"shard\"]}]}",
       0},
      {"{\"Records\":[],\"ContinuationSequenceNumber\":\"7\","
       "\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"shard\"]}]}",
       0},
      {"{\"Records\":[],\"MillisBehindLatest\":0,\"ContinuationSequenceNumber\":\"7\","
       "\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"shard\"]}]}",
       1},
  };
  open_push(found, 1, 0);
  describe();
  for (size_t i = 0; i < SLP_COUNT(events); i++) {
    scripted_event = events[i].text;
    fetch(i ? "7" : "oldest");
    fake_run(&f, 1000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, SLP_FINE);
    CHECK_INT(page->children_n, events[i].ends);
    CHECK_INT(page->next.n, events[i].ends ? 0 : 1);
  }
  scripted_event = NULL;
  close_push();
}

/* A number that is none is the service's mistake, and may be one of our own words: the next subscription begins
 * where this one did. */
TEST(a_continuation_that_is_no_number_is_refused_and_never_taken_for_a_word_of_ours) {
  char digits[SLP_SEQ_MAX + 102], event[600]; /* the last event comes again */
  const char *const texts[] = {digits,    "latest", "oldest", "time:abc", "time:5", "at:7",
                               "after:7", "0x7",    "7e0",    "-7",       "7 "};
  memset(digits, '7', sizeof digits - 1);
  digits[sizeof digits - 1] = 0;
  open_push(found, 1, 0);
  describe();
  for (size_t i = 0; i < SLP_COUNT(texts); i++) {
    snprintf(event, sizeof event,
             "{\"Records\":[{\"SequenceNumber\":\"1701\",\"Data\":\"eA==\"}],\"MillisBehindLatest\":0,"
             "\"ContinuationSequenceNumber\":\"%s\"}",
             texts[i]);
    scripted_event = event;
    fetch("after:1700");
    fake_run(&f, 10000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, SLP_TRANSIENT);
    CHECK_INT(fetching.rq.fail.code, SLOOP_EPROTO);
    if (!strstr(fetching.rq.fail.message, "ContinuationSequenceNumber"))
      CHECK_FAIL("%s", fetching.rq.fail.message);
    CHECK(!page->recs_n && !open_sub);
    CHECK_STR(positions[i], "AFTER_SEQUENCE_NUMBER 1700");
  }
  fetch("latest"); /* asked for once more, it would be another moment */
  fake_run(&f, 10000000);
  CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
  digits[SLP_SEQ_MAX] = 0; /* as long as one may be */
  snprintf(event, sizeof event,
           "{\"Records\":[],\"MillisBehindLatest\":0,\"ContinuationSequenceNumber\":\"%s\"}", digits);
  scripted_event = event;
  fetch("after:1700");
  fake_run(&f, 10000000);
  CHECK_INT(fetching.rq.fail.class, SLP_FINE);
  CHECK_TEXT(page->next, digits);
  scripted_event = NULL;
  close_push();
}

/* The order across shards goes by that: it may not be said of a subscription that gave nothing yet, nor while a
 * part of an event is here, nor once it is over. */
TEST(it_listens_from_the_first_event_of_a_subscription_to_its_last) {
  open_push(found, 1, 0);
  describe();
  CHECK_INT(src->ops->is_listening(src, &fetching), 0);
  fetch("oldest");
  CHECK_INT(src->ops->is_listening(src, &fetching), 0);
  fake_run(&f, 1000000);
  CHECK_INT(fetched, 1);
  CHECK_INT(fetching.follows, 0);
  CHECK_INT(src->ops->is_listening(src, &fetching), 0);
  fetch("1000");
  slp_unpost(&act_ev); /* the next event takes its time */
  CHECK_INT(src->ops->is_listening(src, &fetching), 1);
  open_sub->pending = 1;
  CHECK_INT(src->ops->is_listening(src, &fetching), 0);
  open_sub->pending = 0;
  CHECK_INT(src->ops->is_listening(src, &fetching), 1);
  slp_post(&f.h, &act_ev);
  fake_run(&f, 1000000);
  CHECK_INT(fetched, 1);
  CHECK_INT(fetching.follows, 1);
  fetch("1001");
  left_here = 0; /* the service ends it; another one is begun, for the same fetch */
  fake_run(&f, 1000);
  CHECK_INT(fetched, 0);
  CHECK_INT(src->ops->is_listening(src, &fetching), 0);
  left_here = UINT64_MAX;
  fake_run(&f, 10000000);
  CHECK_INT(fetched, 1);
  CHECK_INT(fetching.follows, 0);
  close_push();
}

TEST(another_cursor_is_another_subscription) {
  open_push(found, 1, 0);
  describe();
  fetch("oldest");
  fake_run(&f, 1000000);
  fetch("after:1700");
  fake_run(&f, 10000000);
  CHECK_INT(fetched, 1);
  CHECK_STR(positions[1], "AFTER_SEQUENCE_NUMBER 1700");
  CHECK_INT(strtoull(slp_rec_seq(page, &page->recs[0]).p, NULL, 10), 1701);
  close_push();
}

/* What an open subscription gives next may have been made long ago. */
TEST(a_new_one_is_begun_where_the_old_one_stands) {
  open_push(found, 1, 0);
  describe();
  fetch("oldest");
  fake_run(&f, 1000000);
  CHECK_INT(fetched, 1);
  fetch("1000");
  fake_run(&f, 10000000);
  CHECK(fetched == 1 && subscribed_n == 1);
  slp_page_reset(page);
  fetched = 0;
  fetching = (slp_src_fetch){.rq = {.on_done = on_fetched},
                             .shard = SLP_STR("shard"),
                             .cursor = SLP_STR("1001"),
                             .limit = 1,
                             .anew = 1,
                             .page = page};
  src->ops->fetch(src, &fetching);
  fake_run(&f, 10000000);
  CHECK(fetched == 1 && subscribed_n == 2);
  CHECK_STR(positions[1], "AFTER_SEQUENCE_NUMBER 1001");
  CHECK_INT(fetching.follows, 0);
  close_push();
}

TEST(refusals_are_told_and_busy_waits_its_time) {
  static const slp_class classes[] = {SLP_BUSY, SLP_THROTTLE,  SLP_ACCESS,
                                      SLP_GONE, SLP_TRANSIENT, SLP_REFUSED};
  static const struct answer still_there[] = {{SLP_CONSUMER_DESCRIBE, SLP_FINE, SLP_CONSUMER_ACTIVE},
                                              {SLP_CONSUMER_DESCRIBE, SLP_FINE, SLP_CONSUMER_ACTIVE}};
  open_push(still_there, 2, 0); /* what is gone, then, is the shard */
  describe();
  for (size_t i = 0; i < SLP_COUNT(classes); i++) {
    refuse = classes[i];
    fetch("oldest");
    fake_run(&f, 10000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, classes[i]);
    if (classes[i] == SLP_BUSY) CHECK_INT(fetching.rq.fail.retry_after_us, 5000000);
  }
  for (size_t i = 1; i < subscribed_n; i++) CHECK(subscribed_at[i] - subscribed_at[i - 1] >= 1000000);
  close_push();
}

/* "Latest" can't be asked for twice: what came between would be lost. */
TEST(latest_is_spent_by_a_subscription_that_was_taken) {
  open_push(found, 1, 0);
  describe();
  records_each = 0; /* ends before its first event */
  fetch("latest");
  fake_run(&f, 10000000);
  CHECK_INT(fetched, 1);
  CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
  refuse = SLP_THROTTLE; /* not taken: it was not anything yet */
  fetch("latest");
  fake_run(&f, 10000000);
  CHECK_INT(fetching.rq.fail.class, SLP_THROTTLE);
  close_push();
}

TEST(cancelled_while_it_waits_and_while_it_is_open) {
  open_push(found, 1, 0);
  describe();
  fetch("oldest");
  src->ops->cancel(src, &fetching.rq);
  fake_run(&f, 10000000);
  CHECK_INT(fetched, 0);
  CHECK_INT(subscribed_n, 0);
  fetch("oldest");
  fake_run(&f, 10);
  CHECK_INT(fetched, 1);
  src->ops->leave(src, SLP_STR("shard")); /* the shard goes to another worker: nothing stays open */
  CHECK(!open_sub);
  fetch("oldest");
  src->ops->cancel(src, &fetching.rq);
  close_push();
}

/* ---- the consumer ------------------------------------------------------------------------------------------- */
#define D SLP_CONSUMER_DESCRIBE
#define R SLP_CONSUMER_REGISTER
#define OK SLP_FINE

static void find(const struct answer *scripted, size_t n, int or_poll, slp_class class, int pushes,
                 const char *told) {
  open_push(scripted, n, or_poll);
  describe();
  if (describing.rq.fail.class != class) CHECK_FAIL("%s", describing.rq.fail.message);
  CHECK_INT(src->pushes, pushes);
  if (!strstr(src->told, told)) CHECK_FAIL("told: %s", src->told);
  close_push();
}

TEST(a_consumer_is_registered_and_waited_for) {
  static const struct answer script[] = {{D, SLP_GONE, 0},
                                         {R, OK, SLP_CONSUMER_CREATING},
                                         {D, OK, SLP_CONSUMER_CREATING},
                                         {D, OK, SLP_CONSUMER_CREATING},
                                         {D, OK, SLP_CONSUMER_ACTIVE}};
  find(script, SLP_COUNT(script), 0, SLP_FINE, 1, "push as consumer app, which is new");
}

TEST(another_worker_registers_it_meanwhile) {
  static const struct answer script[] = {{D, SLP_GONE, 0}, {R, SLP_BUSY, 0}, {D, OK, SLP_CONSUMER_ACTIVE}};
  find(script, SLP_COUNT(script), 0, SLP_FINE, 1, "push as consumer app");
}

TEST(one_that_is_being_deregistered_is_made_anew) {
  static const struct answer script[] = {{D, OK, SLP_CONSUMER_DELETING},
                                         {D, SLP_GONE, 0},
                                         {R, OK, SLP_CONSUMER_CREATING},
                                         {D, OK, SLP_CONSUMER_ACTIVE}};
  find(script, SLP_COUNT(script), 0, SLP_FINE, 1, "push as consumer app");
}

/* Deregistered while it is read by: it is registered anew under another ARN, or polled where it can't be. */
TEST(one_that_is_gone_is_looked_for_again) {
  static const struct answer anew[] = {{D, OK, SLP_CONSUMER_ACTIVE},
                                       {D, SLP_GONE, 0},
                                       {R, OK, SLP_CONSUMER_CREATING},
                                       {D, OK, SLP_CONSUMER_ACTIVE}};
  static const struct answer refused[] = {{D, OK, SLP_CONSUMER_ACTIVE}, {D, SLP_GONE, 0}, {R, SLP_ACCESS, 0}};
  for (int polls = 0; polls < 3; polls++) {
    open_push(polls ? refused : anew, polls ? 3 : 4, polls > 1);
    describe();
    consumer_arn = "arn:another";
    refuse = SLP_GONE;
    fetch("after:1700");
    fake_run(&f, 100000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, polls == 1 ? SLP_ACCESS : SLP_TRANSIENT);
    if (polls != 1) CHECK(strstr(fetching.rq.fail.message, polls ? "polling" : "registered again"));
    CHECK_INT(src->pushes, polls < 2);
    if (!polls) {
      fetch("after:1700");
      fake_run(&f, 100000000);
      CHECK_INT(fetching.rq.fail.class, SLP_FINE);
      CHECK_TEXT(open_sub->consumer_arn, "arn:another");
    } else if (polls == 2) { /* the reader's place is no iterator */
      fetch("after:1700");
      fake_run(&f, 100000000);
      CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
    }
    close_push();
  }
}

#define S_ARN "arn:aws:kinesis:us-east-1:000000000000:stream/s"

/* No call about the consumer is played: one would end the test. */
TEST(one_that_is_given_by_its_arn_is_neither_described_nor_registered) {
  consumer_given = S_ARN "/consumer/theirs:17";
  open_push(NULL, 0, 0);
  describe();
  CHECK_INT(describing.rq.fail.class, SLP_FINE);
  CHECK_STR(src->told, "retrieval: push as consumer theirs");
  fetch("oldest");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_FINE);
  CHECK_TEXT(open_sub->consumer_arn, S_ARN "/consumer/theirs:17");
  /* Deregistered by its owner: the service's words are told, and nothing is registered in its place. */
  src->ops->leave(src, SLP_STR("shard"));
  refuse = SLP_GONE;
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_GONE);
  CHECK_STR(fetching.rq.fail.message, "refused"); /* of the shard, perhaps: core lists */
  refusal = "Nothing like that here.";            /* whatever the words are */
  refuse = SLP_GONE;
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_TRANSIENT);
  CHECK(strstr(fetching.rq.fail.message,
               "Nothing like that here. (the shard is listed; consumer theirs, given by its ARN, is not"));
  /* A shard may go later. Words that name a consumer are no proof of one. */
  refusal = "Shard of consumer theirs not found.";
  refuse = SLP_GONE;
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_GONE);
  /* An event shows that both were there. */
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_FINE);
  refuse = SLP_GONE;
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_GONE);
  close_push();
}

TEST(the_arn_of_another_streams_consumer_is_refused) {
  static const char *const others[] = {"arn:aws:kinesis:us-east-1:999999999999:stream/s/consumer/app:17",
                                       "arn:aws:kinesis:eu-west-1:000000000000:stream/s/consumer/app:17"};
  for (size_t i = 0; i < SLP_COUNT(others); i++) {
    consumer_given = others[i];
    open_push(NULL, 0, 0);
    describe();
    CHECK_INT(describing.rq.fail.class, SLP_REFUSED);
    CHECK(strstr(describing.rq.fail.message, "is of a consumer of arn:aws:kinesis:"));
    CHECK(strstr(describing.rq.fail.message, ":stream/s; name the stream by that ARN"));
    close_push();
  }
}

TEST(no_right_no_room) {
  static const struct answer no_right[] = {{D, SLP_GONE, 0}, {R, SLP_ACCESS, 0}};
  static const struct answer no_room[] = {{D, SLP_GONE, 0},     {R, SLP_THROTTLE, 0}, {D, SLP_GONE, 0},
                                          {R, SLP_THROTTLE, 0}, {D, SLP_GONE, 0},     {R, SLP_THROTTLE, 0},
                                          {D, SLP_GONE, 0},     {R, SLP_THROTTLE, 0}};
  find(no_right, 2, 0, SLP_ACCESS, 1, "");
  find(no_right, 2, 1, SLP_FINE, 0, "poll, because of consumer app");
  find(no_room, 8, 0, SLP_REFUSED, 1, "");
  find(no_room, 8, 1, SLP_FINE, 0, "poll, because of consumer app");
}

static void fill(struct answer *script, size_t n, slp_consumer_status state) {
  for (size_t i = 0; i < n; i++) script[i] = (struct answer){D, OK, state};
}

/* A minute of waiting is final for a reader that begins; with `auto` it polls. */
TEST(one_that_is_not_active_for_a_minute) {
  static const struct {
    slp_consumer_status state;
    const char *line;
  } states[] = {
      {SLP_CONSUMER_DELETING,
       "consumer app of stream s: still DELETING after 60 s of waiting until it is ACTIVE"},
      {SLP_CONSUMER_CREATING,
       "consumer app of stream s: still CREATING after 60 s of waiting until it is ACTIVE"},
  };
  struct answer script[61];
  for (size_t i = 0; i < SLP_COUNT(states); i++) {
    fill(script, SLP_COUNT(script), states[i].state);
    find(script, SLP_COUNT(script), 0, SLP_REFUSED, 1, "");
    CHECK_STR(describing.rq.fail.message, states[i].line);
    CHECK_INT(describing.rq.fail.code, SLOOP_ESTREAMBUSY);
    find(script, SLP_COUNT(script), 1, SLP_FINE, 0, states[i].line);
  }
}

/* What is final for a reader that begins is tried again by one that had its consumer: not ACTIVE for a minute,
 * and no room for another one. */
TEST(a_reader_at_work_tries_for_ever_to_have_its_consumer_again) {
  struct answer script[1 + 61 + 8 + 3];
  fill(script, 1, SLP_CONSUMER_ACTIVE);
  fill(script + 1, 61, SLP_CONSUMER_DELETING);
  for (size_t i = 0; i < 4; i++) {
    script[62 + 2 * i] = (struct answer){D, SLP_GONE, 0};
    script[63 + 2 * i] = (struct answer){R, SLP_THROTTLE, 0};
  }
  script[70] = (struct answer){D, SLP_GONE, 0};
  script[71] = (struct answer){R, OK, SLP_CONSUMER_CREATING};
  script[72] = (struct answer){D, OK, SLP_CONSUMER_ACTIVE};
  open_push(script, SLP_COUNT(script), 0);
  describe();
  consumer_arn = "arn:another";
  refuse = SLP_GONE;
  for (int i = 0; i < 2; i++) {
    static const char *const lines[] = {"consumer app of stream s: still DELETING after 60 s",
                                        "consumer app of stream s: scripted"};
    fetch("after:1700");
    fake_run(&f, 100000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, SLP_BUSY);
    if (!strstr(fetching.rq.fail.message, lines[i])) CHECK_FAIL("%s", fetching.rq.fail.message);
    CHECK_INT(src->pushes, 1);
    refuse = SLP_GONE;
  }
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_TRANSIENT);
  fetch("after:1700");
  fake_run(&f, 100000000);
  CHECK_INT(fetching.rq.fail.class, SLP_FINE);
  CHECK_TEXT(open_sub->consumer_arn, "arn:another");
  close_push();
}

/* ---- subscriptions that bring nothing --------------------------------------------------------------------- */

/* A stream that may be polled, read from its beginning by a reader of one shard. */
static void open_auto(void) {
  open_push(found, 1, 1);
  describe();
}

static void fetch_until_polled(const char *cursor) {
  for (int i = 0; i < 20 && src->pushes; i++) {
    fetch(cursor);
    fake_run(&f, 5000000);
    CHECK_INT(fetched, 1);
  }
  CHECK_INT(src->pushes, 0);
  CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
  CHECK_INT(src->news, SLP_NEWS_TROUBLE);
  CHECK(strstr(src->told, "retrieval: poll, because of shard shard"));
  CHECK(strstr(src->told, "tried again in 60 s"));
  CHECK_INT(src->news_retry_ms, 60000);
}

TEST(subscriptions_that_are_refused_are_given_up_for_polls) {
  static const slp_class classes[] = {SLP_TRANSIENT, SLP_ACCESS};
  for (size_t i = 0; i < SLP_COUNT(classes); i++) {
    open_auto();
    refuse_each = classes[i];
    fetch_until_polled("oldest");
    CHECK_INT(subscribed_n, classes[i] == SLP_ACCESS ? 1 : 3); /* a right that is missing is missing */
    refuse_each = SLP_FINE;
    close_push();
  }
}

/* What says nothing of the way that events come. */
TEST(another_subscriber_throttling_and_bad_keys_are_no_reason_to_poll) {
  static const slp_class classes[] = {SLP_BUSY, SLP_THROTTLE, SLP_AUTH};
  for (size_t i = 0; i < SLP_COUNT(classes); i++) {
    open_auto();
    refuse_each = classes[i];
    for (int k = 0; k < 10; k++) {
      fetch("oldest");
      fake_run(&f, 60000000);
      CHECK_INT(fetching.rq.fail.class, classes[i]);
    }
    CHECK_INT(src->pushes, 1);
    refuse_each = SLP_FINE;
    close_push();
  }
}

TEST(a_subscription_that_brings_no_event_in_ten_seconds_is_given_up_for_polls) {
  open_auto();
  silent = 1;
  fetch("oldest");
  fake_run(&f, 9900000);
  CHECK_INT(fetched, 0);
  fake_run(&f, 200000);
  CHECK_INT(fetched, 1);
  CHECK(!open_sub);
  CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
  CHECK_INT(src->pushes, 0);
  silent = 0;
  close_push();
}

/* One that brought an event has shown that they come: it is not given up, whatever ends it. */
TEST(subscriptions_that_bring_an_event_each_are_never_given_up) {
  open_auto();
  records_each = 1;
  fetch("oldest");
  for (int i = 0; i < 30; i++) {
    fake_run(&f, 20000000);
    CHECK_INT(fetched, 1);
    CHECK_INT(fetching.rq.fail.class, SLP_FINE);
    char at[40];
    snprintf(at, sizeof at, "%.*s", (int)page->next.n, page->next.p);
    fetch(at);
  }
  CHECK_INT(src->pushes, 1);
  src->ops->cancel(src, &fetching.rq);
  close_push();
}

TEST(a_consumer_that_must_be_pushed_is_told_that_polls_would_do) {
  open_push(found, 1, 0);
  describe();
  refuse_each = SLP_TRANSIENT;
  for (int i = 0; i < 6; i++) {
    fetch("oldest");
    fake_run(&f, 60000000);
    int told = strstr(fetching.rq.fail.message, "retrieval auto would poll") != NULL;
    CHECK_INT(told, i >= 2);
  }
  CHECK_INT(src->pushes, 1);
  refuse_each = SLP_FINE;
  close_push();
}

/* After a minute one subscription shows whether events come: twice as long each time that none does; then the
 * stream is subscribed again, from where the reader stands. */
TEST(it_is_tried_again_at_a_growing_pace_and_taken_up_again) {
  open_auto();
  refuse_each = SLP_TRANSIENT;
  fetch_until_polled("oldest");
  size_t n = subscribed_n;
  uint64_t last_us = subscribed_at[n - 1], wait_us = 60000000;
  for (int i = 0; i < 8; i++) {
    for (int s = 0; s < 4000 && subscribed_n == n; s++) fake_run(&f, 1000000);
    CHECK_INT(subscribed_n, n + 1);
    uint64_t waited_us = subscribed_at[n] - last_us;
    CHECK(waited_us >= wait_us - 2000000 && waited_us <= wait_us + 2000000);
    CHECK_STR(positions[n], "LATEST ");
    last_us = subscribed_at[n];
    wait_us = wait_us * 2 < 3600000000 ? wait_us * 2 : 3600000000;
    n++;
    CHECK_INT(src->pushes, 0);
  }
  refuse_each = SLP_FINE;
  for (int s = 0; s < 4000 && subscribed_n == n; s++) fake_run(&f, 1000000);
  CHECK_INT(subscribed_n, n + 1);
  CHECK_INT(src->pushes, 0); /* for as long as the service takes no other subscription */
  fake_run(&f, 6000000);
  CHECK_INT(src->pushes, 1);
  CHECK_INT(src->news, SLP_NEWS_GOOD);
  fetch("AAAA-an-iterator");
  fake_run(&f, 1000000);
  CHECK_INT(fetching.rq.fail.class, SLP_EXPIRED);
  fetch("after:1500");
  fake_run(&f, 1000000);
  CHECK_INT(fetching.rq.fail.class, SLP_FINE);
  CHECK_STR(positions[n + 1], "AFTER_SEQUENCE_NUMBER 1500");
  close_push();
}
