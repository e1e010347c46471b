/* ddb_poll.c - DynamoDB Streams as core sees them, over a table of ops that answers from a script:
 * which stream a table leads to, what listings mean, and how the end of a shard becomes known. */
#include "source/ddb_poll.h"

#include "source_script.h"
#include "scarce.h"

#define TABLE "arn:aws:dynamodb:us-east-1:123456789012:table/orders"
#define STREAM TABLE "/stream/2026-01-02T03:04:05.678"

static void open_source(const char *stream) {
  begin_script();
  CHECK_INT(slp_ddb_poll_new(&src, &f.h, &ops, slp_str_of(stream)), 0);
}

static slp_src_describe describe(void) {
  slp_src_describe rq = {.rq = {.on_done = on_done}};
  int before = done;
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(done, before + 1);
  return rq;
}

TEST(only_tables_and_their_streams_are_taken) {
  static const char *const bad[] = {"orders", "arn:aws:kinesis:us-east-1:1:stream/orders",
                                    "dynamodb:", "dynamodb:a/b"};
  begin_script();
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    CHECK_INT(slp_ddb_poll_new(&src, &f.h, &ops, slp_str_of(bad[i])), SLOOP_EOPTION);
  fake_end(&f, mem);
}

TEST(what_the_service_is_like) {
  open_source(STREAM);
  CHECK_INT(src->fetch_records_max, 1000);
  CHECK_INT(src->tells_behind, 0);
  CHECK_INT(src->fetch_bytes_full, 1000000);
  CHECK_INT(src->anchors_by_time, 0);
  CHECK_INT(src->finds_seconds, 1);
  close_source();
}

TEST(a_table_leads_to_a_stream_which_then_is_the_one) {
  open_source("dynamodb:orders");
  script((step){.arn = STREAM, .date_ms = 1000});
  slp_src_describe d = describe();
  CHECK_STR(asked[0], "describe orders ");
  CHECK_STR(d.name, "orders");
  CHECK_STR(d.arn, STREAM);
  CHECK_INT(d.retention_ms, 86400000);
  CHECK_INT(d.ready, 1);
  CHECK_INT(d.rq.date_ms, 1000);
  script((step){.arn = STREAM}); /* again: the stream itself, whatever the table's latest may be by now */
  status = SLP_STREAM_CREATING;
  d = describe();
  CHECK_STR(asked_arn, STREAM);
  CHECK_INT(d.ready, 0);
  script((step){.shards = "a"});
  list();
  CHECK_STR(asked_arn, STREAM);
  close_source();
}

/* What a table leads to may be another stream by now; the one that is read stays the one. */
TEST(the_latest_stream_is_asked_for_as_the_user_named_the_table) {
  static const char *const named[][2] = {{"dynamodb:orders", ""}, {TABLE, TABLE}, {STREAM, STREAM}};
  static const char second[] = TABLE "/stream/2026-02-01T00:00:00.000";
  for (size_t i = 0; i < SLP_COUNT(named); i++) {
    open_source(named[i][0]);
    script((step){.arn = STREAM});
    describe();
    script((step){.arn = i == 2 ? STREAM : second});
    slp_src_describe rq = {.rq = {.on_done = on_done}, .latest = 1};
    src->ops->describe(src, &rq);
    fake_run(&f, 1000);
    CHECK_STR(asked_arn, named[i][1]);
    CHECK_STR(rq.arn, i == 2 ? STREAM : second);
    script((step){.shards = "a", .stream_ended = 1});
    slp_src_list l = list();
    CHECK_STR(asked_arn, STREAM);
    CHECK_INT(l.ended, 1);
    script((step){.shards = "a"});
    CHECK_INT(list().ended, 0);
    close_source();
  }
}

TEST(a_listing_describes_first_when_the_stream_is_not_known) {
  open_source(TABLE);
  script((step){.arn = STREAM});
  script((step){.shards = "a b<a"});
  slp_src_list l = list();
  CHECK_STR(asked[0], "describe orders " TABLE);
  CHECK_STR(asked_arn, STREAM);
  CHECK_STR(ids(&l), "a! b<a");
  close_source();
  open_source("dynamodb:orders");
  script((step){.class = SLP_GONE});
  l = list();
  CHECK_INT(l.rq.fail.class, SLP_GONE);
  CHECK_INT(l.shards_n, 0);
  hang = 1; /* cancelled while it describes */
  script((step){.arn = STREAM});
  slp_src_list rq = {.rq = {.on_done = on_done}};
  src->ops->list(src, &rq);
  src->ops->cancel(src, &rq.rq);
  CHECK_INT(cancelled, 1);
  close_source();
}

TEST(parents_of_listed_children_are_closed) {
  open_source(STREAM);
  script((step){.shards = "a b<a c<x", .next = "c"}); /* x was trimmed */
  script((step){.shards = "d<b e<b f! g<f"});
  slp_src_list l = list();
  CHECK_STR(asked[1], "list orders c");
  CHECK_STR(ids(&l), "a! b<a! c<x d<b e<b f! g<f");
  close_source();
}

TEST(a_disabled_stream_has_no_open_shard) {
  open_source(STREAM);
  script((step){.shards = "a b<a", .stream_ended = 1});
  slp_src_list l = list();
  CHECK_STR(ids(&l), "a! b<a!");
  close_source();
}

TEST(servers_that_repeat_a_page_are_not_asked_for_ever) {
  open_source(STREAM);
  script((step){.shards = "a b", .next = "b"});
  script((step){.shards = "a b", .next = "b"}); /* the token was ignored */
  slp_src_list l = list();
  CHECK_STR(ids(&l), "a b");
  script((step){.shards = "a", .next = "1"});
  script((step){.shards = "b", .next = "2"});
  script((step){.shards = "a", .next = "1"}); /* in a circle */
  l = list();
  CHECK_STR(ids(&l), "a b");
  script((step){.shards = "", .next = "1"}); /* an empty page with another token leads on */
  script((step){.shards = "", .next = "2"});
  script((step){.shards = "a"});
  l = list();
  CHECK_STR(ids(&l), "a");
  close_source();
}

/* Taken for the last page, it hides the shards behind it: they are read late, and those that were read to their
 * end are forgotten and read again. */
TEST(an_empty_page_that_goes_on_from_where_it_was_is_not_the_last) {
  open_source(STREAM);
  script((step){.shards = "a b", .next = "b"});
  script((step){.shards = "", .next = "b"});
  script((step){.shards = "c"});
  slp_src_list l = list();
  CHECK_STR(ids(&l), "a b c");
  script((step){.shards = "", .next = "0"});
  script((step){.shards = "", .next = "0"});
  script((step){.shards = "a b", .next = "b"});
  script((step){.shards = "", .next = "b"});
  script((step){.shards = "", .next = "b"});
  script((step){.shards = "c"});
  l = list();
  CHECK_STR(ids(&l), "a b c");
  close_source();
}

/* ---- the end of a shard -------------------------------------------------------------------------------- */
static int grow(slp_src_fetch *rq, size_t more) {
  (void)rq;
  return more < 100;
}

static slp_page *page;

static slp_src_fetch fetch_rq(void) {
  return (slp_src_fetch){.rq = {.on_done = on_done},
                         .shard = SLP_STR("a"),
                         .cursor = SLP_STR("it"),
                         .limit = 10,
                         .may_grow = grow,
                         .page = page};
}

/* The time it took, in ms. */
static uint64_t fetch(void) {
  slp_src_fetch rq = fetch_rq();
  int before = done;
  uint64_t began = f.mono_us;
  slp_page_reset(page);
  src->ops->fetch(src, &rq);
  while (done == before && f.mono_us < began + 20000000) fake_run(&f, 10000);
  CHECK_INT(done, before + 1);
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_INT(rq.body_bytes, 123);
  return (f.mono_us - began) / 1000;
}

static void with_next(slp_page *p) {
  p->records_given = 1;
  slp_buf_add_z(&p->body, "next");
  p->next = (slp_str){p->body.p, 4};
}
static void at_end(slp_page *p) { p->records_given = 1; }
static void at_end_and_then_silence(slp_page *p) {
  p->records_given = 1;
  hang = 1;
}
static void nonsense(slp_page *p) { p->records_given = 0; }

static void open_fetching(void) {
  open_source(STREAM);
  page = slp_page_new(mem);
}

static void close_fetching(void) {
  slp_page_free(page);
  close_source();
}

TEST(children_are_asked_for_where_there_is_no_next_iterator) {
  open_fetching();
  script((step){.fill = with_next});
  fetch();
  CHECK_INT(played, 1);
  script((step){.fill = nonsense}); /* core calls it a bad answer */
  fetch();
  CHECK_INT(played, 2);
  script((step){.fill = at_end});
  script((step){.shards = "b<a c<a"});
  fetch();
  CHECK_STR(asked[3], "children  a");
  CHECK_STR(asked_arn, STREAM);
  CHECK_INT(page->children_n, 2);
  CHECK(slp_str_is(page->children[0].id, "b") && slp_str_is(page->children[0].parent, "a"));
  CHECK(slp_str_is(page->children[1].id, "c"));
  CHECK_INT(page->children_bad, 0);
  close_fetching();
}

TEST(children_listed_late_are_waited_for_but_not_for_ever) {
  open_fetching();
  script((step){.fill = at_end});
  script((step){.shards = ""});
  script((step){.shards = ""});
  script((step){.shards = "b<a"});
  uint64_t ms = fetch();
  CHECK(ms >= 750 && ms < 1000);
  CHECK_INT(page->children_n, 1);
  script((step){.fill = at_end});
  for (int i = 0; i < 4; i++) script((step){.shards = ""});
  ms = fetch();
  CHECK(ms >= 1750 && ms < 2000);
  CHECK_INT(page->children_n, 0); /* core asks the listing */
  close_fetching();
}

TEST(nobody_waits_for_children_in_a_disabled_stream_or_after_a_failure) {
  open_fetching();
  script((step){.fill = at_end});
  script((step){.shards = "", .stream_ended = 1});
  CHECK(fetch() < 100);
  CHECK_INT(page->children_n, 0);
  script((step){.fill = at_end});
  script((step){.class = SLP_THROTTLE});
  CHECK(fetch() < 100);
  CHECK_INT(page->children_n, 0);
  close_fetching();
}

static size_t known(slp_src_fetch *rq, slp_shard_desc *rows, size_t max) {
  CHECK(slp_str_is(rq->shard, "a") && max >= 2);
  rows[0] = (slp_shard_desc){.id = SLP_STR("b"), .parent = SLP_STR("a")};
  rows[1] = (slp_shard_desc){.id = SLP_STR("c"), .parent = SLP_STR("a")};
  return 2;
}

TEST(nobody_is_asked_for_children_that_are_known) {
  open_fetching();
  slp_src_fetch rq = fetch_rq();
  rq.known_children = known;
  script((step){.fill = at_end});
  slp_page_reset(page);
  src->ops->fetch(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  CHECK_INT(played, 1);
  CHECK_INT(page->children_n, 2);
  CHECK(slp_str_is(page->children[1].id, "c"));
  close_fetching();
}

/* As long as one asks, and no listing told how many pages there are, the others wait for core's listing. */
TEST(while_a_listing_is_cheaper_the_end_is_answered_without_children) {
  open_fetching();
  slp_page *second = slp_page_new(mem);
  slp_src_fetch one = fetch_rq(), other = fetch_rq();
  other.page = second;
  script((step){.fill = at_end});
  script((step){.shards = ""}); /* it waits, to ask again */
  src->ops->fetch(src, &one);
  fake_run(&f, 100000);
  CHECK_INT(played, 2);
  script((step){.fill = at_end});
  src->ops->fetch(src, &other);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  CHECK_INT(second->children_n, 0);
  script((step){.shards = "b<a"});
  fake_run(&f, 1000000);
  CHECK_INT(done, 2);
  CHECK_INT(page->children_n, 1);
  script((step){.fill = at_end}); /* nobody asks now */
  script((step){.shards = "b<a"});
  fetch();
  CHECK_INT(page->children_n, 1);
  slp_page_free(second);
  close_fetching();
}

TEST(a_service_that_refuses_the_filter_is_not_asked_so_again) {
  open_fetching();
  script((step){.fill = at_end});
  script((step){.class = SLP_REFUSED});
  fetch();
  script((step){.fill = at_end});
  fetch();
  CHECK_INT(played, 3);
  CHECK_INT(page->children_n, 0);
  close_fetching();
}

TEST(cancelled_while_it_asks_or_waits_for_children) {
  open_fetching();
  script((step){.fill = at_end});
  script((step){.shards = ""});
  slp_src_fetch rq = fetch_rq();
  src->ops->fetch(src, &rq);
  fake_run(&f, 100000);
  CHECK_INT(played, 2); /* it waits */
  src->ops->resume(src, &rq);
  src->ops->cancel(src, &rq.rq);
  CHECK_INT(f.h.timers_n, 0);
  CHECK_INT(cancelled, 0);
  rq = fetch_rq();
  script((step){.fill = at_end_and_then_silence});
  script((step){.shards = "b<a"});
  src->ops->fetch(src, &rq);
  fake_run(&f, 100000);
  CHECK_INT(played, 4); /* it asks */
  src->ops->cancel(src, &rq.rq);
  CHECK_INT(cancelled, 1);
  fake_run(&f, 10000000);
  CHECK_INT(done, 0);
  close_fetching();
}

/* ---- times --------------------------------------------------------------------------------------------- */
#define UNKNOWN_TYPE ((step){.class = SLP_REFUSED, .aws_code = "ValidationException", .date_ms = 100000})

static slp_src_locate locating(const char *shard, int64_t at_ms) {
  slp_src_locate rq = {.rq = {.on_done = on_done}, .shard = slp_str_of(shard)};
  rq.from = (slp_position){.kind = SLP_POSITION_TIME, .at_ms = at_ms};
  slp_buf_init(&rq.cursor, mem, 4096);
  return rq;
}

static void send_locate(slp_src_locate *rq) { src->ops->locate(src, rq); }

/* The failure's class; *rq's cursor is freed. */
static slp_class located(slp_src_locate *rq) {
  int fine = rq->rq.fail.class == SLP_FINE;
  CHECK_STR(fine ? slp_buf_z(&rq->cursor) : "", fine ? iterator_given : "");
  slp_buf_free(&rq->cursor);
  return rq->rq.fail.class;
}

static slp_class locate_at(const char *shard, int64_t at_ms) {
  slp_src_locate rq = locating(shard, at_ms);
  int before = done;
  send_locate(&rq);
  fake_run(&f, 1000);
  CHECK_INT(done, before + 1);
  return located(&rq);
}

TEST(a_time_is_one_call_a_shard) {
  open_fetching();
  for (int i = 0; i < 3; i++) {
    script((step){.class = SLP_FINE});
    CHECK_INT(locate_at("a", 90000 + i), SLP_FINE);
    CHECK_STR(asked[i], "AT_TIMESTAMP a ");
    CHECK_INT(asked_ms, 90000 + i);
  }
  close_fetching();
}

TEST(a_server_that_refuses_times_is_asked_once_for_all_shards) {
  open_fetching();
  static const char *const shards[] = {"a", "b", "c", "d", "e"};
  slp_src_locate rq[5];
  script(UNKNOWN_TYPE);
  for (int i = 0; i < 5; i++) {
    rq[i] = locating(shards[i], 90000);
    send_locate(&rq[i]); /* all before there is an answer */
  }
  src->ops->cancel(src, &rq[1].rq); /* it waits for the trial of a, so it has no call to cancel */
  CHECK_INT(cancelled, 0);
  script((step){.class = SLP_FINE}); /* shard a again, from the oldest record */
  for (int i = 2; i < 5; i++) script((step){.class = SLP_FINE});
  fake_run(&f, 1000);
  CHECK_INT(done, 4);
  CHECK_STR(asked[0], "AT_TIMESTAMP a ");
  CHECK_STR(asked[1], "TRIM_HORIZON a ");
  CHECK_STR(asked[2], "TRIM_HORIZON c ");
  CHECK_STR(asked[4], "TRIM_HORIZON e ");
  CHECK_INT(src->finds_seconds, 0);
  for (int i = 0; i < 5; i++) {
    if (i == 1)
      slp_buf_free(&rq[i].cursor);
    else
      CHECK_INT(located(&rq[i]), SLP_FINE);
  }
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("f", 90000), SLP_FINE);
  CHECK_STR(asked[5], "TRIM_HORIZON f ");
  close_fetching();
}

TEST(what_is_refused_for_the_oldest_record_too_says_nothing_of_times) {
  open_fetching();
  script(UNKNOWN_TYPE);
  script((step){.class = SLP_REFUSED, .aws_code = "ValidationException"});
  CHECK_INT(locate_at("a", 90000), SLP_REFUSED);
  CHECK_INT(src->finds_seconds, 1);
  script((step){.class = SLP_THROTTLE, .aws_code = "ThrottlingException"});
  CHECK_INT(locate_at("a", 90000), SLP_THROTTLE);
  script((step){.class = SLP_REFUSED, .aws_code = "ResourceNotFoundException"});
  CHECK_INT(locate_at("a", 90000), SLP_REFUSED);
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("a", 90000), SLP_FINE);
  CHECK_STR(asked[4], "AT_TIMESTAMP a ");
  close_fetching();
}

/* The service's clock is behind ours; its records have stamps of whole seconds. */
TEST(a_time_in_the_future_becomes_a_moment_ago) {
  open_fetching();
  script(UNKNOWN_TYPE);
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("a", 100000), SLP_FINE);
  CHECK_STR(asked[1], "AT_TIMESTAMP a ");
  CHECK_INT(asked_ms, 98000);
  CHECK_INT(src->finds_seconds, 1);
  close_fetching();
}

TEST(whoever_waits_goes_on_when_the_first_one_is_cancelled) {
  open_fetching();
  slp_src_locate one = locating("a", 90000), two = locating("b", 90000), three = locating("c", 90000);
  hang = 1;
  script((step){.class = SLP_FINE});
  send_locate(&one);
  send_locate(&two);
  send_locate(&three);
  hang = 0;
  script((step){.class = SLP_FINE});
  src->ops->cancel(src, &one.rq); /* now `two` sends the trial, and `three` waits for its answer */
  CHECK_INT(cancelled, 1);
  script((step){.class = SLP_FINE});
  fake_run(&f, 1000);
  CHECK_INT(done, 2);
  CHECK_STR(asked[1], "AT_TIMESTAMP b ");
  CHECK_STR(asked[2], "AT_TIMESTAMP c ");
  slp_buf_free(&one.cursor);
  CHECK_INT(located(&two), SLP_FINE);
  CHECK_INT(located(&three), SLP_FINE);
  close_fetching();
}

static slp_class fetch_from(const char *cursor) {
  slp_src_fetch rq = fetch_rq();
  rq.cursor = slp_str_of(cursor);
  int before = done;
  slp_page_reset(page);
  src->ops->fetch(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(done, before + 1);
  return rq.rq.fail.class;
}

/* moto does not know AT_TIMESTAMP but gives an iterator for it, and answers a GetRecords with that iterator
 * with status 500 and no error code. The source then finds times from the oldest record. */
TEST(an_iterator_that_breaks_the_server_is_of_no_use) {
  open_fetching();
  step broken = {.class = SLP_TRANSIENT, .http_status = 500};
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("a", 90000), SLP_FINE);
  script((step){.class = SLP_TRANSIENT, .http_status = 503}); /* any proxy's */
  CHECK_INT(fetch_from("cursor"), SLP_TRANSIENT);
  script((step){.class = SLP_TRANSIENT, .http_status = 500, .aws_code = "InternalServerError"});
  CHECK_INT(fetch_from("cursor"), SLP_TRANSIENT);
  script(broken); /* of another iterator */
  CHECK_INT(fetch_from("other"), SLP_TRANSIENT);
  CHECK_INT(src->finds_seconds, 1);
  script(broken);
  CHECK_INT(fetch_from("cursor"), SLP_EXPIRED);
  CHECK_INT(src->finds_seconds, 0);
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("a", 90000), SLP_FINE);
  CHECK_STR(asked[5], "TRIM_HORIZON a ");
  script(broken);
  CHECK_INT(fetch_from("cursor"), SLP_TRANSIENT);
  close_fetching();
  open_fetching(); /* once a page came, times are served */
  script((step){.class = SLP_FINE});
  CHECK_INT(locate_at("a", 90000), SLP_FINE);
  script((step){.fill = with_next});
  CHECK_INT(fetch_from("cursor"), SLP_FINE);
  script(broken);
  CHECK_INT(fetch_from("cursor"), SLP_TRANSIENT);
  CHECK_INT(src->finds_seconds, 1);
  close_fetching();
}

static void locate_two(void) {
  open_fetching();
  for (int i = 0; i < 2; i++) {
    iterator_given = i ? "of-b" : "of-a";
    script((step){.class = SLP_FINE});
    CHECK_INT(locate_at(i ? "b" : "a", 90000), SLP_FINE);
    CHECK_STR(asked[i], i ? "AT_TIMESTAMP b " : "AT_TIMESTAMP a ");
  }
}

/* The first reader may move, or leave its shard, before it fetches. Then any other iterator of a time shows whether
 * the server serves times. Iterators that were given before that are each found to be of no use when used. */
TEST(any_iterator_of_a_time_shows_what_they_are_worth) {
  const step broken = {.class = SLP_TRANSIENT, .http_status = 500};
  for (int order = 0; order < 2; order++) {
    locate_two();
    script(broken);
    CHECK_INT(fetch_from(order ? "of-a" : "of-b"), SLP_EXPIRED);
    CHECK_INT(src->finds_seconds, 0);
    iterator_given = "of-c";
    script((step){.class = SLP_FINE});
    CHECK_INT(locate_at("c", 90000), SLP_FINE);
    CHECK_STR(asked[3], "TRIM_HORIZON c ");
    script(broken);
    CHECK_INT(fetch_from(order ? "of-b" : "of-a"), SLP_EXPIRED);
    script(broken);
    CHECK_INT(fetch_from(order ? "of-b" : "of-a"), SLP_TRANSIENT); /* it is told once */
    close_fetching();
  }
  locate_two();
  script((step){.fill = with_next});
  CHECK_INT(fetch_from("of-b"), SLP_FINE);
  script(broken);
  CHECK_INT(fetch_from("of-a"), SLP_TRANSIENT); /* a bad moment of a server that serves times */
  CHECK_INT(src->finds_seconds, 1);
  close_fetching();
}

/* ---- failing memory ------------------------------------------------------------------------------------ */
static scarce memory;
static int64_t dry_after;
static void run_scarce(void) {
  memory = (scarce){.left = -1};
  mem->fn = scarce_alloc;
  mem->ctx = &memory;
}
static void run_dry(slp_page *p) {
  (void)p;
  memory.left = dry_after;
}

/* Children there is no memory for are found by the listing. */
TEST(without_memory_the_end_of_a_shard_is_answered_without_children) {
  size_t children = 0;
  for (dry_after = 0; !children; dry_after++) {
    CHECK(dry_after < 20);
    open_fetching();
    run_scarce();
    script((step){.fill = at_end});
    script((step){.shards = "b<a", .fill = run_dry});
    fetch();
    children = page->children_n;
    CHECK(children == 0 || slp_str_is(page->children[0].id, "b"));
    close_fetching();
  }
  CHECK(dry_after > 2); /* the place for the texts, the table */
}

TEST(without_memory_for_a_timer_nobody_waits_for_children) {
  open_fetching();
  run_scarce();
  dry_after = 0;
  script((step){.fill = at_end});
  script((step){.shards = "", .fill = run_dry});
  CHECK(fetch() < 100);
  CHECK_INT(page->children_n, 0);
  close_fetching();
}
