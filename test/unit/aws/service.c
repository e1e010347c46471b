/* service.c - pages that are read while they come: pieces of every size give the records of the whole, and
 * nothing is left of a try that failed in the middle. */
#include "aws/aws.h"
#include "aws_fake_host.h"
#include "codec/cbor.h"
#include "sloop.h"

#define RECORDS 300
#define DATA_BYTES 384

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_ops *ops;
static slp_page *page;
static slp_buf body;
static int done;
static size_t read_early; /* records that were in the page when its last piece came */
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};

static void start(slp_wire wire) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env_keys;
  slp_aws_options o = {
      .endpoint = "http://127.0.0.1:4567", .wire = wire, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(slp_kinesis_new(&ops, aws), 0);
  page = slp_page_new(mem);
  slp_buf_init(&body, mem, 1 << 20);
}

static void finish(void) {
  slp_buf_free(&body);
  slp_page_free(page);
  slp_kinesis_free(ops);
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}

static void on_done(slp_op *op) {
  (void)op;
  done++;
}

static int grow(slp_op_records *op, size_t more) {
  (void)more;
  read_early = op->page->recs_n;
  return 1;
}

static slp_op_records records_op(uint32_t tries_max) {
  slp_page_reset(page);
  done = 0;
  read_early = 0;
  return (slp_op_records){.op = {.on_done = on_done, .tries_max = tries_max},
                          .iterator = SLP_STR("it"),
                          .limit = 500,
                          .may_grow = grow,
                          .page = page};
}

static slp_fail get(uint32_t tries_max) {
  slp_op_records op = records_op(tries_max);
  ops->records(ops, &op);
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
  if (op.op.fail.class == SLP_FINE)
    CHECK_INT(op.body_bytes, body.n);
  else
    CHECK_INT(page->recs_n + page->body.n, 0);
  return op.op.fail;
}

/* The i-th record's payload is DATA_BYTES of the same letter. */
static char letter(size_t i) { return (char)('a' + i % 26); }

static void json_body(size_t records) {
  static const char *const groups[] = {"YWFh", "YmJi", "Y2Nj"}; /* aaa, bbb, ccc */
  slp_buf_clear(&body);
  slp_buf_add_z(&body, "{\"Records\":[");
  for (size_t i = 0; i < records; i++) {
    slp_buf_addf(&body, "%s{\"SequenceNumber\":\"%zu\",\"PartitionKey\":\"k\",\"Data\":\"", i ? "," : "",
                 i + 1);
    for (size_t n = 0; n < DATA_BYTES; n += 3) slp_buf_add_z(&body, groups[i % 3]);
    slp_buf_add_z(&body, "\"}");
  }
  slp_buf_add_z(&body, "],\"NextShardIterator\":\"next\"}");
}

static void cbor_body(size_t records) {
  char data[DATA_BYTES], seq[24];
  slp_buf_clear(&body);
  slp_cbor_put_map(&body, 2);
  slp_cbor_put_text(&body, SLP_STR("Records"));
  slp_cbor_put_array(&body, records);
  for (size_t i = 0; i < records; i++) {
    slp_cbor_put_map(&body, 3);
    slp_cbor_put_text(&body, SLP_STR("SequenceNumber"));
    snprintf(seq, sizeof seq, "%zu", i + 1);
    slp_cbor_put_text(&body, slp_str_of(seq));
    slp_cbor_put_text(&body, SLP_STR("PartitionKey"));
    slp_cbor_put_text(&body, SLP_STR("k"));
    slp_cbor_put_text(&body, SLP_STR("Data"));
    memset(data, letter(i % 3), sizeof data);
    slp_cbor_put_bytes(&body, (slp_str){data, sizeof data});
  }
  slp_cbor_put_text(&body, SLP_STR("NextShardIterator"));
  slp_cbor_put_text(&body, SLP_STR("next"));
}

static void check_page(size_t records) {
  CHECK_INT(page->recs_n, records);
  for (size_t i = 0; i < records; i++) {
    char seq[24];
    snprintf(seq, sizeof seq, "%zu", i + 1);
    CHECK(slp_str_is(slp_rec_seq(page, &page->recs[i]), seq));
    slp_str data = slp_rec_data(page, &page->recs[i]);
    CHECK_INT(data.n, DATA_BYTES);
    for (size_t n = 0; n < data.n; n++) CHECK(data.p[n] == letter(i % 3));
  }
  CHECK(slp_str_is(page->next, "next"));
}

static fake_answer *script(int cbor, size_t piece) {
  fake_answer *a = fake_script(&f, 200, "");
  if (cbor) a->content_type = "application/x-amz-cbor-1.1";
  a->body = slp_buf_str(&body);
  a->piece = piece;
  a->announced = body.n;
  return a;
}

TEST(a_page_in_pieces_of_any_size_is_the_page_of_the_whole) {
  static const size_t pieces[] = {1, 7, 1000, 16384, 65536, 0};
  for (int cbor = 0; cbor <= 1; cbor++) {
    start(cbor ? SLP_WIRE_AUTO : SLP_WIRE_JSON);
    if (cbor)
      cbor_body(RECORDS);
    else
      json_body(RECORDS);
    for (size_t i = 0; i < SLP_COUNT(pieces); i++) {
      script(cbor, pieces[i]);
      CHECK_INT(get(1).class, SLP_FINE);
      check_page(RECORDS);
      if (pieces[i] && read_early < RECORDS / 3) CHECK_FAIL("%zu in pieces of %zu", read_early, pieces[i]);
      if (!pieces[i]) CHECK_INT(read_early, 0);
    }
    script(cbor, 1000)->announced = 0; /* chunked: nothing is known of its length */
    CHECK_INT(get(1).class, SLP_FINE);
    check_page(RECORDS);
    CHECK_INT(read_early, 0);
    finish();
  }
}

TEST(of_a_try_that_failed_in_the_middle_nothing_is_left) {
  start(SLP_WIRE_JSON);
  for (size_t cut = 1000; cut < 160000; cut += 15111) {
    json_body(RECORDS);
    fake_answer *a = script(0, 1000);
    a->body.n = cut;
    a->error = SLOOP_EREMOTE;
    CHECK_INT(get(1).class, SLP_TRANSIENT);
    CHECK_INT(read_early > 0, cut > 10000);
    script(0, 1000);
    CHECK_INT(get(1).class, SLP_FINE);
    check_page(RECORDS);
    a = script(0, 1000); /* and the op's own second try, at once and in pieces; its answer is another one */
    a->body.n = cut;
    a->error = SLOOP_EREMOTE;
    slp_buf first = body;
    slp_buf_init(&body, mem, 1 << 20);
    json_body(cut % 2 ? 200 : 2);
    script(0, cut % 2 ? 1000 : 0);
    CHECK_INT(get(2).class, SLP_FINE);
    check_page(cut % 2 ? 200 : 2);
    slp_buf_free(&first);
    f.answers_n = f.answered_n = f.sent_n = 0;
  }
  finish();
}

/* Six bytes stand for a control character in JSON: the request is longer than any, which is no lack of memory. */
TEST(a_token_that_makes_a_request_too_long_is_told_with_the_limit) {
  start(SLP_WIRE_JSON);
  slp_buf token;
  slp_buf_init(&token, mem, 1 << 20);
  while (token.n < 1 << 20) slp_buf_add_char(&token, 1);
  slp_op_list_shards op;
  slp_op_list_init(&op, mem);
  op.op = (slp_op){.on_done = on_done, .tries_max = 1};
  op.next_token = slp_buf_str(&token);
  done = 0;
  ops->list_shards(ops, &op);
  fake_run(&f, 1000000);
  CHECK_INT(done, 1);
  CHECK_INT(op.op.fail.class, SLP_TRANSIENT);
  CHECK_INT(op.op.fail.code, SLOOP_EPROTO);
  CHECK_STR(op.op.fail.message,
            "with what the service gave to go on by a request has more than 2101248 bytes");
  slp_op_list_free(&op);
  slp_buf_free(&token);
  finish();
}

TEST(only_pages_of_the_form_that_was_asked_for_are_read_early) {
  start(SLP_WIRE_AUTO);
  json_body(RECORDS);
  script(0, 1000); /* JSON to a request in CBOR: asked for again in JSON */
  script(0, 1000);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(f.sent_n, 2);
  check_page(RECORDS);
  fake_answer *a = script(1, 1000);
  cbor_body(RECORDS);
  a->body = slp_buf_str(&body);
  a->announced = body.n;
  a->status = 500;
  CHECK_INT(get(1).class, SLP_TRANSIENT);
  CHECK_INT(read_early, 0);
  finish();
}

TEST(a_damaged_page_is_told_when_all_of_it_came) {
  start(SLP_WIRE_JSON);
  json_body(RECORDS);
  body.p[body.n / 2] = '\1';
  script(0, 1000);
  slp_fail fail = get(1);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EPROTO);
  CHECK(strstr(fail.message, "not a page of records") != NULL);
  script(0, 0);
  CHECK_STR(get(1).message, fail.message);
  finish();
}

TEST(an_answer_that_is_not_as_long_as_announced_is_refused) {
  start(SLP_WIRE_JSON);
  json_body(RECORDS);
  for (int longer = 0; longer <= 1; longer++) {
    script(0, 1000)->announced += longer ? -(size_t)50000 : 50000;
    slp_fail fail = get(1);
    CHECK_INT(fail.class, SLP_TRANSIENT);
    CHECK_INT(fail.code, SLOOP_EPROTO);
  }
  finish();
}

static int grow_half(slp_op_records *op, size_t more) { return op->page->body.n + more <= body.n / 2; }

TEST(a_call_is_cancelled_or_goes_on_in_the_middle_of_its_page) {
  start(SLP_WIRE_JSON);
  json_body(RECORDS);
  for (int cancel = 0; cancel <= 1; cancel++) {
    script(0, 1000);
    slp_op_records op = records_op(1);
    op.may_grow = grow_half;
    ops->records(ops, &op);
    fake_run(&f, 1000000);
    CHECK_INT(done, 0);
    CHECK(page->recs_n > RECORDS / 3 && page->recs_n <= RECORDS / 2);
    op.may_grow = grow;
    if (cancel)
      ops->cancel(ops, &op.op);
    else
      ops->resume(ops, &op.op);
    fake_run(&f, 1000000);
    CHECK_INT(done, !cancel);
    if (!cancel) check_page(RECORDS);
  }
  finish();
}
