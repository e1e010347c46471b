/* fleet_units.c - what bench/fleet counts as request units against what the sandbox says in ConsumedCapacity:
 * every verb of the native schema, done and refused, and every kind of read, in one story, each compared by
 * itself. */
#include "units.h"

#include "aws/aws.h"
#include "swarm/world.h"
#include "store/dynamo.h"
#include "store/memory.h"
#include "store/schema_sloop.h"

#include "../check.h"

static slp_mem *mem;
static slp_world *w;
static slp_host *h;
static slp_store *ours, *theirs; /* the same rows: in memory, and in the sandbox */
static slp_schema *schema;
static int answered;
static uint64_t told_w, told_r; /* thousandths */

static void on_done(slp_store_req *rq) {
  (void)rq;
  answered++;
}

static int is_answered(void *arg) {
  (void)arg;
  return answered > 0;
}

static void await(const slp_store_req *rq) {
  CHECK(slp_sim_run(w->sim, slp_sim_now_us(w->sim) + UINT64_C(60000000), is_answered, NULL));
  if (rq->fail.class != SLP_FINE) CHECK_FAIL("%s", rq->fail.message);
  answered = 0;
}

static void give_keys(void *ctx, slp_aws *aws) {
  slp_aws_keys keys = {
      .key_id = SLP_STR("AKIDSIM"), .secret = SLP_STR("secret"), .expires_at_ms = SLP_KEYS_NEVER};
  (void)ctx;
  slp_aws_keys_done(aws, 0, &keys, NULL);
}

static void begin(void) {
  char why[160];
  slp_table_spec spec;
  slp_aws *aws;
  slp_aws_options o = {.endpoint = SLP_ENDPOINT, .region = "us-east-1", .creds = give_keys};
  mem = slp_mem_new(NULL, NULL);
  w = slp_world_new(mem, 3, NULL);
  h = slp_sim_host_new(w->sim, mem, NULL);
  schema = slp_schema_sloop(mem, SLP_STR("billing"), SLP_STR("orders"), SLP_STR("1700000000"));
  schema->table(schema, "leases", &spec);
  slp_memory *rows = slp_memory_new(mem);
  if (slp_aws_new(&aws, h, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(slp_memory_store(&ours, rows, h, &spec), 0);
  CHECK_INT(slp_dynamo_store(&theirs, h, aws, &spec), 0);
  slp_memory_drop(rows);
  slp_aws_drop(aws);
  slp_store *both[] = {ours, theirs};
  for (int i = 0; i < 2; i++) {
    slp_store_prepare p = {.create = 1, .rq.on_done = on_done};
    both[i]->ops->prepare(both[i], &p);
    await(&p.rq);
  }
}

/* The answers of the sandbox since the last look. */
static void expect(const char *what, uint64_t write_halves, uint64_t read_halves) {
  uint64_t ws = theirs->cost.write_units - told_w, rs = theirs->cost.read_units - told_r;
  if (ws != write_halves * 500 || rs != read_halves * 500)
    CHECK_FAIL("%s: counted %llu and %llu halves, the sandbox told %llu and %llu thousandths", what,
               (unsigned long long)write_halves, (unsigned long long)read_halves, (unsigned long long)ws,
               (unsigned long long)rs);
  told_w += ws;
  told_r += rs;
}

/* The key of a row of ours. */
static size_t size_at(const slp_row_key *key) {
  slp_store_get g = {.keys = key, .keys_n = 1, .rq.on_done = on_done};
  slp_store_rows_init(&g.out, mem);
  ours->ops->get(ours, &g);
  await(&g.rq);
  size_t n = g.out.n ? units_row_size(&g.out.rows[0]) : 0;
  slp_store_rows_free(&g.out);
  return n;
}

/* Sends a write to both; 1: it was done, 0: refused. */
static int put(const char *what, const slp_operation *i) {
  slp_store_write x = {.rq.on_done = on_done};
  slp_row_request d;
  slp_written first;
  slp_row_request_init(&d, mem, &x);
  slp_store_rows_init(&x.image, mem);
  CHECK_INT(schema->write(schema, &d, i), 0);
  size_t before = size_at(&x.key);
  ours->ops->write(ours, &x);
  await(&x.rq);
  first = x.written;
  size_t after = first == SLP_WRITTEN_YES && x.kind != SLP_WRITE_DELETE ? size_at(&x.key) : 0;
  memset(&x.rq, 0, sizeof x.rq);
  x.rq.on_done = on_done;
  theirs->ops->write(theirs, &x);
  await(&x.rq);
  CHECK_INT(x.written, first);
  /* A refusal costs as well, by the row that refused; neither DynamoDB nor the sandbox tells it. */
  expect(what, first == SLP_WRITTEN_YES ? units_write(before, after) : 0, 0);
  slp_store_rows_free(&x.image);
  slp_row_request_free(&d);
  return first == SLP_WRITTEN_YES;
}

static slp_operation operation(slp_operation_kind kind) {
  slp_operation i = {.kind = kind,
                     .me = SLP_STR("w1.0123456789abcdef"),
                     .id = SLP_STR("w1"),
                     .incarnation = SLP_STR("0123456789abcdef"),
                     .op = SLP_STR("0123456789abcdef-17"),
                     .wall_ms = 1700000123456,
                     .behind_ms = 100,
                     .rate_bytes = 120000,
                     .lease_ms = 10000,
                     .weight = 1,
                     .held = 25,
                     .shard = SLP_STR("shardId-000000000007"),
                     .host = SLP_STR("ip-10-0-0-17.internal"),
                     .counter = 2};
  i.position.kind = SLP_POSITION_AFTER;
  slp_mark_set(&i.position.mark, SLP_STR("49590338271490256608559692538361571095921575989136588898"),
               UINT32_MAX, -1);
  return i;
}

static void workers(void) {
  slp_operation i = operation(SLP_OPERATION_REGISTER);
  CHECK(put("register", &i));
  CHECK(!put("register again", &i));
  for (uint64_t n = 2; n < 130; n += 37) { /* numbers of several lengths */
    i = operation(SLP_OPERATION_HEARTBEAT);
    i.counter = n;
    i.held = (uint32_t)(n * 10);
    i.rate_bytes = (int64_t)n * 1000;
    CHECK(put("heartbeat", &i));
  }
  i = operation(SLP_OPERATION_NOTIFY);
  CHECK(put("notify", &i));
  i = operation(SLP_OPERATION_EVICT);
  i.counter = 1;
  CHECK(!put("evict too late", &i));
  i = operation(SLP_OPERATION_LEAVE);
  CHECK(put("leave", &i));
  i = operation(SLP_OPERATION_REAP);
  CHECK(put("reap", &i));
  CHECK(!put("reap again", &i));
}

static void leading(void) {
  static char set[3000]; /* more than two units */
  slp_operation i = operation(SLP_OPERATION_LEAD);
  i.start.kind = SLP_POSITION_OLDEST;
  CHECK(put("lead", &i));
  CHECK(!put("lead again", &i));
  memset(set, 'x', sizeof set);
  slp_str proposal = SLP_STR("shardId-000000000009");
  i = operation(SLP_OPERATION_ASSIGN);
  i.version = 1000001;
  i.set = (slp_str){set, sizeof set};
  CHECK(put("assign", &i));
  CHECK(!put("assign again", &i));
  i = operation(SLP_OPERATION_PROPOSE);
  i.shards = &proposal;
  i.shards_n = 1;
  CHECK(put("propose", &i));
  i = operation(SLP_OPERATION_ASSIGN);
  i.version = 1000002;
  i.set = (slp_str){set, 10};
  i.shards = &proposal;
  i.shards_n = 1;
  CHECK(put("assign smaller", &i));
  i = operation(SLP_OPERATION_UNASSIGN);
  CHECK(put("unassign", &i));
  CHECK(put("unassign of nothing", &i));
  i = operation(SLP_OPERATION_RESIGN);
  i.epoch = 1;
  CHECK(put("resign", &i));
}

static void leases(void) {
  slp_str kids[2] = {SLP_STR("shardId-000000000008"), SLP_STR("shardId-000000000009")};
  for (int k = 0; k < 2; k++) { /* the second time it is there */
    slp_operation i = operation(SLP_OPERATION_CREATE);
    i.position = (slp_position){.kind = SLP_POSITION_OLDEST};
    i.parents[0] = SLP_STR("shardId-000000000001");
    i.hash_start = SLP_STR("170141183460469231731687303715884105728");
    i.hash_end = SLP_STR("340282366920938463463374607431768211455");
    i.seq_start = SLP_STR("49590338271490256608559692538361571095921575989136588898");
    CHECK_INT(put("create", &i), !k);
  }
  slp_operation i = operation(SLP_OPERATION_TAKE);
  CHECK(put("take", &i));
  CHECK(!put("take again", &i));
  i = operation(SLP_OPERATION_CHECKPOINT);
  i.epoch = 1;
  CHECK(put("checkpoint", &i));
  i.epoch = 2;
  CHECK(!put("checkpoint of another epoch", &i));
  i = operation(SLP_OPERATION_RETAKE);
  i.epoch = 1;
  CHECK(put("retake", &i));
  i = operation(SLP_OPERATION_CLAIM);
  i.owner = i.me;
  i.me = SLP_STR("w2.fedcba9876543210");
  i.epoch = 2;
  i.version = 1000003;
  CHECK(put("claim", &i));
  i = operation(SLP_OPERATION_TRANSFER);
  i.epoch = 2;
  i.to = SLP_STR("w2.fedcba9876543210");
  CHECK(put("transfer", &i));
  i = operation(SLP_OPERATION_RELEASE);
  i.me = SLP_STR("w2.fedcba9876543210");
  i.epoch = 3;
  i.avoid_me = i.park = 1;
  CHECK(put("release", &i));
  i = operation(SLP_OPERATION_RESET);
  i.epoch = 3;
  CHECK(put("reset", &i));
  i = operation(SLP_OPERATION_TAKE);
  i.epoch = 4;
  CHECK(put("take anew", &i));
  i = operation(SLP_OPERATION_END);
  i.epoch = 5;
  i.shards = kids;
  i.shards_n = 2;
  CHECK(put("end", &i));
}

/* Reads one key and many, rows that are there and that are not; consistent and not. */
static void reads(void) {
  char texts[100][64];
  slp_row_key keys[100];
  slp_operation i = operation(SLP_OPERATION_CREATE);
  i.hash_start = SLP_STR("170141183460469231731687303715884105728");
  i.hash_end = SLP_STR("340282366920938463463374607431768211455");
  for (int k = 0; k < 90; k++) {
    i.shard = (slp_str){texts[k], (size_t)snprintf(texts[k], sizeof texts[k], "shardId-%012d", 100 + k)};
    CHECK(put("create of many", &i));
  }
  for (int k = 0; k < 100; k++) {
    size_t n = (size_t)snprintf(texts[k], sizeof texts[k], "orders@1700000000/l/shardId-%012d", 100 + k);
    keys[k] = (slp_row_key){SLP_STR("billing"), {texts[k], n}};
  }
  for (size_t n = 1; n <= 100; n += 33)
    for (uint8_t consistent = 0; consistent < 2; consistent++) {
      slp_store_get g = {
          .keys = keys + (100 - n), .keys_n = n, .consistent = consistent, .rq.on_done = on_done};
      uint64_t halves = 0;
      slp_store_rows_init(&g.out, mem);
      theirs->ops->get(theirs, &g);
      await(&g.rq);
      for (size_t k = 0; k < n; k++) halves += units_get(size_at(&g.keys[k]), consistent);
      expect("a get", 0, halves);
      slp_store_rows_free(&g.out);
    }
  static const char *const prefixes[] = {"orders@1700000000/l/", "orders@1700000000/w/",
                                         "orders@1700000000/"};
  for (size_t k = 0; k < 6; k++) {
    slp_store_list l = {.hash = SLP_STR("billing"),
                        .prefix = slp_str_of(prefixes[k / 2]),
                        .consistent = k % 2,
                        .rq.on_done = on_done};
    size_t bytes = 0;
    slp_store_rows_init(&l.out, mem);
    theirs->ops->list(theirs, &l);
    await(&l.rq);
    for (size_t n = 0; n < l.out.n; n++) bytes += units_row_size(&l.out.rows[n]);
    expect("a list", 0, units_list(bytes, k % 2));
    slp_store_rows_free(&l.out);
  }
}

TEST(units_are_counted_as_the_sandbox_counts_them) {
  begin();
  workers();
  leading();
  leases();
  slp_operation i = operation(SLP_OPERATION_REMOVE);
  CHECK(put("remove", &i));
  reads();
  CHECK(told_w > 0 && told_r > 0);
}
