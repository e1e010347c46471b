/* admin/read_lag.c: what pages at the position of a lease prove, and what asking for them may cost. */
#include "admin_table.h"

#include "codec/page.h"

/* ---- a service that answers each request after a millisecond ------------------------------------------- */

#define ASKED_MAX 80

typedef struct asked {
  slp_op *rq;
  slp_timer timer;
  int fetches;
} asked;
static asked all_asked[ASKED_MAX];
static struct {
  const char *const *pages; /* of every shard, each once, then the last again; "!NAME" fails so */
  size_t located, fetched, out, out_most;
  uint64_t first_us, last_us;
  slp_position from; /* of the last request */
  uint32_t limit;
  size_t pages_n, children_n;
  int stands; /* nothing is answered */
} service;

static void fail_as(slp_op *rq, const char *name) {
  static const struct {
    const char *name;
    slp_class class;
    int code;
  } fails[] = {{"ProvisionedThroughputExceededException", SLP_THROTTLE, SLOOP_ETHROTTLE},
               {"ExpiredIteratorException", SLP_EXPIRED, SLOOP_EREMOTE},
               {"TrimmedDataAccessException", SLP_TRIMMED, SLOOP_ETRIMMED},
               {"ResourceNotFoundException", SLP_GONE, SLOOP_ENOSTREAM},
               {"AccessDeniedException", SLP_ACCESS, SLOOP_EACCESS},
               {"InvalidArgumentException", SLP_REFUSED, SLOOP_EREFUSED}};
  for (size_t i = 0; i < SLP_COUNT(fails); i++) {
    if (strcmp(name, fails[i].name) != 0) continue;
    slp_fail_set(&rq->fail, fails[i].class, fails[i].code, "no");
    snprintf(rq->fail.aws_code, sizeof rq->fail.aws_code, "%s", name);
    return;
  }
  CHECK_FAIL("%s", name);
}

static void give_page(slp_src_fetch *f_) {
  size_t at = service.fetched < service.pages_n ? service.fetched : service.pages_n - 1;
  const char *text = service.pages[at];
  service.fetched++;
  if (text[0] == '!') {
    fail_as(&f_->rq, text + 1);
    return;
  }
  slp_page_reader *r = slp_page_reader_new(mem);
  int bad = !r || slp_buf_add_z(&f_->page->body, text);
  if (!bad) {
    slp_page_reader_begin(r, f_->page, SLP_FORM_JSON);
    while ((bad = slp_page_read(r, 1000, 1000)) == SLP_MORE) {
    }
    CHECK(!bad || bad == SLP_ENOMEM);
  }
  if (bad) slp_fail_set(&f_->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory");
  slp_page_reader_free(r);
}

static void answers(slp_timer *t) {
  asked *a = SLP_OWNER(t, asked, timer);
  slp_op *rq = a->rq;
  a->rq = NULL;
  service.out--;
  if (a->fetches) {
    give_page(SLP_OWNER(rq, slp_src_fetch, rq));
  } else if (service.pages[0][0] == '?') {
    fail_as(rq, service.pages[0] + 1);
  } else if (slp_buf_add_z(&SLP_OWNER(rq, slp_src_locate, rq)->cursor, "it")) {
    slp_fail_set(&rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory");
  }
  rq->on_done(rq);
}

static void is_asked(slp_op *rq, int fetches) {
  slp_fail_clear(&rq->fail);
  rq->date_ms = -1;
  for (size_t i = 0; i < ASKED_MAX; i++) {
    if (all_asked[i].rq) continue;
    all_asked[i] = (asked){.rq = rq, .timer = {.at_us = UINT64_MAX, .run = answers}, .fetches = fetches};
    service.out++;
    service.out_most = slp_max_u64(service.out, service.out_most);
    if (!service.stands) CHECK_INT(slp_timer_set(&f.h, &all_asked[i].timer, f.mono_us + 1000), 0);
    return;
  }
  CHECK_FAIL("more than %d requests at once", ASKED_MAX);
}

static void locate(slp_source *s, slp_src_locate *l) {
  (void)s;
  if (!service.located++) service.first_us = f.mono_us;
  service.last_us = f.mono_us;
  service.from = l->from;
  is_asked(&l->rq, 0);
}
static void fetch(slp_source *s, slp_src_fetch *r) {
  slp_shard_desc rows[8];
  (void)s;
  service.limit = r->limit;
  service.children_n = r->known_children(r, rows, 8);
  is_asked(&r->rq, 1);
}
static void cancel(slp_source *s, slp_op *rq) {
  for (size_t i = 0; i < ASKED_MAX; i++) {
    if (all_asked[i].rq != rq) continue;
    slp_timer_clear(&f.h, &all_asked[i].timer);
    all_asked[i].rq = NULL;
    service.out--;
  }
  stream_cancel(s, rq);
}

static slp_source_ops ops;
static int64_t retention_ms;
static const char *first_number;
static void describe(slp_source *s, slp_src_describe *d) {
  d->retention_ms = retention_ms;
  stream_describe(s, d);
}
static void list(slp_source *s, slp_src_list *l) {
  stream_list(s, l);
  if (first_number) l->shards[0].seq_start = slp_str_of(first_number);
}

static void begin_read(const char *shards, int tells_behind) {
  begin(shards);
  memset(&service, 0, sizeof service);
  memset(all_asked, 0, sizeof all_asked);
  ops = (slp_source_ops){
      .describe = describe, .list = list, .locate = locate, .fetch = fetch, .cancel = cancel};
  stream.s.ops = &ops;
  stream.s.tells_behind = stream.s.anchors_by_time = tells_behind;
  stream.s.fetch_records_max = 1000;
}

static const sloop_leases_t *read_all(const char *const *pages, size_t n) {
  service.pages = pages;
  service.pages_n = n;
  service.fetched = 0;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LAG, .limit_ms = 10000}), 0);
  CHECK_STR(message(), "");
  CHECK(slp_admin_answered(admin)->leases != NULL);
  return slp_admin_answered(admin)->leases;
}
#define READ(...) \
  read_all((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Records that arrived so many seconds before now, which is 1767323045. */
#define REC(seq, s)            \
  "{\"SequenceNumber\":\"" seq \
  "\",\"Data\":\"eA==\",\"PartitionKey\":\"k\",\"ApproximateArrivalTimestamp\":" s "}"
#define PAGE(recs, behind) "{\"Records\":[" recs "],\"NextShardIterator\":\"n\"" behind "}"
#define BEHIND(ms) ",\"MillisBehindLatest\":" #ms

/* ---- one shard ----------------------------------------------------------------------------------------- */

static void is(const sloop_leases_t *l, sloop_lag_t lag, int64_t behind_ms) {
  CHECK_INT(l->leases_n, 1);
  CHECK_INT(l->leases[0]->lag, lag);
  int64_t more = l->leases[0]->read_behind_ms - behind_ms; /* the clock goes on */
  if (more < 0 || more > (behind_ms < 1000 ? 0 : 5000))
    CHECK_FAIL("%lld, not %lld", (long long)l->leases[0]->read_behind_ms, (long long)behind_ms);
  over();
}

TEST(what_a_page_of_kinesis_proves) {
  begin_read("s1", 1);
  PUT("l/s1", "epoch#2", "pos=1:00242:4294967295");
  is(READ(PAGE(REC("42", "1767323000"), BEHIND(0))), SLOOP_LAG_READ, 0);
  CHECK(service.from.kind == SLP_POSITION_AT && service.limit == 2); /* is its record still there? */
  is(READ(PAGE("", BEHIND(0))), SLOOP_LAG_TRIMMED, -1);              /* its record is not there any more */
  is(READ(PAGE("", BEHIND(7000))), SLOOP_LAG_READ, 7000);            /* which this page does not show */
  /* The last record that waits: what MillisBehindLatest tells is behind it. */
  is(READ(PAGE(REC("42", "1767323000") "," REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_READ, 30000);
  is(READ(PAGE(REC("42", "1767323000") "," REC("43", "1767323015"), BEHIND(40000))), SLOOP_LAG_READ, 40000);
  is(READ(PAGE(REC("42", "1767323000") "," REC("43", "1767323046"), BEHIND(0))), SLOOP_LAG_READ, 1);
  is(READ(PAGE(REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_TRIMMED, -1);
  is(READ("{\"Records\":[" REC("42", "1767323000") "],\"NextShardIterator\":null,\"ChildShards\":[]}"),
     SLOOP_LAG_READ, 0);
  PUT("l/s1", "pos=0:oldest");
  is(READ(PAGE("", BEHIND(0))), SLOOP_LAG_READ, 0);
  is(READ(PAGE(REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_READ, 30000);
  CHECK(service.from.kind == SLP_POSITION_OLDEST && service.limit == 1);
  PUT("l/s1", "pos=0:time:1767323016000");
  is(READ(PAGE(REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_READ, 0);
  PUT("l/s1", "pos=9:end");
  is(READ("!AccessDeniedException"), SLOOP_LAG_UNASKED, -1);
  CHECK_INT(service.fetched, 0);
  end();
}

/* A worker at the tip of an idle shard has read on from its row's record, which grows old and goes. */
TEST(a_living_owner_loses_nothing_where_its_row_stands) {
  const char *gone = PAGE(REC("43", "1767323015"), BEHIND(0)), *nothing = PAGE("", BEHIND(0));
  begin_read("s1", 1);
  retention_ms = 100000;
  worker("a", NULL);
  PUT("l/s1", "owner=a." INCARNATION, "epoch#2", "pos=1:00242:4294967295");
  is(READ(gone), SLOOP_LAG_READ, 30000);
  is(READ(nothing), SLOOP_LAG_READ, 0);
  is(READ(PAGE(REC("43", "1767322994"), BEHIND(0))), SLOOP_LAG_TRIMMED, -1); /* it waits for 51 s of 100 */
  is(READ("!TrimmedDataAccessException", gone), SLOOP_LAG_READ, 30000);
  CHECK(service.from.kind == SLP_POSITION_OLDEST);
  is(READ("!TrimmedDataAccessException"), SLOOP_LAG_TRIMMED, -1);
  PUT("w/a", "ts#1767323034000"); /* its lease is over */
  is(READ(gone), SLOOP_LAG_TRIMMED, -1);
  is(READ(nothing), SLOOP_LAG_TRIMMED, -1);
  is(READ("!TrimmedDataAccessException", gone), SLOOP_LAG_TRIMMED, -1);
  CHECK_INT(service.fetched, 1);
  PUT("l/s1", "pos=1:00242:idle:1767323000000"); /* until then nothing had come */
  is(READ(gone), SLOOP_LAG_READ, 30000);
  CHECK(service.from.kind == SLP_POSITION_AFTER && service.limit == 1);
  is(READ(nothing), SLOOP_LAG_READ, 0);
  PUT("l/s1", "pos=1:00242:idle:1767322900000"); /* what came since then may have gone already */
  is(READ(gone), SLOOP_LAG_TRIMMED, -1);
  is(READ(nothing), SLOOP_LAG_TRIMMED, -1);
  retention_ms = 0;
  end();
}

/* The number that a shard begins with is no record's. */
TEST(a_shards_own_number_is_not_missed) {
  begin_read("s1", 1);
  first_number = "40";
  PUT("l/s1", "epoch#2", "pos=1:00240:0000000000");
  is(READ(PAGE(REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_READ, 30000);
  is(READ(PAGE("", BEHIND(0))), SLOOP_LAG_READ, 0);
  first_number = "39";
  is(READ(PAGE(REC("43", "1767323015"), BEHIND(0))), SLOOP_LAG_TRIMMED, -1);
  first_number = NULL;
  end();
}

/* Changes of a table tell no lag: several empty pages in a row are the tip, as core takes them. */
TEST(what_pages_of_changes_prove) {
  const char empty[] = PAGE("", "");
  begin_read("s1", 0);
  PUT("l/s1", "epoch#2", "pos=1:00242:0000000001");
  is(READ(PAGE(REC("42", "1767323000"), ""), empty), SLOOP_LAG_READ, 0);
  CHECK_INT(service.fetched, 6);
  is(READ(PAGE(REC("42", "1767323000"), ""), empty, empty, PAGE(REC("43", "1767323015"), ""), empty),
     SLOOP_LAG_READ, 30000);
  is(READ(PAGE(REC("42", "1767323000"), ""), PAGE(REC("42", "1767323000"), "")), SLOOP_LAG_UNPROVEN, -1);
  CHECK_INT(service.fetched, 12);
  CHECK(took_us >= 11 * 200000); /* five calls a second */
  is(READ("{\"Records\":[" REC("42", "1767323000") "],\"NextShardIterator\":null}"), SLOOP_LAG_READ, 0);
  is(READ("!TrimmedDataAccessException"), SLOOP_LAG_TRIMMED, -1);
  PUT("l/s1", "pos=0:time:1767323016000"); /* which this service can't find by itself */
  is(READ(PAGE(REC("43", "1767323015"), ""), PAGE(REC("44", "1767323025"), "")), SLOOP_LAG_READ, 20000);
  CHECK(service.from.kind == SLP_POSITION_OLDEST && service.limit == 1000);
  end();
}

TEST(what_fails_is_said_as_that) {
  begin_read("s1", 1);
  PUT("l/s1", "epoch#2", "pos=1:00242:4294967295");
  const char fine[] = PAGE(REC("42", "1767323000"), BEHIND(0));
  is(READ("!ProvisionedThroughputExceededException", fine), SLOOP_LAG_READ, 0);
  is(READ("!ExpiredIteratorException", fine), SLOOP_LAG_READ, 0);
  is(READ("!InvalidArgumentException", fine), SLOOP_LAG_READ, 0); /* perhaps only the iterator was bad */
  is(READ("!InvalidArgumentException"), SLOOP_LAG_REFUSED, -1);
  CHECK_INT(service.fetched, 2);
  is(READ("!ResourceNotFoundException"), SLOOP_LAG_GONE, -1);
  const sloop_leases_t *l = READ("!ProvisionedThroughputExceededException");
  CHECK_STR(l->leases[0]->lag_error, "ProvisionedThroughputExceededException: no");
  is(l, SLOOP_LAG_FAILED, -1);
  CHECK_INT(service.fetched, 4);
  is(READ("?InvalidArgumentException"), SLOOP_LAG_REFUSED, -1);
  service.stands = 1;
  l = READ(fine);
  CHECK_STR(l->leases[0]->lag_error, "no answer in time");
  CHECK_INT(took_us / 1000000, 10);
  is(l, SLOOP_LAG_FAILED, -1);
  end();
}

/* ---- which shards, and how many ------------------------------------------------------------------------ */

TEST(a_living_workers_word_counts_until_its_lease_is_over) {
  begin_read("s1 s2", 1);
  worker("a", NULL); /* it tells no lag */
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=0:oldest", "ts#1767323040000", "lag#250");
  const sloop_leases_t *l = READ(PAGE(REC("43", "1767323015"), BEHIND(0)));
  CHECK(l->leases[0]->lag == SLOOP_LAG_READ && l->leases[0]->state == SLOOP_LEASE_OWNED);
  over();
  PUT("w/a", "lag#1500");
  l = READ(PAGE(REC("43", "1767323015"), BEHIND(0)));
  CHECK_INT(l->leases[0]->lag, SLOOP_LAG_UNASKED);
  over();
  PUT("w/a",
      "ts#1767323034000"); /* 11 s ago; other clocks may be behind ours, so nobody is called dead yet */
  l = READ(PAGE(REC("43", "1767323015"), BEHIND(0)));
  CHECK(l->leases[0]->lag == SLOOP_LAG_READ && l->leases[0]->state == SLOOP_LEASE_OWNED);
  over();
  PUT("w/a", "ts#1767323044000");
  PUT("l/s1", "park=a." INCARNATION);
  l = READ(PAGE(REC("43", "1767323015"), BEHIND(0)));
  CHECK_INT(l->leases[0]->lag, SLOOP_LAG_READ);
  over();
  end();
}

/* Where a new application begins is no position of a shard in tables that do not have it. */
TEST(a_beginning_that_the_row_does_not_tell) {
  for (int latest = 0; latest < 2; latest++) {
    vmware.kind = latest ? SLP_POSITION_LATEST : SLP_POSITION_OLDEST;
    begin_read("s1 s2", 1);
    PUT("s1", "LeaseTimeout=2026-01-02T03:04:05Z");
    PUT("s2", "LeaseTimeout=2026-01-02T03:04:05Z", "Checkpoint=42");
    const sloop_leases_t *l = READ(PAGE(REC("42", "1767323000") "," REC("43", "1767323015"), BEHIND(0)));
    CHECK_INT(l->leases_n, 2);
    CHECK_INT(l->leases[0]->lag, latest ? SLOOP_LAG_NO_POSITION : SLOOP_LAG_READ);
    CHECK_INT(l->leases[1]->lag, SLOOP_LAG_READ);
    over();
    end();
  }
}

TEST(shards_without_a_lease) {
  begin_read("a! b<a! c<b d<b e x! y<x z", 1);
  PUT("l/b", "epoch#2", "pos=1:00242:4294967295");
  PUT("l/y", "epoch#2", "pos=0:oldest");
  PUT("l/z", "epoch#2", "pos=elsewhere");
  const sloop_leases_t *l = READ(PAGE(REC("42", "1767323015"), BEHIND(0)));
  CHECK_INT(l->leases_n, 2);
  CHECK_INT(l->unleased_n, 3);
  CHECK_STR(l->unleased[0]->shard, "c");
  CHECK_STR(l->unleased[0]->parents[0], "b");
  CHECK(l->unleased[0]->position.kind == SLOOP_OLDEST && l->unleased[0]->lag == SLOOP_LAG_READ);
  CHECK(l->unleased[0]->read_behind_ms / 1000 == 30 && l->unleased[1]->read_behind_ms / 1000 == 30);
  CHECK_STR(l->unleased[2]->shard, "e"); /* no lease's child: its workers know where it begins */
  CHECK(!l->unleased[2]->position.kind && l->unleased[2]->lag == SLOOP_LAG_NO_POSITION);
  over();
  stream.list_fails = 5;
  l = READ(PAGE(REC("42", "1767323015"), BEHIND(0)));
  CHECK(l->leases[0]->lag == SLOOP_LAG_READ && l->leases_n == 2 && l->unleased_n == 0);
  CHECK_STR(l->unlisted, "too fast");
  over();
  end();
}

static void leases_of(size_t n) {
  for (size_t i = 0; i < n; i++) {
    char row[40];
    snprintf(row, sizeof row, "l/s%04zu", i);
    PUT(row, "epoch#2", "pos=0:oldest");
  }
}

static size_t count(const sloop_leases_t *l, sloop_lag_t lag) {
  size_t n = 0;
  for (size_t i = 0; i < l->leases_n; i++) n += l->leases[i]->lag == lag;
  return n;
}

TEST(what_many_shards_cost_is_bounded) {
  begin_read("", 1);
  leases_of(300);
  const sloop_leases_t *l = READ(PAGE("", BEHIND(0)));
  CHECK_INT(count(l, SLOOP_LAG_READ), 300);
  CHECK(service.out_most <= 16 && service.located == 300);
  CHECK(service.last_us - service.first_us >= 299 * 5000); /* 200 a second */
  over();
  service.pages_n = 1;
  const char *page = PAGE("", BEHIND(0));
  service.pages = &page;
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_LAG, .limit_ms = 500}), 0);
  l = slp_admin_answered(admin)->leases;
  CHECK(count(l, SLOOP_LAG_READ) >= 70 && count(l, SLOOP_LAG_READ) <= 82);
  CHECK_INT(count(l, SLOOP_LAG_READ) + count(l, SLOOP_LAG_OUT_OF_TIME), 300);
  over();
  /* What is not allowed is not asked for again, beyond what was out already. */
  service.located = 0;
  l = READ("!AccessDeniedException");
  CHECK_INT(count(l, SLOOP_LAG_FAILED), 300);
  CHECK_STR(l->leases[0]->lag_error, "AccessDeniedException: no");
  CHECK(service.located <= 16);
  over();
  service.stands = 1;
  l = READ(PAGE("", BEHIND(0)));
  CHECK_INT(count(l, SLOOP_LAG_FAILED), 16);
  CHECK_INT(count(l, SLOOP_LAG_OUT_OF_TIME), 284);
  over();
  end();
}

TEST(given_up_in_the_middle_it_leaves_nothing) {
  begin_read("s1 s2", 1);
  leases_of(3);
  service.stands = 1;
  service.pages_n = 1;
  const char *page = PAGE("", BEHIND(0));
  service.pages = &page;
  slp_admin_opts o = {.task = SLP_ADMIN_LAG,
                      .limit_ms = 10000,
                      .host = &f.h,
                      .source = &stream.s,
                      .open = open_admin,
                      .ctx = &f,
                      .lease_ms = 10000,
                      .on_done = on_admin,
                      .arg = &answered};
  answered = 0;
  CHECK_INT(slp_admin_new(&admin, mem, &o), 0);
  for (int i = 0; i < 1000 && service.out < 3; i++) {
    f.mono_us += 1000;
    slp_host_turn(&f.h);
  }
  CHECK(service.out == 3 && !answered);
  over();
  CHECK_INT(service.out, 0);
  end();
}

TEST(without_memory_a_shard_is_not_known_or_all_fails) {
  int fine = 0;
  for (int n = 0; !fine && n < 400; n++) {
    begin_read("s1", 1);
    PUT("l/s1", "epoch#2", "pos=1:00242:4294967295");
    const char *page = PAGE(REC("42", "1767323000"), BEHIND(0));
    service.pages = &page;
    service.pages_n = 1;
    memory.left = n;
    int r = ask(&(slp_admin_opts){.task = SLP_ADMIN_LAG, .limit_ms = 10000});
    memory.left = -1;
    if (r) {
      CHECK_INT(r, SLP_ENOMEM);
    } else {
      const sloop_leases_t *l = slp_admin_answered(admin)->leases;
      CHECK(l || slp_admin_fail(admin)->class == SLP_NOMEM);
      if (l) CHECK(l->leases[0]->lag == SLOOP_LAG_READ || l->leases[0]->lag == SLOOP_LAG_FAILED);
      fine = l && l->leases[0]->lag == SLOOP_LAG_READ;
      over();
    }
    end();
  }
  CHECK(fine);
}
