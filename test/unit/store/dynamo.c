/* store/dynamo.c: the store over a scripted transport: what no local server shows on demand. */
#include "store/dynamo.h"

#include "sloop.h"

#include "aws_fake_host.h"
#include "aws_quotes.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_store *s;
static int done;
static const slp_table_spec table = {"leases", "app", "row"};
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};

static void begin(void) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env_keys;
  slp_aws_options o = {.endpoint = "http://127.0.0.1:8000", .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(slp_dynamo_store(&s, &f.h, aws, &table), 0);
  slp_aws_drop(aws); /* the store holds it */
}
static void end(void) {
  s->ops->close(s);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}
static void on_done(slp_store_req *rq) {
  CHECK(!rq->impl && rq->done_us >= rq->sent_us);
  done++;
}
static void await(void) {
  CHECK_INT(done, 0); /* never inside the call */
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
  done = 0;
}

/* ---- preparing ----------------------------------------------------------------------------------------- */
#define DESCRIBED(status)                                                \
  "{\"Table\":{\"TableStatus\":\"" status                                \
  "\",\"KeySchema\":[{\"AttributeName\":\"app\",\"KeyType\":\"HASH\"},{" \
  "\"AttributeName\":\"row\",\"KeyType\":\"RANGE\"}]}}"
#define ERROR(name) "{\"__type\":\"com.amazonaws.dynamodb.v20120810#" name "\",\"message\":\"so it is\"}"

static slp_store_prepare prepare(int create) {
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = (uint8_t)create};
  s->ops->prepare(s, &p);
  await();
  return p;
}

TEST(a_table_is_made_and_waited_for_though_it_cannot_be_seen_at_first) {
  begin();
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 200, "{\"TableDescription\":{}}");
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 200, DESCRIBED("CREATING"));
  fake_script(&f, 200, DESCRIBED("ACTIVE"));
  slp_store_prepare p = prepare(1);
  CHECK_INT(p.rq.fail.class, SLP_FINE);
  CHECK_INT(p.created, 1);
  CHECK_STR(f.sent[1].target, "DynamoDB_20120810.CreateTable");
  CHECK_STR(f.sent[4].target, "DynamoDB_20120810.DescribeTable");
  CHECK(f.sent[4].at_us - f.sent[3].at_us >= 50000); /* not at once */
  end();
}

TEST(a_table_that_somebody_else_just_made_is_as_good) {
  begin();
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 400, ERROR("ResourceInUseException"));
  fake_script(&f, 200, DESCRIBED("CREATING"));
  fake_script(&f, 200, DESCRIBED("UPDATING")); /* can be used */
  slp_store_prepare p = prepare(1);
  CHECK_INT(p.rq.fail.class, SLP_FINE);
  CHECK_INT(p.created, 0);
  end();
}

TEST(a_table_whose_making_is_in_doubt_is_looked_for) {
  begin();
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 500, "");
  fake_script(&f, 200, DESCRIBED("ACTIVE"));
  CHECK_INT(prepare(1).rq.fail.class, SLP_FINE);
  fake_script(&f, 400, ERROR("ResourceNotFoundException")); /* and made again when the first try made none */
  fake_script(&f, 500, "");
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 200, "{}");
  fake_script(&f, 200, DESCRIBED("ACTIVE"));
  CHECK_INT(prepare(1).rq.fail.class, SLP_FINE);
  end();
}

TEST(what_cannot_be_used_is_named) {
  begin();
  fake_script(&f, 200, DESCRIBED("ARCHIVED"));
  slp_store_prepare p = prepare(1);
  CHECK_INT(p.rq.fail.class, SLP_REFUSED);
  CHECK(strstr(p.rq.fail.message, "\"leases\"") && strstr(p.rq.fail.message, "ARCHIVED"));
  fake_script(&f, 400, ERROR("AccessDeniedException"));
  p = prepare(1);
  CHECK_INT(p.rq.fail.class, SLP_ACCESS);
  CHECK_STR(p.rq.fail.message, "no permission for dynamodb:DescribeTable on table \"leases\": so it is");
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  fake_script(&f, 400, ERROR("AccessDeniedException"));
  p = prepare(1);
  CHECK(strstr(p.rq.fail.message, "dynamodb:CreateTable on table \"leases\""));
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  p = prepare(0);
  CHECK_INT(p.rq.fail.class, SLP_GONE);
  CHECK_INT(p.rq.fail.code, SLP_ENOENT);
  end();
}

/* An answer that can be read is quoted too, when it says that the table can't be used. */
TEST(a_table_that_quotes_what_was_sent_is_told_without_it) {
  static const char token[] = "FwoGZXIvYXdzEBYaDHTheRestOfTheToken";
  static const fake_pair with_token[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                         {"AWS_SECRET_ACCESS_KEY", "secret"},
                                         {"AWS_SESSION_TOKEN", token},
                                         {"AWS_REGION", "us-east-1"},
                                         {NULL, NULL}};
  static const char *const answers[] = {
      DESCRIBED("FwoGZXIvYXdzEBYaDHTheRestOfTheToken"),
      "{\"Table\":{\"TableStatus\":\"ACTIVE\",\"KeySchema\":[{\"AttributeName\":"
      "\"FwoGZXIvYXdzEBYaDHTheRestOfTheToken\",\"KeyType\":\"HASH\"}]}}"};
  for (size_t i = 0; i < SLP_COUNT(answers); i++) {
    begin();
    f.env = with_token;
    fake_script(&f, 200, answers[i]);
    slp_store_prepare p = prepare(1);
    CHECK_INT(p.rq.fail.class, SLP_REFUSED);
    quotes_nothing(p.rq.fail.message, token, "a table");
    end();
  }
}

TEST(a_table_that_stays_on_its_way_ends_the_waiting) {
  begin();
  for (int i = 0; i < FAKE_ANSWERS_MAX; i++) fake_script(&f, 200, DESCRIBED("CREATING"));
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  s->ops->prepare(s, &p);
  fake_run(&f, 50000000); /* fewer looks than there are answers */
  CHECK_INT(done, 0);
  s->ops->cancel(s, &p.rq);
  f.answers_n = f.answered_n;
  CHECK(f.sent_n > 10 && f.sent_n < FAKE_ANSWERS_MAX);
  end();
}

/* ---- reading ------------------------------------------------------------------------------------------- */
#define ROW(n) "{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"" n "\"}}"

TEST(keys_left_out_are_asked_for_again_and_pages_put_together) {
  slp_row_key keys[2] = {{SLP_STR("a"), SLP_STR("1")}, {SLP_STR("a"), SLP_STR("2")}};
  slp_store_get g = {.rq = {.on_done = on_done}, .keys = keys, .keys_n = 2};
  begin();
  slp_store_rows_init(&g.out, mem);
  fake_script(&f, 200, "{\"Responses\":{\"leases\":[" ROW("1") "]},\"UnprocessedKeys\":{\"leases\":{\"Keys\":[7]}},"
                       "\"ConsumedCapacity\":[{\"CapacityUnits\":0.5}]}");
  fake_script(&f, 200, "{\"Responses\":{\"leases\":[" ROW("2") "]},\"UnprocessedKeys\":{},"
                       "\"ConsumedCapacity\":[{\"CapacityUnits\":0.5}]}");
  s->ops->get(s, &g);
  await();
  CHECK_INT(g.rq.fail.class, SLP_FINE);
  CHECK_INT(g.out.n, 2);
  CHECK_STR(f.sent[1].body,
            "{\"RequestItems\":{\"leases\":{\"Keys\":[7]}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  CHECK(f.sent[1].at_us - f.sent[0].at_us >= 50000);
  CHECK_INT(s->cost.read_units, 1000);
  CHECK_INT(s->cost.read_calls, 2);
  CHECK_INT(s->cost.throttles, 1);
  CHECK_INT(f.sent[0].lane, SLP_LANE_CONTROL);
  slp_store_rows_free(&g.out);
  end();
}

TEST(keys_that_stay_unprocessed_are_given_up) {
  slp_row_key keys[] = {{SLP_STR("a"), SLP_STR("1")}, {SLP_STR("a"), SLP_STR("2")}};
  slp_store_get g = {.rq = {.on_done = on_done}, .keys = keys, .keys_n = 2};
  begin();
  slp_store_rows_init(&g.out, mem);
  for (int i = 0; i < 30; i++)
    fake_script(&f, 200, "{\"Responses\":{\"leases\":[]},\"UnprocessedKeys\":{\"leases\":{\"Keys\":[7]}}}");
  s->ops->get(s, &g);
  await();
  CHECK_INT(g.rq.fail.class, SLP_THROTTLE);
  CHECK_INT(g.out.n, 0);
  f.answers_n = f.answered_n; /* fewer than there are */
  slp_store_rows_free(&g.out);
  end();
}

TEST(a_page_that_was_cut_is_read_anew_not_twice) {
  slp_store_list l = {.rq = {.on_done = on_done}, .hash = SLP_STR("a"), .prefix = SLP_STR("")};
  begin();
  slp_store_rows_init(&l.out, mem);
  fake_script(&f, 200, "{\"Items\":[" ROW("1") "],\"LastEvaluatedKey\":{\"k\":1}}");
  fake_script(&f, 200, "{\"Items\":[" ROW("2") "," ROW("3") ",");
  fake_script(&f, 200, "{\"Items\":[" ROW("2") "," ROW("3") "]}");
  s->ops->list(s, &l);
  await();
  CHECK_INT(l.rq.fail.class, SLP_FINE);
  CHECK_INT(l.out.n, 3);
  CHECK(strstr(f.sent[2].body, "\"ExclusiveStartKey\":{\"k\":1}"));
  slp_store_rows_free(&l.out);
  end();
}

TEST(a_listing_that_breaks_off_gives_no_rows) {
  slp_store_list l = {.rq = {.on_done = on_done}, .hash = SLP_STR("a"), .prefix = SLP_STR("p")};
  begin();
  slp_store_rows_init(&l.out, mem);
  fake_script(&f, 200, "{\"Items\":[" ROW("1") "],\"LastEvaluatedKey\":{\"k\":1}}");
  fake_script(&f, 400, ERROR("AccessDeniedException"));
  s->ops->list(s, &l);
  await();
  CHECK_INT(l.rq.fail.class, SLP_ACCESS);
  CHECK_INT(l.out.n, 0);
  end();
}

/* ---- requests that are paced by who asks -------------------------------------------------------------- */

TEST(a_paced_list_goes_on_at_the_page_that_was_throttled) {
  slp_store_list l = {.rq = {.on_done = on_done, .paced = 1}, .hash = SLP_STR("a"), .prefix = SLP_STR("p")};
  begin();
  slp_store_rows_init(&l.out, mem);
  slp_buf_init(&l.at, mem, 1000);
  fake_script(&f, 200, "{\"Items\":[" ROW("1") "],\"LastEvaluatedKey\":{\"k\":1}}");
  for (int i = 0; i < 2; i++) fake_script(&f, 400, ERROR("ProvisionedThroughputExceededException"));
  fake_script(&f, 200, "{\"Items\":[" ROW("2") "]}");
  for (int i = 0; i < 2; i++) { /* answered at once, and what came is kept */
    s->ops->list(s, &l);
    await();
    CHECK_INT(l.rq.fail.class, SLP_THROTTLE);
    CHECK_INT(f.sent_n, 2 + i);
    CHECK_INT(l.out.n, 1);
  }
  s->ops->list(s, &l);
  await();
  CHECK_INT(l.rq.fail.class, SLP_FINE);
  CHECK_INT(l.out.n, 2);
  CHECK_STR(slp_row_text(&l.out.rows[0], SLP_STR("row")).p, "1");
  for (int i = 1; i < 4; i++) CHECK(strstr(f.sent[i].body, "\"ExclusiveStartKey\":{\"k\":1}"));
  CHECK_INT(l.at.n, 0); /* the next list begins at its beginning */
  fake_script(&f, 200, "{\"Items\":[" ROW("3") "]}");
  s->ops->list(s, &l);
  await();
  CHECK_INT(l.out.n, 1);
  CHECK(!strstr(f.sent[4].body, "ExclusiveStartKey"));
  slp_buf_free(&l.at);
  slp_store_rows_free(&l.out);
  end();
}

TEST(a_paced_list_that_is_throttled_at_its_first_page_keeps_nothing) {
  slp_store_list l = {.rq = {.on_done = on_done, .paced = 1}, .hash = SLP_STR("a"), .prefix = SLP_STR("p")};
  begin();
  slp_store_rows_init(&l.out, mem);
  slp_buf_init(&l.at, mem, 1000);
  fake_script(&f, 400, ERROR("ThrottlingException"));
  fake_script(&f, 200, "{\"Items\":[" ROW("1") "]}");
  s->ops->list(s, &l);
  await();
  CHECK(l.rq.fail.class == SLP_THROTTLE && l.out.n == 0 && l.at.n == 0);
  s->ops->list(s, &l);
  await();
  CHECK_INT(l.out.n, 1);
  slp_buf_free(&l.at);
  slp_store_rows_free(&l.out);
  end();
}

TEST(a_paced_get_goes_on_with_the_keys_that_were_left_out) {
  slp_row_key keys[2] = {{SLP_STR("a"), SLP_STR("1")}, {SLP_STR("a"), SLP_STR("2")}};
  slp_store_get g = {.rq = {.on_done = on_done, .paced = 1}, .keys = keys, .keys_n = 2};
  begin();
  slp_store_rows_init(&g.out, mem);
  slp_buf_init(&g.at, mem, 1000);
  fake_script(&f, 200,
              "{\"Responses\":{\"leases\":[" ROW("1") "]},\"UnprocessedKeys\":{\"leases\":{\"Keys\":[7]}}}");
  fake_script(&f, 400, ERROR("ProvisionedThroughputExceededException"));
  fake_script(&f, 200, "{\"Responses\":{\"leases\":[" ROW("2") "]},\"UnprocessedKeys\":{}}");
  for (int i = 0; i < 2; i++) {
    s->ops->get(s, &g);
    await();
    CHECK_INT(g.rq.fail.class, SLP_THROTTLE);
    CHECK_INT(g.out.n, 1);
  }
  s->ops->get(s, &g);
  await();
  CHECK_INT(g.rq.fail.class, SLP_FINE);
  CHECK_INT(g.out.n, 2);
  for (int i = 1; i < 3; i++) CHECK(strstr(f.sent[i].body, "{\"RequestItems\":{\"leases\":{\"Keys\":[7]}}"));
  slp_buf_free(&g.at);
  slp_store_rows_free(&g.out);
  end();
}

/* ---- writing ------------------------------------------------------------------------------------------- */
static slp_store_write w;
static void write_now(int urgent) {
  static const slp_atom when = {SLP_STR("x"), SLP_TEST_THERE, {0}, 0};
  slp_store_rows_free(&w.image);
  w = (slp_store_write){.rq = {.on_done = on_done},
                        .key = {SLP_STR("a"), SLP_STR("w/1")},
                        .when = &when,
                        .when_n = 1,
                        .urgent = (uint8_t)urgent};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  await();
}

#define REFUSED "{\"__type\":\"x#ConditionalCheckFailedException\",\"message\":\"no\""

TEST(a_server_that_has_shown_a_row_means_none_when_it_shows_none) {
  begin();
  fake_script(&f, 400, REFUSED "}");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_REFUSED && !w.image_known && w.rq.fail.class == SLP_FINE);
  fake_script(&f, 400, REFUSED ",\"Item\":" ROW("w/1") "}");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_REFUSED && w.image_known && w.image.n == 1);
  fake_script(&f, 400, REFUSED "}");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_REFUSED && w.image_known && w.image.n == 0);
  fake_script(&f, 400, REFUSED ",\"Item\":{\"a\":3}}"); /* a row that can't be read */
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_REFUSED && !w.image_known && w.image.n == 0);
  end();
}

TEST(a_heartbeat_has_a_lane_of_its_own_and_one_try) {
  begin();
  fake_script(&f, 400, ERROR("ThrottlingException"));
  write_now(1);
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_THROTTLE);
  CHECK_INT(f.sent[0].lane, SLP_LANE_LEASES);
  fake_script(&f, 400, ERROR("ThrottlingException"));
  fake_script(&f, 200, "{\"Attributes\":" ROW("w/1") ",\"ConsumedCapacity\":{\"CapacityUnits\":1}}");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_YES && w.image_known && w.image.n == 1);
  CHECK_INT(f.sent[1].lane, SLP_LANE_CONTROL);
  CHECK_INT(s->cost.throttles, 2);
  CHECK_INT(s->cost.write_units, 1000);
  slp_store_rows_free(&w.image);
  end();
}

TEST(a_paced_write_that_is_throttled_is_answered_at_once) {
  begin();
  fake_script(&f, 400, ERROR("ThrottlingException"));
  w = (slp_store_write){.rq = {.on_done = on_done, .paced = 1}, .key = {SLP_STR("a"), SLP_STR("l/1")}};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  await();
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_THROTTLE);
  CHECK_INT(f.sent_n, 1);
  end();
}

TEST(an_answer_that_is_none_leaves_the_write_in_doubt) {
  begin();
  fake_script(&f, 503, "");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_TRANSIENT);
  fake_script(&f, 200, "{\"Attributes\":{\"app\":");
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_TRANSIENT && w.image.n == 0);
  CHECK(strstr(w.rq.fail.message, "UpdateItem on table \"leases\""));
  fake_script(&f, 400, ERROR("ResourceNotFoundException"));
  write_now(0);
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_GONE);
  end();
}

TEST(a_text_that_is_not_utf8_never_leaves) {
  slp_change c = {SLP_STR("x"), SLP_SET, {.kind = SLP_VAL_S, .s = SLP_STR("\xff")}};
  begin();
  w = (slp_store_write){
      .rq = {.on_done = on_done}, .key = {SLP_STR("a"), SLP_STR("b")}, .changes = &c, .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  await();
  CHECK(w.written == SLP_WRITTEN_NOT_SURE && w.rq.fail.class == SLP_REFUSED);
  CHECK_INT(f.sent_n, 0);
  end();
}
