/* kinesis_poll.c - listings, places and pages over a table of ops that answers from a script. */
#include "source/kinesis_poll.h"

#include "kpl_page.h"
#include "kpl_write.h"
#include "source_script.h"
#include "scarce.h"

static sloop_aggregates_t aggregates = SLOOP_AGGREGATES_EXPAND;

static void open_undescribed(const char *stream) {
  begin_script();
  CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, slp_str_of(stream), aggregates), 0);
}

/* As a consumer does, which describes its stream first. */
static void open_placed(const char *stream, sloop_placement_t placement) {
  open_undescribed(stream);
  script((step){.placement = placement});
  slp_src_describe rq = {.rq = {.on_done = on_done}};
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  steps_n = played = 0;
  done = 0;
}

static void open_source(const char *stream) { open_placed(stream, SLOOP_PLACED_BY_KEY); }

/* ---- tests --------------------------------------------------------------------------------------------- */
TEST(streams_are_names_or_arns_of_streams) {
  static const char *const good[] = {"s", "my_stream.1-A",
                                     "arn:aws:kinesis:us-east-1:123456789012:stream/name",
                                     "arn:aws-cn:kinesis:cn-north-1:1:stream/n"};
  static const char *const bad[] = {"",
                                    "a b",
                                    "a/b",
                                    "arn:aws:sqs:us-east-1:1:stream/n",
                                    "arn:aws:kinesis:r:1:stream/",
                                    "arn:aws:kinesis:r:1:stream/n/consumer/c:1",
                                    "arn:aws:kinesis:r:1",
                                    "arn:aws:kinesis:r\n:1:stream/n"};
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  for (size_t i = 0; i < SLP_COUNT(good); i++) {
    CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, slp_str_of(good[i]), SLOOP_AGGREGATES_EXPAND), 0);
    src->ops->close(src);
  }
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    if (slp_kinesis_poll_new(&src, &f.h, &ops, slp_str_of(bad[i]), SLOOP_AGGREGATES_EXPAND) != SLOOP_EOPTION)
      CHECK_FAIL("%s was taken", bad[i]);
  }
  char long_name[140];
  memset(long_name, 'x', sizeof long_name);
  CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, (slp_str){long_name, 129}, SLOOP_AGGREGATES_EXPAND),
            SLOOP_EOPTION);
  CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, (slp_str){long_name, 128}, SLOOP_AGGREGATES_EXPAND), 0);
  src->ops->close(src);
  fake_end(&f, mem);
}

TEST(a_listing_tells_what_decides_on_shards_if_that_may_be_asked_for) {
  open_undescribed("s");
  script((step){.class = SLP_ACCESS});
  script((step){.shards = "a"});
  slp_src_list l = list();
  CHECK_INT(l.rq.fail.class, SLP_FINE);
  CHECK_INT(l.shards_n, 1);
  CHECK_INT(l.placement, SLOOP_PLACED_UNKNOWN);
  CHECK_INT(src->news, SLP_NEWS_WARNING);
  CHECK_STR(src->told, "it is not known whether partition keys choose the shard: scripted");
  src->news = SLP_NEWS_NONE; /* it was told */
  for (int i = 0; i < 3; i++) {
    script((step){.shards = "a"});
    CHECK_INT(list().shards_n, 1);
  }
  f.mono_us += UINT64_C(3600000000);
  script((step){.class = SLP_ACCESS});
  script((step){.shards = "a"});
  CHECK_INT(list().shards_n, 1);
  CHECK_INT(src->news, SLP_NEWS_NONE);
  script((step){.shards = "a"});
  CHECK_INT(list().shards_n, 1);
  f.mono_us += UINT64_C(3600000000);
  script((step){.class = SLP_TRANSIENT}); /* this may be over by the next listing */
  script((step){.shards = "a"});
  CHECK_INT(list().shards_n, 1);
  script((step){.placement = SLOOP_PLACED_ANYWHERE});
  script((step){.shards = "a"});
  CHECK_INT(list().placement, SLOOP_PLACED_ANYWHERE);
  script((step){.shards = "a"}); /* once is enough */
  CHECK_INT(list().placement, SLOOP_PLACED_ANYWHERE);
  close_source();
}

TEST(describe_tells_what_the_stream_is) {
  open_source("s");
  script((step){.date_ms = 1000});
  slp_src_describe rq = {.rq = {.on_done = on_done}};
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_STR(asked[0], "describe s ");
  CHECK_STR(rq.name, "s");
  CHECK_STR(rq.arn, "");
  CHECK_INT(rq.retention_ms, 86400000);
  CHECK_INT(rq.created_ms, 5);
  CHECK_INT(rq.ready, 1);
  CHECK_INT(rq.rq.sent_us, 11);
  CHECK_INT(rq.rq.done_us, 22);
  CHECK_INT(rq.rq.date_ms, 1000);
  status = SLP_STREAM_CREATING;
  script((step){.class = SLP_FINE});
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(rq.ready, 0);
  script((step){.class = SLP_GONE, .aws_code = "ResourceNotFoundException"});
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(rq.rq.fail.class, SLP_GONE);
  close_source();
}

TEST(the_arn_is_sent_when_the_user_gave_one) {
  open_source("arn:aws:kinesis:us-east-1:1:stream/name");
  script((step){.class = SLP_FINE});
  slp_src_describe rq = {.rq = {.on_done = on_done}};
  src->ops->describe(src, &rq);
  fake_run(&f, 1000);
  CHECK_STR(asked[0], "describe name arn:aws:kinesis:us-east-1:1:stream/name");
  CHECK_STR(rq.name, "name");
  close_source();
}

TEST(a_listing_is_all_pages_as_a_set) {
  open_source("s");
  script((step){.shards = "a! b<a", .next = "t1"});
  script((step){.shards = "", .next = "t2"});
  script((step){.shards = "c<a,x b! a"});
  slp_src_list rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_STR(ids(&rq), "a! b<a! c<a,x"); /* a stays closed, b was closed meanwhile */
  CHECK_STR(asked[0], "list s ");
  CHECK_STR(asked[1], "list s t1");
  CHECK_STR(asked[2], "list s t2");
  script((step){.shards = ""}); /* an empty stream is no error; the answer before is given back */
  rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_INT(rq.shards_n, 0);
  close_source();
}

TEST(an_expired_token_starts_over_five_times_at_most) {
  open_source("s");
  script((step){.shards = "a b", .next = "t1"});
  script((step){.class = SLP_EXPIRED, .aws_code = "ExpiredNextTokenException"});
  script((step){.shards = "b c"});
  slp_src_list rq = list();
  CHECK_STR(ids(&rq), "b c");
  for (int i = 0; i < 6; i++) {
    script((step){.shards = "a", .next = "t"});
    script((step){.class = SLP_EXPIRED});
  }
  rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(rq.shards_n, 0);
  close_source();
}

TEST(a_failed_page_fails_the_listing_and_the_last_good_one_is_kept) {
  open_source("s");
  script((step){.shards = "a"});
  slp_src_list good = list();
  script((step){.shards = "b", .next = "t"});
  script((step){.class = SLP_THROTTLE});
  slp_src_list bad = list();
  CHECK_INT(bad.rq.fail.class, SLP_THROTTLE);
  CHECK_STR(ids(&good), "a");
  close_source();
}

TEST(an_empty_page_may_go_on_from_where_it_was) {
  open_source("s");
  script((step){.shards = "a", .next = "t"});
  script((step){.shards = "", .next = "t"});
  script((step){.shards = "b"});
  slp_src_list rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_INT(rq.shards_n, 2);
  close_source();
}

TEST(an_endless_listing_ends) {
  open_source("s");
  script((step){.shards = "a", .next = "t"});
  endless = 1; /* the same page for ever */
  slp_src_list rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(rq.rq.fail.code, SLOOP_EPROTO);
  close_source();
}

TEST(a_token_that_is_too_long_is_told_with_the_limit) {
  static char token[1024 * 1024 + 2];
  memset(token, 't', sizeof token - 1);
  open_source("s");
  script((step){.shards = "", .next = token});
  slp_src_list rq = list();
  CHECK_INT(rq.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(rq.rq.fail.code, SLOOP_EPROTO);
  CHECK_STR(rq.rq.fail.message,
            "the listing of shards: the key of the next page has more than 1 MiB (page 1)");
  close_source();
}

static slp_src_locate locate(slp_position_kind kind, int64_t at_ms) {
  slp_src_locate rq = {
      .rq = {.on_done = on_done}, .shard = SLP_STR("x"), .from = {.kind = kind, .at_ms = at_ms}};
  slp_mark_set(&rq.from.mark, SLP_STR("49"), 0, -1);
  slp_buf_init(&rq.cursor, mem, 4096);
  src->ops->locate(src, &rq);
  fake_run(&f, 1000);
  return rq;
}

TEST(places_become_iterators) {
  static const char *const want[] = {"TRIM_HORIZON x 49", "LATEST x 49", "AT_TIMESTAMP x 49",
                                     "AT_SEQUENCE_NUMBER x 49", "AFTER_SEQUENCE_NUMBER x 49"};
  open_source("s");
  for (int kind = SLP_POSITION_OLDEST; kind <= SLP_POSITION_AFTER; kind++) {
    script((step){.date_ms = 9000});
    slp_src_locate rq = locate((slp_position_kind)kind, 1);
    CHECK_STR(asked[kind - 1], want[kind - 1]);
    CHECK_STR(slp_buf_z(&rq.cursor), "cursor");
    CHECK_INT(rq.rq.date_ms, 9000);
    slp_buf_free(&rq.cursor);
  }
  close_source();
}

TEST(a_time_the_service_has_not_reached_becomes_a_moment_ago) {
  open_source("s");
  script((step){.class = SLP_REFUSED, .aws_code = "InvalidArgumentException", .date_ms = 100000});
  script((step){.class = SLP_FINE});
  slp_src_locate rq = locate(SLP_POSITION_TIME, 99000);
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_STR(asked[1], "AT_TIMESTAMP x 49");
  CHECK_INT(asked_ms, 98000);
  CHECK_STR(slp_buf_z(&rq.cursor), "cursor");
  slp_buf_free(&rq.cursor);
  close_source();
  open_source("s"); /* it does not say what time it is, and our clock is ahead */
  script((step){.class = SLP_REFUSED, .aws_code = "InvalidArgumentException", .date_ms = -1});
  script((step){.class = SLP_REFUSED, .aws_code = "InvalidArgumentException", .date_ms = -1});
  script((step){.class = SLP_FINE});
  rq = locate(SLP_POSITION_TIME, INT64_MAX / 2);
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_STR(asked[2], "TRIM_HORIZON x 49");
  slp_buf_free(&rq.cursor);
  close_source();
  open_source("s");
  script((step){.class = SLP_REFUSED, .aws_code = "InvalidArgumentException", .date_ms = 100000});
  rq = locate(SLP_POSITION_TIME, 90000); /* in the past: something else is wrong */
  CHECK_INT(rq.rq.fail.class, SLP_REFUSED);
  slp_buf_free(&rq.cursor);
  script((step){.class = SLP_REFUSED, .aws_code = "InvalidArgumentException", .date_ms = 100000});
  rq = locate(SLP_POSITION_AT, 99000);
  CHECK_INT(rq.rq.fail.class, SLP_REFUSED);
  slp_buf_free(&rq.cursor);
  close_source();
}

/* kinesis-mock says ResourceNotFoundException of a number, in words that name it; of a shard, it is gone. */
TEST(a_number_that_is_not_found_is_a_position_and_no_shard_that_is_gone) {
  static const struct {
    const char *words;
    int of_number;
  } rows[] = {{"Unable to find record with provided SequenceNumber SequenceNumber(49) in stream Some(s)", 1},
              {"49", 1},
              {"Could not find shardId shardId-000000000049 in stream s", 0},
              {"Could not find shardId x in stream s49x, 490, 149", 0},
              {"Shard x in stream s under account 000000000000 does not exist", 0},
              {"", 0}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    open_source("s");
    for (int kind = SLP_POSITION_AT; kind <= SLP_POSITION_AFTER; kind++) {
      script((step){.class = SLP_GONE, .aws_code = "ResourceNotFoundException", .words = rows[i].words});
      slp_src_locate rq = locate((slp_position_kind)kind, 1);
      CHECK_INT(rq.rq.fail.class, rows[i].of_number ? SLP_REFUSED : SLP_GONE);
      if (rows[i].of_number) {
        CHECK_INT(rq.rq.fail.code, SLOOP_EPOSITION);
        CHECK(strstr(rq.rq.fail.message, "refuses to read from 49: ") &&
              strstr(rq.rq.fail.message, rows[i].words));
      }
      slp_buf_free(&rq.cursor);
    }
    script((step){.class = SLP_GONE, .aws_code = "ResourceNotFoundException", .words = rows[i].words});
    slp_src_locate oldest = locate(SLP_POSITION_OLDEST, 1);
    CHECK_INT(oldest.rq.fail.class, SLP_GONE);
    slp_buf_free(&oldest.cursor);
    close_source();
  }
}

static int grow(slp_src_fetch *rq, size_t more) {
  (void)rq;
  return more < 100;
}

TEST(pages_are_handed_on_as_they_come) {
  open_source("arn:aws:kinesis:us-east-1:1:stream/name");
  slp_page *page = slp_page_new(mem);
  slp_src_fetch rq = {.rq = {.on_done = on_done},
                      .shard = SLP_STR("x"),
                      .cursor = SLP_STR("it"),
                      .limit = 10,
                      .may_grow = grow,
                      .page = page};
  script((step){.class = SLP_FINE});
  src->ops->fetch(src, &rq);
  src->ops->resume(src, &rq);
  fake_run(&f, 1000);
  CHECK_STR(asked[0], "get it arn:aws:kinesis:us-east-1:1:stream/name");
  CHECK_INT(resumed, 1);
  CHECK_INT(page->behind_ms, 77);
  CHECK_INT(rq.body_bytes, 123);
  src->ops->resume(src, &rq); /* not in flight: nothing happens */
  script((step){.class = SLP_EXPIRED});
  src->ops->fetch(src, &rq);
  fake_run(&f, 1000);
  CHECK_INT(rq.rq.fail.class, SLP_EXPIRED);
  slp_page_free(page);
  close_source();
}

TEST(cancel_is_silent_and_gives_the_cursor_back) {
  open_source("s");
  hang = 1;
  slp_src_locate rq = {.rq = {.on_done = on_done}, .shard = SLP_STR("x"), .from.kind = SLP_POSITION_LATEST};
  slp_buf_init(&rq.cursor, mem, 4096);
  slp_buf_add_z(&rq.cursor, "old");
  src->ops->cancel(src, &rq.rq); /* not sent */
  script((step){.class = SLP_FINE});
  src->ops->locate(src, &rq);
  src->ops->cancel(src, &rq.rq);
  CHECK_INT(cancelled, 1);
  fake_run(&f, 1000);
  CHECK_INT(done, 0);
  slp_buf_free(&rq.cursor);
  script((step){.shards = "a", .next = "t"});
  slp_src_list l = {.rq = {.on_done = on_done}};
  src->ops->list(src, &l);
  src->ops->cancel(src, &l.rq);
  CHECK_INT(cancelled, 2);
  close_source();
}

/* ---- aggregates ---------------------------------------------------------------------------------------- */
#define FIRST_HALF_START "0"
#define FIRST_HALF_END "170141183460469231731687303715884105727"

/* Keys a and b: a hashes into the first half of the ring, b into the second. */
static void put_aggregate(slp_page *page, size_t more) {
  slp_buf message, sealed;
  slp_buf_init(&message, mem, SIZE_MAX / 2);
  slp_buf_init(&sealed, mem, SIZE_MAX / 2);
  kpl_key(&message, "a");
  kpl_key(&message, "b");
  kpl_record(&message, 0, -1, SLP_STR("first"));
  kpl_record(&message, 1, -1, SLP_STR("second"));
  for (; more; more--) kpl_record(&message, 0, -1, SLP_STR("and so on"));
  kpl_seal(&sealed, slp_buf_str(&message));
  kpl_page_add(page, slp_buf_str(&sealed));
  slp_buf_free(&message);
  slp_buf_free(&sealed);
}

static void fill(slp_page *page) {
  kpl_page_add(page, SLP_STR("plain"));
  put_aggregate(page, 0);
}
static void fill_much(slp_page *page) {
  for (int i = 0; i < 10; i++) put_aggregate(page, 5000);
}
static void fill_plain(slp_page *page) { kpl_page_add(page, SLP_STR("plain")); }
static void fill_children(slp_page *page) {
  static const slp_shard_desc children[] = {
      {.id = {"c", 1},
       .hash_start = {"170141183460469231731687303715884105728", 39},
       .hash_end = {"340282366920938463463374607431768211455", 39}},
      {.id = {"d", 1}}, /* without a range */
  };
  page->children = slp_zalloc_n(page->mem, 2, sizeof children[0]);
  memcpy(page->children, children, sizeof children);
  page->children_n = 2;
}

/* "plain first second*" : data of each row, '*' foreign; how it ends is in rq. */
static const char *fetch(const char *shard, void (*by)(slp_page *), slp_src_fetch *rq) {
  static char text[200];
  size_t at = 0;
  slp_page *page = slp_page_new(mem);
  *rq =
      (slp_src_fetch){.rq = {.on_done = on_done}, .shard = slp_str_of(shard), .may_grow = grow, .page = page};
  script((step){.fill = by});
  int before = done;
  src->ops->fetch(src, rq);
  fake_run(&f, 1000000);
  CHECK_INT(done, before + 1);
  text[0] = 0;
  for (size_t i = 0; i < page->recs_n && at < 100; i++) {
    slp_str data = slp_rec_data(page, &page->recs[i]);
    at +=
        (size_t)snprintf(text + at, sizeof text - at, "%s%.*s%s", i ? " " : "", data.n < 20 ? (int)data.n : 3,
                         data.n < 20 ? data.p : "...", page->recs[i].flags & SLP_REC_FOREIGN ? "*" : "");
  }
  slp_page_free(page);
  return text;
}

TEST(aggregates_are_expanded_before_core_sees_them) {
  slp_src_fetch rq;
  open_source("s");
  CHECK_STR(fetch("a", fill, &rq), "plain first second"); /* no listing: nobody can tell a foreign one */
  CHECK_INT(rq.rq.fail.class, SLP_FINE);
  CHECK_INT(rq.body_bytes, 123);
  script((step){.shards = "a", .hash_start = FIRST_HALF_START, .hash_end = FIRST_HALF_END});
  list();
  CHECK_STR(fetch("a", fill, &rq), "plain first second*");
  CHECK_STR(fetch("b", fill, &rq), "plain first second");
  CHECK_STR(fetch("a", fill_plain, &rq), "plain");
  script((step){.shards = "a", .hash_start = "no", .hash_end = "number"});
  list();
  CHECK_STR(fetch("a", fill, &rq), "plain first second");
  close_source();
}

TEST(nothing_is_foreign_where_keys_do_not_decide) {
  for (int placement = SLOOP_PLACED_UNKNOWN; placement <= SLOOP_PLACED_ANYWHERE; placement++) {
    slp_src_fetch rq;
    open_placed("s", (sloop_placement_t)placement);
    script((step){.shards = "a", .hash_start = FIRST_HALF_START, .hash_end = FIRST_HALF_END});
    list();
    CHECK_STR(fetch("a", fill, &rq),
              placement == SLOOP_PLACED_ANYWHERE ? "plain first second" : "plain first second*");
    close_source();
  }
}

TEST(aggregates_are_kept_when_asked_to) {
  slp_src_fetch rq;
  aggregates = SLOOP_AGGREGATES_KEEP;
  open_source("s");
  CHECK_STR(fetch("a", fill, &rq), "plain ...");
  close_source();
}

TEST(children_are_known_by_the_page_that_names_them) {
  slp_src_fetch rq;
  open_source("s");
  script((step){.shards = "a", .hash_start = FIRST_HALF_START, .hash_end = FIRST_HALF_END});
  list();
  CHECK_STR(fetch("a", fill_children, &rq), "");
  CHECK_STR(fetch("a", fill_children, &rq), ""); /* once more: the same */
  CHECK_STR(fetch("c", fill, &rq), "plain first* second");
  CHECK_STR(fetch("d", fill, &rq), "plain first second");
  script((step){.shards = "c d", .hash_start = FIRST_HALF_START, .hash_end = FIRST_HALF_END});
  list();
  CHECK_STR(fetch("c", fill, &rq), "plain first second*"); /* the listing is asked first */
  CHECK_STR(fetch("a", fill, &rq), "plain first second");
  close_source();
}

TEST(a_page_that_takes_many_turns_is_answered_once_and_may_be_cancelled) {
  slp_src_fetch rq;
  open_source("s");
  CHECK_STR(fetch("a", fill_much, &rq),
            "first second and so on and so on and so on and so on and so on and so on "
            "and so on and so on and so on");
  for (int events = 1; events < 12; events++) {
    slp_page *page = slp_page_new(mem);
    rq = (slp_src_fetch){.rq = {.on_done = on_done}, .shard = SLP_STR("a"), .may_grow = grow, .page = page};
    script((step){.fill = fill_much});
    int before = done;
    src->ops->fetch(src, &rq);
    for (int i = 0; i < events; i++) { /* one event by hand */
      slp_event *ev = SLP_OWNER(slp_list_pop(&f.h.ready), slp_event, link);
      ev->run(ev);
    }
    if (events > 1) src->ops->resume(src, &rq); /* nothing to resume */
    src->ops->cancel(src, &rq.rq);
    CHECK(rq.rq.impl == NULL);
    fake_run(&f, 1000);
    CHECK_INT(done, before);
    CHECK_INT(page->recs_n, 10);
    slp_page_free(page);
  }
  CHECK_INT(resumed, 0);
  close_source();
}

TEST(pages_expand_side_by_side) {
  slp_src_fetch rq[40];
  open_source("s");
  hang = 1;
  for (size_t i = 0; i < SLP_COUNT(rq); i++) {
    rq[i] = (slp_src_fetch){
        .rq = {.on_done = on_done}, .shard = SLP_STR("a"), .may_grow = grow, .page = slp_page_new(mem)};
    steps_n = played = 0;
    script((step){.fill = fill_much});
    src->ops->fetch(src, &rq[i]);
    answer_now(NULL);
  }
  CHECK_INT(done, 0);
  fake_run(&f, 1000000);
  CHECK_INT(done, SLP_COUNT(rq));
  for (size_t i = 0; i < SLP_COUNT(rq); i++) {
    CHECK_INT(rq[i].page->recs_n, 50020);
    slp_page_free(rq[i].page);
  }
  close_source();
}

/* ---- memory -------------------------------------------------------------------------------------------- */
TEST(without_memory_every_request_is_still_answered) {
  scarce memory = {.left = -1};
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, SLP_STR("s"), SLOOP_AGGREGATES_EXPAND), 0);
  slp_page *page = slp_page_new(mem);
  memory.left = 0;
  slp_src_list l = {.rq = {.on_done = on_done}};
  slp_src_describe d = {.rq = {.on_done = on_done}};
  slp_src_fetch g = {.rq = {.on_done = on_done}, .page = page};
  slp_src_locate p = {.rq = {.on_done = on_done}, .from.kind = SLP_POSITION_OLDEST};
  src->ops->list(src, &l);
  src->ops->describe(src, &d);
  src->ops->fetch(src, &g);
  src->ops->locate(src, &p);
  src->ops->resume(src, &g);
  src->ops->cancel(src, &d.rq);
  CHECK_INT(done, 0);
  fake_run(&f, 1000);
  CHECK_INT(done, 3);
  CHECK_INT(l.rq.fail.class, SLP_NOMEM);
  CHECK_INT(g.rq.fail.class, SLP_NOMEM);
  CHECK_INT(p.rq.fail.class, SLP_NOMEM);
  slp_page_free(page);
  src->ops->close(src);
  fake_end(&f, mem);
}

TEST(without_memory_to_expand_the_fetch_fails_and_the_page_is_as_it_was) {
  int failed = 0;
  for (long n = 0;; n++) {
    scarce memory = {.left = -1};
    mem = slp_mem_new(scarce_alloc, &memory);
    fake_init(&f, mem);
    steps_n = played = done = 0;
    CHECK_INT(slp_kinesis_poll_new(&src, &f.h, &ops, SLP_STR("s"), SLOOP_AGGREGATES_EXPAND), 0);
    slp_page *page = slp_page_new(mem);
    slp_src_fetch rq = {.rq = {.on_done = on_done}, .shard = SLP_STR("a"), .may_grow = grow, .page = page};
    script((step){.fill = fill_much});
    src->ops->fetch(src, &rq);
    memory.left = n;
    fake_run(&f, 1000000);
    memory.left = -1;
    CHECK_INT(done, 1);
    int fine = rq.rq.fail.class == SLP_FINE;
    if (!fine) CHECK_INT(rq.rq.fail.class, SLP_NOMEM);
    CHECK_INT(page->recs_n, fine ? 50020 : 10);
    slp_page_free(page);
    close_source();
    if (fine) break;
    failed++;
  }
  CHECK(failed >= 4);
}
