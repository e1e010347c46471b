/* secrets.c - no message repeats a secret: every operation and every source of keys is answered with each
 * secret that was sent, in every field that a text can come from. subscribe.c does the same inside an event
 * stream. */
#define FAKE_ANSWERS_MAX 24
#include "aws_sources.h"

#include "aws/aws.h"
#include "aws/cloudwatch.h"
#include "aws/json_op.h"
#include "aws_quotes.h"
#include "codec/cbor.h"

static const char KEY[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzQ0pLmVtS",
                  TOKEN[] = "FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken/0123456789",
                  JWT[] = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.sIgNaTuReSeCrEt-q_x",
                  POD[] = "Bearer bEaRsEcReToFtHePoD/AAAA+BBBB==",
                  MACHINE[] = "AQAEALHxyz0nothing2seehere_zzz==",
                  ACCESS[] = "aoaAAAAAGc/ssoAccessIsSecret+ghijklmn",
                  REFRESH[] = "aorAAAAAGd/refreshIsSecret+abcdef", CLIENT[] = "cLiEnTsEcReT/of+registration";
#define KEYS_OF(token_name) \
  "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"" token_name "\":\"C\",\"Expiration\":\"" SOON "\"}"

/* ---- answers ------------------------------------------------------------------------------------------- */
enum {
  ERROR,
  NAME,
  HEADER,
  FAILING,
  HTML,
  LOST,
  JUNK,
  MEMBERS,
  XML,
  MOVED,
  BROKEN,
  BINARY,
  REFUSED,
  EMPTY,
  SHAPES
};
static char quoted[QUOTE_ROOM], body[7 * QUOTE_ROOM], about[200];
static fake_answer evil;

static slp_str cbor_error(void) {
  slp_mem *own = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, own, sizeof body);
  slp_cbor_put_map(&b, 2);
  slp_cbor_put_text(&b, SLP_STR("__type"));
  slp_cbor_put_text(&b, SLP_STR("AccessDeniedException"));
  slp_cbor_put_text(&b, SLP_STR("message"));
  slp_cbor_put_text(&b, slp_str_of(quoted));
  slp_str all = {body, b.n};
  memcpy(body, b.p, b.n);
  slp_buf_free(&b);
  slp_mem_drop(own);
  return all;
}

static void make_evil(int shape) {
  static const int statuses[SHAPES] = {400, 400, 400, 500, 403, 403, 200, 200, 403, 301, 0, 400, 401, 200};
  const char *q = quoted;
  body[0] = 0;
#define SAY(...) snprintf(body, sizeof body, __VA_ARGS__)
  evil = (fake_answer){.status = statuses[shape], .request_id = q, .error_type = q};
  if (shape == ERROR) SAY("{\"__type\":\"AccessDeniedException\",\"message\":\"no, %s\"}", q);
  if (shape == NAME) SAY("{\"__type\":\"%s\",\"Message\":\"%s\",\"error\":\"%s\"}", q, q, q);
  if (shape == HEADER) SAY("{}");
  if (shape == FAILING) SAY("{\"__type\":\"InternalFailure\",\"message\":\"%s\"}", q);
  if (shape == HTML) SAY("<html><b>%s</b> %s</html>", q, q);
  if (shape == LOST) SAY("{\"message\":\"%s", q);
  if (shape == JUNK) SAY("%s", q);
  if (shape == MEMBERS)
    SAY("{\"Code\":\"%s\",\"Message\":\"%s\",\"Shards\":\"%s\",\"ShardIterator\":{},\"Table\":[\"%s\"],"
        "\"Records\":7,"
        "\"NextShardIterator\":[],\"accessToken\":\"%s\",\"roleCredentials\":{\"expiration\":\"%s\"}}",
        q, q, q, q, q, q);
  if (shape == XML)
    SAY("<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", q, q);
  if (shape == BROKEN) evil.error = -ECONNRESET, evil.error_text = q;
  if (shape == REFUSED) SAY("{\"message\":\"%s\"}", q);
  evil.body = shape == BINARY ? cbor_error() : slp_str_of(body);
#undef SAY
}

static void keeps(const slp_fail *fail, const char *secret) {
  quotes_nothing(fail->message, secret, about);
  quotes_nothing(fail->aws_code, secret, about);
  quotes_nothing(fail->request_id, secret, about);
}

/* Every answer, with each of the secrets in every way; `play` asks once. */
static void with_every_answer(const char *what, const char *const *secrets,
                              void (*play)(const char *secret)) {
  static const size_t pads[] = {0, 41, 70, 113, 150, 245}; /* where fields and texts are cut */
  for (; *secrets; secrets++) {
    for (int i = 0; i < SHAPES * (QUOTES + (int)SLP_COUNT(pads) - 1); i++) {
      int shape = i % SHAPES, way = i / SHAPES, as = way < QUOTES ? way : AS_IT_IS;
      size_t pad = way < QUOTES ? 0 : pads[way - QUOTES + 1];
      quote(quoted, *secrets, as, pad);
      snprintf(about, sizeof about, "%s, answer %d, quote %d behind %zu", what, shape, as, pad);
      make_evil(shape);
      play(*secrets);
    }
  }
}

/* ---- calls --------------------------------------------------------------------------------------------- */
static const char *const signed_with[] = {TOKEN, KEY, NULL};
static const fake_pair signing[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                    {"AWS_SECRET_ACCESS_KEY", KEY},
                                    {"AWS_SESSION_TOKEN", TOKEN},
                                    {"AWS_REGION", "us-east-1"},
                                    {NULL, NULL}};
static slp_ops *ops;
static int done;
static void on_done(slp_op *op) {
  (void)op;
  done++;
}

static void asked(const slp_op *op, const char *secret) {
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
  done = 0;
  f.sent_n = 0;
  keeps(&op->fail, secret);
}

static void play_describe(const char *secret) {
  slp_op_describe op = {.op = {.on_done = on_done, .tries_max = 1}, .name = SLP_STR("s")};
  ops->describe(ops, &op);
  asked(&op.op, secret);
}
static void play_list(const char *secret) {
  slp_op_list_shards op;
  slp_op_list_init(&op, mem);
  op.op = (slp_op){.on_done = on_done, .tries_max = 2};
  op.name = SLP_STR("s");
  ops->list_shards(ops, &op);
  asked(&op.op, secret);
  slp_op_list_free(&op);
}
static void play_iterator(const char *secret) {
  slp_op_iterator op = {.op = {.on_done = on_done, .tries_max = 1},
                        .name = SLP_STR("s"),
                        .shard = SLP_STR("x"),
                        .kind = SLP_ITER_LATEST};
  slp_buf_init(&op.iterator, mem, 4096);
  ops->iterator(ops, &op);
  asked(&op.op, secret);
  slp_buf_free(&op.iterator);
}
static void play_records(const char *secret) {
  slp_page *page = slp_page_new(mem);
  slp_op_records op = {
      .op = {.on_done = on_done, .tries_max = 1}, .iterator = SLP_STR("it"), .limit = 500, .page = page};
  ops->records(ops, &op);
  asked(&op.op, secret);
  slp_page_free(page);
}
static slp_consumer_call consumer_call;
static void play_consumer(const char *secret) {
  static slp_consumer_row rows[SLP_CONSUMERS_MAX];
  slp_op_consumer op = {.op = {.on_done = on_done, .tries_max = 1},
                        .what = consumer_call,
                        .stream_arn = SLP_STR("arn:s"),
                        .name = SLP_STR("c"),
                        .rows = rows};
  ops->consumer(ops, &op);
  asked(&op.op, secret);
}

TEST(calls_of_kinesis) {
  for (int wire = 0; wire < 2; wire++) {
    sources_open(signing, NULL, NULL);
    aws->wire = wire ? SLP_WIRE_CBOR : SLP_WIRE_JSON;
    CHECK_INT(slp_kinesis_new(&ops, aws), 0);
    f.always = &evil;
    with_every_answer("GetRecords", signed_with, play_records);
    if (!wire) {
      with_every_answer("DescribeStreamSummary", signed_with, play_describe);
      with_every_answer("ListShards", signed_with, play_list);
      with_every_answer("GetShardIterator", signed_with, play_iterator);
    }
    for (consumer_call = SLP_CONSUMER_DESCRIBE; consumer_call <= SLP_CONSUMER_LIST && !wire; consumer_call++)
      with_every_answer("a consumer's call", signed_with, play_consumer);
    slp_kinesis_free(ops);
    sources_close();
  }
}

TEST(calls_of_dynamodb_streams) {
  sources_open(signing, NULL, NULL);
  CHECK_INT(slp_streams_new(&ops, aws), 0);
  f.always = &evil;
  with_every_answer("DescribeTable", signed_with, play_describe);
  with_every_answer("DescribeStream", signed_with, play_list);
  with_every_answer("GetShardIterator", signed_with, play_iterator);
  with_every_answer("GetRecords", signed_with, play_records);
  slp_streams_free(ops);
  sources_close();
}

static slp_json_op row;
static void on_row(slp_json_op *op) {
  (void)op;
  done++;
}
static int read_row(slp_json_op *op, int begin, const char **why) {
  (void)op, (void)begin;
  *why = "it is no row";
  return SLP_EBADDATA;
}
static void play_row(const char *secret) {
  slp_op op;
  slp_json_op_send(&row);
  fake_run(&f, 600000000);
  op.fail = row.fail;
  asked(&op, secret);
}

static slp_cw_put put;
static void on_put(slp_cw_put *p) {
  (void)p;
  done++;
}
static void play_put(const char *secret) {
  slp_op op;
  slp_cw_put_send(&put);
  fake_run(&f, 600000000);
  op.fail = put.fail;
  asked(&op, secret);
}

TEST(calls_of_dynamodb_and_cloudwatch) {
  sources_open(signing, NULL, NULL);
  f.always = &evil;
  slp_json_op_init(&row, aws, 100000);
  row.svc = SLP_SVC_LEASES;
  row.lane = SLP_LANE_LEASES;
  row.target = SLP_STR("DynamoDB_20120810.UpdateItem");
  row.tries_max = 2;
  row.ms_max = 1000;
  row.read = read_row;
  row.on_done = on_row;
  CHECK_INT(slp_buf_add_z(&row.request, "{}"), 0);
  with_every_answer("UpdateItem", signed_with, play_row);
  slp_json_op_free(&row);
  slp_cw_put_init(&put, aws);
  put.on_done = on_put;
  CHECK_INT(slp_cw_put_begin(&put, SLP_STR("n"), 0), 0);
  slp_cw_datum d = {"StoreUnits", "Count", 1500, 3, 0, {{NULL, {NULL, 0}}}};
  CHECK_INT(slp_cw_put_add(&put, &d), 0);
  with_every_answer("PutMetricData", signed_with, play_put);
  slp_cw_put_free(&put);
  sources_close();
}

/* ---- sources of keys ----------------------------------------------------------------------------------- */
typedef struct source {
  const char *name;
  fake_pair env[6], files[4];
  const char *before[3]; /* answers that are good; then the evil one comes, always */
  const char *const *sent;
} source;
static const source *from;

static void play_source(const char *secret) {
  sources_open(from->env, from->files, NULL);
  for (int i = 0; i < 3 && from->before[i]; i++) fake_script(&f, 200, from->before[i]);
  f.always = &evil;
  const char *got = sources_ask();
  quotes_nothing(got[0] == '!' ? got : "", secret, about);
  sources_close();
}

#define NOWHERE \
  {"HOME", "/h"}, { "AWS_EC2_METADATA_DISABLED", "true" }
#define CONFIG                                                                     \
  "[default]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = R\n" \
  "[sso-session s]\nsso_region = us-west-2\nsso_start_url = https://x.awsapps.com/start\n"
#define CACHE "/h/.aws/sso/cache/a0f1490a20d0211c997b44bc357e1972deab8ae3.json" /* sha1sum of "s" */
#define ROLE                                                                                              \
  "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = b\nregion = eu-west-1\n"                 \
  "[profile b]\naws_access_key_id = K\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYzQ0pLmVtS\n" \
  "aws_session_token = FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken/0123456789\n"

TEST(sources_of_keys) {
  static const char *const jwt[] = {JWT, NULL}, *const pod[] = {POD, NULL},
                           *const machine[] = {MACHINE, NULL}, *const access[] = {ACCESS, NULL},
                           *const renewal[] = {ACCESS, REFRESH, CLIENT, NULL};
  char lives[600], old[600];
  const char *cache =
      "{\"accessToken\":\"%s\",\"expiresAt\":\"%s\",\"refreshToken\":\"%s\",\"clientId\":\"c\","
      "\"clientSecret\":\"%s\",\"registrationExpiresAt\":\"2026-03-01T00:00:00Z\"}";
  snprintf(lives, sizeof lives, cache, ACCESS, "2026-01-02T08:00:00Z", REFRESH, CLIENT); /* NOLINT */
  snprintf(old, sizeof old, cache, ACCESS, "2026-01-02T03:09:00Z", REFRESH, CLIENT);     /* NOLINT */
  const source all[] = {
      {"a web identity",
       {NOWHERE,
        {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"},
        {"AWS_ROLE_ARN", "arn:r"},
        {"AWS_REGION", "eu-west-1"}},
       {{"/t", JWT}},
       {NULL},
       jwt},
      {"a role", {NOWHERE}, {{"/h/.aws/config", ROLE}}, {NULL}, signed_with},
      {"a container",
       {NOWHERE,
        {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"},
        {"AWS_CONTAINER_AUTHORIZATION_TOKEN", POD}},
       {{NULL, NULL}},
       {NULL},
       pod},
      {"a container with a file",
       {NOWHERE,
        {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"},
        {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"}},
       {{"/t", POD}},
       {NULL},
       pod},
      {"a machine's role", {{"HOME", "/h"}}, {{NULL, NULL}}, {MACHINE}, machine},
      {"a machine's keys", {{"HOME", "/h"}}, {{NULL, NULL}}, {MACHINE, "my-role"}, machine},
      {"a sign-in", {NOWHERE}, {{"/h/.aws/config", CONFIG}, {CACHE, lives}}, {NULL}, access},
      {"a sign-in that is renewed", {NOWHERE}, {{"/h/.aws/config", CONFIG}, {CACHE, old}}, {NULL}, renewal},
  };
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    from = &all[i];
    evil = (fake_answer){.status = 400};
    sources_open(from->env, from->files, NULL);
    f.always = &evil;
    sources_ask();
    if (!f.sent_n) CHECK_FAIL("%s is not asked", from->name);
    sources_close();
    with_every_answer(from->name, from->sent, play_source);
  }
}

/* A machine's region becomes part of names that are looked up and told. */
TEST(a_region_that_is_the_machines_token_is_none) {
  static const fake_pair env[] = {
      {"HOME", "/h"}, {"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}, {NULL, NULL}};
  sources_open(env, NULL, NULL);
  CHECK_INT(slp_kinesis_new(&ops, aws), 0);
  fake_script(&f, 200, "token-that-is-secret-0123456789");
  fake_script(&f, 200, "x-that-is-secret-0123456789");
  snprintf(about, sizeof about, "a region");
  play_describe("token-that-is-secret-0123456789");
  slp_kinesis_free(ops);
  sources_close();
}
