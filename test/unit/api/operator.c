/* api/operator.c: which calls are allowed when, and that each is answered once, also by closing. unit/admin/
 * tests the content of the answers. */
#include "api/open.h"
#include "store/memory.h"

#include "aws_fake_host.h"
#include "scarce.h"

static fake_host f;
static slp_mem *mem;
static slp_host_ops ops;
static sloop_t *s;
static const fake_pair env[] = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                                {"AWS_SECRET_ACCESS_KEY", "secret"},
                                {"AWS_REGION", "us-east-1"},
                                {NULL, NULL}};
static scarce memory;
static char said[1000]; /* "a:OK " of each answer: who asked, and its status */
static char message[400];
static int reason, changes; /* as was explained; of the last result, or -1 */
static sloop_t *ask_again;  /* from inside the callback */
static int close_inside;

static void *who(const char *name) { return (void *)(uintptr_t)name; }

static void fake_where(slp_host *h, char name[65], uint32_t *pid) {
  (void)h;
  snprintf(name, 65, "here");
  *pid = 7;
}
static void fake_ref(slp_host *h, int on) { (void)h, (void)on; }
static void on_batch(sloop_t *c, sloop_batch_t *b, void *arg) {
  (void)c, (void)arg;
  sloop_batch_done(b, 0);
}

static void say(const char *name, int status, const sloop_error_t *e) {
  size_t n = strlen(said);
  snprintf(said + n, sizeof said - n, "%s:%s ", name, sloop_err_name(status));
  CHECK((e != NULL) == (status != 0));
  CHECK(!e || (e->code == status && !e->shard[0] && e->retry_in_ms == UINT64_MAX));
  snprintf(message, sizeof message, "%s", e ? e->message : "");
}
static void on_closed(sloop_t *c, int status, void *arg) {
  (void)c, (void)arg;
  say("closed", status, NULL);
}
static void on_explanation(sloop_admin_t *h, int status, const sloop_explanation_t *x, const sloop_error_t *e,
                           void *arg) {
  CHECK(h == sloop_admin_of(s));
  CHECK((x != NULL) == (status == 0));
  say(arg, status, e);
  reason = x ? (int)x->why : 0;
  if (x) CHECK(x->leader_state == SLOOP_LEADER_NONE && x->shard.listed);
}
static void on_result(sloop_admin_t *h, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                      void *arg) {
  CHECK(h == sloop_admin_of(s));
  say(arg, status, e);
  changes = r ? (int)r->changes_n : -1;
}
static void on_leases(sloop_admin_t *h, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  CHECK(h == sloop_admin_of(s));
  CHECK((l != NULL) == (status == 0));
  say(arg, status, e);
  if (l) CHECK(l->leases_n == 0 && l->workers_n == 0 && l->bad_rows_n == 0);
  if (ask_again) {
    ask_again = NULL;
    CHECK_INT(sloop_admin_leases(h, on_leases, who("again")), 0);
  }
  if (close_inside) sloop_close(s, on_closed, NULL);
}

static void describes(int n) {
  while (n--)
    fake_script(
        &f, 200,
        "{\"StreamDescriptionSummary\":{\"StreamName\":\"orders\",\"StreamARN\":\"arn:x\",\"StreamStatus\":"
        "\"ACTIVE\",\"RetentionPeriodHours\":24,\"StreamCreationTimestamp\":1.7E9,\"OpenShardCount\":1}}");
}
static void lists(void) {
  fake_script(
      &f, 200,
      "{\"Shards\":[{\"ShardId\":\"shardId-000000000000\",\"HashKeyRange\":{\"StartingHashKey\":\"0\","
      "\"EndingHashKey\":\"9\"},\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\"}}]}");
}

static int open_consumer(const char *app) {
  char why[160] = "";
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "orders";
  o.on_batch = on_batch;
  o.app = app;
  o.store = app ? "memory" : NULL;
  o.endpoint = "http://localhost:1";
  o.wire = SLOOP_WIRE_JSON;
  int r = slp_open_on(&f.h, mem, &(slp_outside){.getenv_fn = fake_getenv, .getenv_ctx = &f}, &s, &o, why);
  if (r) CHECK_STR(why, "");
  return r;
}

static void prepared(slp_store_req *rq) { CHECK_INT(rq->fail.class, SLP_FINE); }

/* Makes the table that a worker of this process would have made. */
static void make_table(void) {
  static const slp_table_spec spec = {"leases", "app", "row"};
  slp_store *store;
  s->family->memory = slp_memory_new(mem);
  CHECK_INT(slp_memory_store(&store, s->family->memory, &f.h, &spec), 0);
  slp_store_prepare p = {.rq = {.on_done = prepared}, .create = 1};
  store->ops->prepare(store, &p);
  slp_unpost(&p.rq.ev);
  p.rq.ev.run(&p.rq.ev);
  store->ops->close(store);
}

static void begin(const char *app) {
  memory.left = -1;
  said[0] = message[0] = 0;
  reason = changes = 0;
  ask_again = NULL;
  close_inside = 0;
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  f.env = env;
  ops = fake_ops;
  ops.ref = fake_ref;
  ops.where = fake_where;
  f.h.ops = &ops;
  CHECK_INT(open_consumer(app), 0);
}

static void end(void) {
  if (s) sloop_close(s, NULL, NULL);
  s = NULL;
  fake_run(&f, 10000000);
  fake_end(&f, mem);
}

static const sloop_position_t oldest = {.kind = SLOOP_OLDEST};

TEST(who_may_ask_what) {
  begin("shop");
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), NULL, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_lag(sloop_admin_of(s), 0, NULL, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_explain(sloop_admin_of(s), "x", NULL, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_explain(sloop_admin_of(s), NULL, on_explanation, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_explain(sloop_admin_of(s), "", on_explanation, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_release(sloop_admin_of(s), "", on_result, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_release(sloop_admin_of(s), "x", NULL, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_reset(sloop_admin_of(s), "", &oldest, 0, on_result, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_reset(sloop_admin_of(s), NULL, NULL, 0, on_result, NULL), SLOOP_EOPTION);
  CHECK_INT(sloop_admin_reset(sloop_admin_of(s), NULL, &oldest, 0, NULL, NULL), SLOOP_EOPTION);
  const sloop_position_t wrong[] = {{.kind = SLOOP_AT_TOKEN, .token = "{}"},
                                    {.kind = SLOOP_AT_TIME, .at_ms = -1},
                                    {.kind = SLOOP_AT_SEQ, .seq = "x"},
                                    {.kind = SLOOP_AT_SEQ, .seq = "1", .sub = UINT64_C(1) << 32},
                                    {.kind = SLOOP_AT_SEQ},
                                    {.kind = (sloop_position_kind_t)9}};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++)
    CHECK_INT(sloop_admin_reset(sloop_admin_of(s), "x", &wrong[i], 0, on_result, NULL), SLOOP_EOPTION);
  const sloop_position_t at = {.kind = SLOOP_AT_SEQ, .seq = "1"};
  CHECK_INT(sloop_admin_reset(sloop_admin_of(s), NULL, &at, 0, on_result, NULL), SLOOP_EOPTION); /* of all? */
  CHECK_STR(said, "");
  end();
  begin(NULL);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, NULL), SLOOP_ESTATE); /* no leases */
  end();
}

TEST(one_at_a_time_and_answered_once) {
  begin("shop");
  make_table();
  describes(2);
  ask_again = s;
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("a")), 0);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("b")), SLOOP_ESTATE);
  CHECK_INT(sloop_admin_release(sloop_admin_of(s), "x", on_result, who("b")), SLOOP_ESTATE);
  CHECK_STR(said, "");
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:OK again:OK ");
  describes(1);
  lists();
  CHECK_INT(sloop_admin_explain(sloop_admin_of(s), "shardId-000000000000", on_explanation, who("c")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:OK again:OK c:OK ");
  CHECK_INT(reason, SLOOP_WHY_NO_LEASE);
  describes(1);
  lists();
  CHECK_INT(sloop_admin_reset(sloop_admin_of(s), NULL, &oldest, 0, on_result, who("d")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:OK again:OK c:OK d:ENOSHARD ");
  CHECK_STR(message, "this application has no leases of orders");
  CHECK_INT(changes, -1);
  describes(1);
  lists();
  CHECK_INT(sloop_admin_release(sloop_admin_of(s), "w1", on_result, who("e")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:OK again:OK c:OK d:ENOSHARD e:ENOWORKER ");
  end();
}

TEST(no_table_and_no_stream) {
  begin("shop");
  describes(1);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("a")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:ELEASE ");
  CHECK_STR(message, "there is no table \"leases\": no worker of orders has started yet, or it was deleted");
  fake_script(&f, 400, "{\"__type\":\"ResourceNotFoundException\",\"message\":\"no orders\"}");
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("b")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:ELEASE b:ENOSTREAM ");
  end();
}

/* Closed at any moment: each call is answered once, before the end. */
TEST(closing) {
  begin("shop");
  make_table();
  describes(1);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("a")), 0);
  sloop_close(s, on_closed, NULL);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("b")), SLOOP_ESTATE);
  CHECK_STR(said, "");
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:ECANCELED closed:OK ");
  CHECK_STR(message, "");
  s = NULL;
  end();
  for (int turns = 1; turns < 20; turns++) {
    begin("shop");
    make_table();
    describes(1);
    lists();
    CHECK_INT(sloop_admin_explain(sloop_admin_of(s), "shardId-000000000000", on_explanation, who("a")), 0);
    for (int i = 0; i < turns && !slp_list_empty(&f.h.ready); i++) {
      slp_event *next = SLP_OWNER(slp_list_first(&f.h.ready), slp_event, link);
      slp_list_remove(&next->link);
      next->run(next);
    }
    sloop_close(s, on_closed, NULL);
    fake_run(&f, 1000000);
    CHECK(strcmp(said, "a:ECANCELED closed:OK ") == 0 || strcmp(said, "a:OK closed:OK ") == 0);
    s = NULL;
    end();
  }
  for (int turns = 0; turns < 20;
       turns++) { /* what was done until then: nothing, while the rows are not read */
    begin("shop");
    make_table();
    describes(1);
    lists();
    CHECK_INT(sloop_admin_reset(sloop_admin_of(s), NULL, &oldest, 0, on_result, who("a")), 0);
    for (int i = 0; i < turns && !slp_list_empty(&f.h.ready); i++) {
      slp_event *next = SLP_OWNER(slp_list_first(&f.h.ready), slp_event, link);
      slp_list_remove(&next->link);
      next->run(next);
    }
    sloop_close(s, on_closed, NULL);
    fake_run(&f, 1000000);
    if (strcmp(said, "a:ECANCELED closed:OK ") == 0)
      CHECK_INT(changes, 0);
    else
      CHECK_STR(said, "a:ENOSHARD closed:OK ");
    s = NULL;
    end();
  }
  begin("shop");
  make_table();
  describes(1);
  close_inside = 1;
  CHECK_INT(sloop_admin_leases(sloop_admin_of(s), on_leases, who("a")), 0);
  fake_run(&f, 1000000);
  CHECK_STR(said, "a:OK closed:OK ");
  s = NULL;
  end();
}

TEST(no_memory_at_any_moment) {
  int fine = 0;
  for (long n = 0; !fine; n++) {
    begin("shop");
    make_table();
    describes(9);
    lists();
    memory.left = n;
    int r = sloop_admin_leases(sloop_admin_of(s), on_leases, who("a"));
    if (!r) fake_run(&f, 100000000);
    memory.left = -1;
    CHECK(r == 0 || r == SLP_ENOMEM);
    fine = strcmp(said, "a:OK ") == 0;
    if (r) CHECK_STR(said, "");
    if (!r && !fine) CHECK(!strncmp(said, "a:E", 3) && strchr(said, ' ') == said + strlen(said) - 1);
    CHECK(n < 200 && (n > 0 || !fine));
    end();
  }
}
