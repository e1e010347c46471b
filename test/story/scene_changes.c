/* scene_changes.c - a table's stream whose shards roll over: how often DescribeStream is called, which an account
 * may do ten times a second, and that all is read nevertheless. The sandbox refuses what is more. */
#include "scene.h"

#include "api/open.h"

#include <stdio.h>

#define TABLE "orders"
#define CALLS_MAX 4096
#define RECORDS_MAX 4096

#define STORY(name)                                                \
  static void story_##name(uint64_t seed);                         \
  TEST(name) {                                                     \
    for (uint64_t seed = 1; seed <= 3; seed++) story_##name(seed); \
  }                                                                \
  static void story_##name(uint64_t seed)

typedef struct reader {
  slp_mem *mem;
  slp_host *host;
  sloop_opts_t opts;
  sloop_t *s;
  uint8_t seen[RECORDS_MAX]; /* how often */
  size_t records, errors;
  uint64_t first_us; /* the first batch */
  int closed;
  slp_world *w;
} reader;

typedef struct story {
  slp_mem *mem;
  slp_world *w;
  uint64_t called_us[CALLS_MAX]; /* DescribeStream */
  size_t calls, refused, written;
  size_t writes;    /* of the lease table */
  uint64_t read_us; /* the first GetRecords of the tables */
} story;

static void on_answer(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  story *t = w->user;
  (void)shard;
  if (!t->read_us && strstr(op, ".GetRecords")) t->read_us = slp_sim_now_us(w->sim);
  t->writes += strstr(op, ".PutItem") || strstr(op, ".UpdateItem");
  if (!strstr(op, ".DescribeStream")) return;
  CHECK(t->calls < CALLS_MAX);
  t->called_us[t->calls++] = slp_sim_now_us(w->sim);
  t->refused += reply->status != 200;
}

static void begin(story *t, uint64_t seed) {
  sloop_sandbox_opts_t o;
  memset(t, 0, sizeof *t);
  t->mem = slp_mem_new(NULL, NULL);
  slp_world_box_opts(&o);
  o.roll_ms = 0;
  t->w = slp_world_new(t->mem, seed, &o);
  t->w->user = t;
  t->w->on_answer = on_answer;
  if (getenv("SCENE_TRACE")) slp_sim_on_trace(t->w->sim, print_trace, stderr);
}

static void make_table(story *t, const char *name, uint32_t partitions) {
  CHECK_INT(slp_box_table(t->w->box, slp_world_ms(t->w), name, partitions, "NEW_AND_OLD_IMAGES"), 0);
}

static void put_changes(story *t, const char *table, size_t n) {
  char image[80];
  for (size_t i = 0; i < n; i++) {
    snprintf(image, sizeof image, "{\"id\":{\"S\":\"k%zu\"}}", t->written++);
    slp_str text = slp_str_of(image);
    CHECK_INT(slp_box_add_change(t->w->box, slp_world_ms(t->w), table, text, (slp_str){NULL, 0}, text, 0), 0);
  }
}

static void roll(story *t, const char *table) {
  CHECK_INT(slp_box_roll(t->w->box, slp_world_ms(t->w), table, 0), 0);
}

/* A day of a table with rollovers each four hours. */
static void a_day(story *t, const char *table, uint32_t partitions) {
  make_table(t, table, partitions);
  for (int i = 0; i < 6; i++) {
    put_changes(t, table, 50);
    roll(t, table);
  }
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  reader *r = arg;
  (void)s;
  if (!r->first_us) r->first_us = slp_sim_now_us(r->w->sim);
  for (size_t i = 0; i < sloop_batch_count(b); i++) {
    const sloop_record_t *rec = sloop_batch_at(b, i);
    const char *digit = memchr(rec->key.base, 'k', rec->key.len);
    CHECK(digit != NULL);
    unsigned long n = strtoul(digit + 1, NULL, 10);
    CHECK(n < RECORDS_MAX);
    r->records += !r->seen[n]++;
  }
  sloop_batch_done(b, sloop_batch_count(b));
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  reader *r = arg;
  (void)s;
  r->errors++;
  CHECK(!e->fatal);
}

static void reader_prepare(reader *r, story *t, slp_host *host, const char *stream) {
  memset(r, 0, sizeof *r);
  r->mem = slp_mem_new(NULL, NULL);
  r->host = host;
  r->w = t->w;
  sloop_opts_init(&r->opts);
  r->opts.stream = stream;
  r->opts.region = "us-east-1";
  r->opts.endpoint = SLP_ENDPOINT;
  r->opts.start.kind = SLOOP_OLDEST;
  r->opts.arg = r;
  r->opts.on_batch = on_batch;
  r->opts.on_error = on_error;
}

static void reader_open_now(reader *r) {
  static const slp_outside outside = {.getenv_fn = slp_world_keys};
  char why[160] = "";
  if (slp_open_on(r->host, r->mem, &outside, &r->s, &r->opts, why)) CHECK_FAIL("%s", why);
}

static void reader_open(reader *r, story *t, slp_host *host, const char *stream) {
  reader_prepare(r, t, host, stream);
  reader_open_now(r);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  ((reader *)arg)->closed = 1;
}

static int is_closed(void *arg) { return ((reader *)arg)->closed; }

static void reader_close(reader *r, story *t) {
  sloop_close(r->s, on_closed, r);
  CHECK(slp_sim_run(t->w->sim, slp_sim_now_us(t->w->sim) + 60000000, is_closed, r));
  slp_mem_drop(r->mem);
}

/* A process reads a table, or several. */
typedef struct process {
  slp_mem *mem;
  slp_host *host;
} process;

static process process_new(story *t) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  return (process){mem, slp_sim_host_new(t->w->sim, mem, NULL)};
}

static void process_end(story *t, process *p) {
  slp_host_close(p->host, NULL, NULL);
  slp_world_pass(t->w, 60000);
  slp_mem_drop(p->mem);
}

static void end(story *t) {
  slp_world_free(t->w);
  slp_mem_drop(t->mem);
}

/* Lets time pass until all that was written is read, and checks that it was read once. Returns how long it
 * took. */
static uint64_t read_all(story *t, reader *r, uint64_t ms_max) {
  uint64_t ms = 0;
  for (; r->records < t->written && ms < ms_max; ms += 10) slp_world_pass(t->w, 10);
  CHECK_INT(r->records, t->written);
  for (size_t i = 0; i < RECORDS_MAX; i++) CHECK(r->seen[i] <= 1);
  return ms;
}

/* What the service counts: the calls in any second. */
static size_t most_in_a_second(const story *t) {
  size_t most = 0;
  for (size_t i = 0, from = 0; i < t->calls; i++) {
    while (t->called_us[i] - t->called_us[from] >= 1000000) from++;
    if (i - from + 1 > most) most = i - from + 1;
  }
  return most;
}

/* ---- a backlog ------------------------------------------------------------------------------------------ */

static void read_a_day(uint64_t seed, uint32_t partitions, size_t calls, uint64_t ms_max) {
  story t;
  reader r;
  begin(&t, seed);
  a_day(&t, TABLE, partitions);
  process p = process_new(&t);
  reader_open(&r, &t, p.host, "dynamodb:" TABLE);
  CHECK_INT(sloop_start(r.s), 0);
  CHECK_BELOW(read_all(&t, &r, ms_max), ms_max);
  CHECK_INT(t.calls, calls);
  CHECK_INT(t.refused, 0);
  CHECK(most_in_a_second(&t) <= 10);
  reader_close(&r, &t);
  process_end(&t, &p);
  end(&t);
}

/* One call describes the stream, seven list 700 shards; no ended shard asks for its children. */
STORY(a_day_of_rollovers_costs_a_listing_and_no_call_for_a_shard) { read_a_day(seed, 100, 8, 700); }

/* Shards are read while the pages behind them are listed, and nothing is handed out before all are. */
TEST(seven_thousand_shards_are_listed_below_the_limit_and_read_meanwhile) {
  story t;
  reader r;
  begin(&t, 7);
  a_day(&t, TABLE, 1000);
  process p = process_new(&t);
  reader_open(&r, &t, p.host, "dynamodb:" TABLE);
  CHECK_INT(sloop_start(r.s), 0);
  CHECK_BELOW(read_all(&t, &r, 10000), 8500);
  CHECK_INT(t.calls, 71);
  CHECK_INT(t.refused, 0);
  CHECK(most_in_a_second(&t) <= 10);
  CHECK_BELOW(t.read_us, t.called_us[0] + 500000);
  CHECK(r.first_us > t.called_us[70]);
  reader_close(&r, &t);
  process_end(&t, &p);
  end(&t);
}

/* Pages of the first listing fail, and it is begun again; or the consumer is closed in the middle of it. */
STORY(a_first_listing_that_fails_or_is_given_up_in_the_middle_loses_nothing) {
  for (int closes = 0; closes <= 1; closes++) {
    story t;
    reader r;
    begin(&t, seed);
    a_day(&t, TABLE, 300);
    process p = process_new(&t);
    reader_open(&r, &t, p.host, "dynamodb:" TABLE);
    CHECK_INT(sloop_start(r.s), 0);
    slp_world_pass(t.w, 600);
    CHECK(t.read_us > 0 && t.calls == 10);
    slp_world_faults(t.w, "9 DescribeStream * status 500\n");
    if (!closes) (void)read_all(&t, &r, 60000);
    reader_close(&r, &t);
    process_end(&t, &p);
    end(&t);
  }
}

/* ---- rollovers while it is read ------------------------------------------------------------------------- */

typedef struct live {
  story t;
  process p;
  reader r;
} live;

static void live_begin(live *l, uint64_t seed, uint32_t partitions, const char *quirk, uint32_t value) {
  begin(&l->t, seed);
  make_table(&l->t, TABLE, partitions);
  if (quirk) CHECK_INT(slp_box_quirk(l->t.w->box, TABLE, quirk, value), 0);
  l->p = process_new(&l->t);
  reader_open(&l->r, &l->t, l->p.host, "dynamodb:" TABLE);
  l->r.opts.list_ms = 60000;
  CHECK_INT(sloop_start(l->r.s), 0);
  put_changes(&l->t, TABLE, 200);
  (void)read_all(&l->t, &l->r, 10000);
  slp_world_pass(l->t.w, 3000);
  l->t.calls = l->t.refused = 0;
}

static void live_end(live *l) {
  CHECK_INT(l->t.refused, 0);
  CHECK(most_in_a_second(&l->t) <= 10);
  CHECK_INT(l->r.errors, 0);
  reader_close(&l->r, &l->t);
  process_end(&l->t, &l->p);
  end(&l->t);
}

static size_t roll_and_read(live *l, uint64_t ms_max) {
  roll(&l->t, TABLE);
  put_changes(&l->t, TABLE, 200);
  (void)read_all(&l->t, &l->r, ms_max);
  slp_world_pass(l->t.w, 5000);
  return l->t.calls;
}

/* Two calls of shards that ask for themselves may be out when the rest has come together. */
STORY(shards_that_end_together_share_one_listing) {
  live l;
  live_begin(&l, seed, 400, NULL, 0);
  CHECK_BELOW(roll_and_read(&l, 8000), 30);
  live_end(&l);
}

STORY(a_shard_that_ends_alone_is_asked_for_its_child_in_one_call) {
  live l;
  live_begin(&l, seed, 1, NULL, 0);
  CHECK_INT(roll_and_read(&l, 3000), 1);
  live_end(&l);
}

/* A listing without the child would end the reading there. */
STORY(children_that_are_listed_late_are_waited_for) {
  live l;
  live_begin(&l, seed, 150, "late-children", 1200);
  CHECK_BELOW(roll_and_read(&l, 8000), 40);
  live_end(&l);
}

STORY(a_service_that_ignores_or_refuses_the_filter_is_listed_instead) {
  for (uint32_t how = 1; how <= 2; how++) {
    live l;
    live_begin(&l, seed, 150, "child-filter", how);
    (void)roll_and_read(&l, 10000);
    CHECK_BELOW(l.t.calls, 30);
    l.t.calls = 0;
    CHECK_BELOW(roll_and_read(&l, 10000), 30);
    l.t.refused = 0; /* the filter was */
    live_end(&l);
  }
}

/* ---- several consumers ---------------------------------------------------------------------------------- */

/* Not joined: each has keys, calls and shards of its own, and one account. */
STORY(consumers_of_a_process_share_the_limit_of_the_account) {
  static const char *const tables[] = {"dynamodb:first", "dynamodb:second", "dynamodb:third"};
  story t;
  reader r[3];
  begin(&t, seed);
  for (int i = 0; i < 3; i++) a_day(&t, tables[i] + 9, 60);
  process p = process_new(&t);
  for (int i = 0; i < 3; i++) {
    reader_open(&r[i], &t, p.host, tables[i]);
    CHECK_INT(sloop_start(r[i].s), 0);
  }
  for (int i = 0; i < 3; i++) {
    uint64_t ms = 0;
    for (; r[i].records < 300 && ms < 10000; ms += 10) slp_world_pass(t.w, 10);
    CHECK_INT(r[i].records, 300);
  }
  CHECK_INT(t.calls, 18); /* 420 shards are five pages */
  CHECK_INT(t.refused, 0);
  CHECK(most_in_a_second(&t) <= 10);
  for (int i = 0; i < 3; i++) reader_close(&r[i], &t);
  process_end(&t, &p);
  end(&t);
}

/* ---- a fleet ------------------------------------------------------------------------------------------- */

/* Its one worker leads it: the rows of its listing tell the children. */
static void read_a_day_in_a_fleet(uint64_t seed, const char *schema, uint32_t partitions, uint64_t ms_max,
                                  size_t more_writes) {
  story t;
  reader r;
  begin(&t, seed);
  a_day(&t, TABLE, partitions);
  process p = process_new(&t);
  reader_prepare(&r, &t, p.host, "dynamodb:" TABLE);
  r.opts.app = "billing";
  r.opts.schema = schema;
  reader_open_now(&r);
  CHECK_INT(sloop_start(r.s), 0);
  uint64_t ms = read_all(&t, &r, 60000);
  fprintf(stderr, "     %llu ms, %zu writes\n", (unsigned long long)ms, t.writes);
  CHECK_BELOW(ms, ms_max);
  /* A lease is made, taken and ended; the last generation's are not ended. */
  CHECK_BELOW(t.writes, partitions * (3 * 7 - 1) + more_writes);
  CHECK_INT(t.calls, 1 + (partitions * 7 + 99) / 100);
  CHECK_INT(t.refused, 0);
  reader_close(&r, &t);
  process_end(&t, &p);
  end(&t);
}

#define BEATS 30 /* and other writes of a short story */

STORY(a_worker_of_a_fleet_asks_for_no_child_that_was_listed) {
  read_a_day_in_a_fleet(seed, NULL, 100, 2500, BEATS);
}
STORY(in_a_table_of_the_kcl_neither) { read_a_day_in_a_fleet(seed, "kcl", 100, 2500, BEATS); }

/* All were made in one moment, so their leases share a partition key, which takes 1000 writes a second: some are
 * refused and come again. The listing takes seven seconds before. */
TEST(seven_thousand_leases_take_as_long_as_their_writes) { read_a_day_in_a_fleet(7, NULL, 1000, 28000, 700); }
