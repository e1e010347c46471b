/* fleet_kcl_streams.c - one process that reads several streams of one application in a table of KCL: to the
 * others it is one worker, and fair shares are counted over all streams. Beside it a model of KCL 2's taker
 * (project amazon-kinesis-client: DynamoDBLeaseTaker), which reads and writes attributes by itself. */
#define CHECK_SECONDS 60
#include "guest/common_name.h"
#include "lease/fleet_inside.h"
#include "swarm/host.h"
#include "store/memory.h"
#include "store/rows.h"
#include "guest/guest_schemas.h"
#include "lease/context.h"
#include "lease/fleet.h"
#include "lease/lease.h"

#include "../check.h"

#include <stdio.h>
#include <stdlib.h>

#define S UINT64_C(1000000)
#define LEASE (2 * S)
#define SHARDS 4
#define STREAMS 2

static const char *const streams[STREAMS] = {"1:a:1", "1:b:1"};
static const slp_table_spec spec = {"leases", "leaseKey", NULL};

typedef struct member { /* a fleet of one stream in one process */
  slp_store *store;
  slp_schema *schema;
  slp_processor processor;
  slp_fleet *fleet;
  slp_host *h;
  slp_timer list_timer;
  slp_timer drained[SHARDS];
} member;

typedef struct process {
  slp_host *h;
  slp_mem *mem;
  slp_list names;
  slp_common_name *name;
  member of[STREAMS];
} process;

typedef struct java { /* a worker of KCL 2 */
  const char *name;
  unsigned seed;
  uint64_t seen_us[STREAMS * SHARDS], counter[STREAMS * SHARDS];
} java;

static slp_sim *sim;
static slp_mem *mem;
static slp_memory *tables;
static slp_host *server;
static slp_store *table;
static int over;
static uint64_t drain_us; /* so long a reader works on what it has */

/* ---- the table --------------------------------------------------------------------------------- */

static void nothing(slp_store_req *rq) { (void)rq; }
static void now(slp_store_req *rq) {
  slp_unpost(&rq->ev);
  rq->ev.run(&rq->ev);
}

static slp_store_list all;
static size_t read_all(void) {
  memset(&all.rq, 0, sizeof all.rq);
  all.rq.on_done = nothing;
  table->ops->list(table, &all);
  now(&all.rq);
  return all.out.n;
}
static slp_str attr(size_t i, const char *name) { return slp_row_text(&all.out.rows[i], slp_str_of(name)); }
static uint64_t counter_of(size_t i) {
  return (uint64_t)slp_row_int(&all.out.rows[i], SLP_STR("leaseCounter"), 0);
}

static int owned_by(slp_str name) {
  int n = 0;
  size_t rows = read_all();
  for (size_t i = 0; i < rows; i++) n += slp_str_eq(attr(i, "leaseOwner"), name);
  return n;
}

static int owners(void) {
  int n = 0;
  size_t rows = read_all();
  for (size_t i = 0; i < rows; i++) {
    int first = attr(i, "leaseOwner").n > 0;
    for (size_t k = 0; k < i; k++) first &= !slp_str_eq(attr(i, "leaseOwner"), attr(k, "leaseOwner"));
    n += first;
  }
  return n;
}

/* ---- the processes ------------------------------------------------------------------------------- */

static member *member_of(slp_processor *t) { return SLP_OWNER(t, member, processor); }
static int t_open(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from) {
  (void)t, (void)shard, (void)epoch, (void)from;
  return 0;
}
static const char *const shard_ids[SHARDS] = {"shardId-0", "shardId-1", "shardId-2", "shardId-3"};
static int shard_number(slp_str shard) { return shard.p[shard.n - 1] - '0'; }
static void drained(member *m, int i) { slp_fleet_drained(m->fleet, slp_str_of(shard_ids[i])); }
static void drained_0(slp_timer *t) { drained(SLP_OWNER(t, member, drained[0]), 0); }
static void drained_1(slp_timer *t) { drained(SLP_OWNER(t, member, drained[1]), 1); }
static void drained_2(slp_timer *t) { drained(SLP_OWNER(t, member, drained[2]), 2); }
static void drained_3(slp_timer *t) { drained(SLP_OWNER(t, member, drained[3]), 3); }
static void t_drain(slp_processor *t, slp_str shard) {
  member *m = member_of(t);
  if (drain_us)
    slp_timer_set(m->h, &m->drained[shard_number(shard)], slp_now_us(m->h) + drain_us);
  else
    slp_fleet_drained(m->fleet, shard);
}
static void t_revoke(slp_processor *t, slp_str shard, slp_shutdown_reason why) {
  (void)t, (void)shard, (void)why;
}
static void t_suspend(slp_processor *t, int on) { (void)t, (void)on; }
static void t_mark(slp_processor *t, slp_str shard, slp_position *ret) {
  (void)t, (void)shard;
  *ret = (slp_position){.kind = SLP_POSITION_OLDEST};
}
static void t_list(slp_processor *t) {
  slp_timer_set(member_of(t)->h, &member_of(t)->list_timer, slp_now_us(member_of(t)->h) + 1000);
}
static void listed(slp_timer *timer) {
  member *m = SLP_OWNER(timer, member, list_timer);
  slp_shard_desc shards[SHARDS];
  slp_fail fine;
  slp_fail_clear(&fine);
  for (int i = 0; i < SHARDS; i++)
    shards[i] = (slp_shard_desc){.id = slp_str_of(shard_ids[i]), .seq_start = SLP_STR("1")};
  slp_fleet_listed(m->fleet, &fine, shards, SHARDS);
}
static const slp_processor_ops ops = {t_open, t_drain, t_revoke, t_suspend, t_mark, t_list};

static process *begin_process(const char *id) {
  process *p = SLP_NEW(mem, process);
  slp_sim_clock clock = {0, 1000000 + slp_sim_random_below(sim, 1u << 30), 0};
  p->mem = slp_mem_new(NULL, NULL);
  p->h = slp_sim_host_new(sim, p->mem, &clock);
  slp_list_init(&p->names);
  p->name = slp_common_name_of(&p->names, p->mem, SLP_STR("leases"), slp_str_of(id));
  for (int i = 0; i < STREAMS; i++) {
    member *m = &p->of[i];
    m->h = p->h;
    m->processor.ops = &ops;
    m->list_timer = (slp_timer){.at_us = UINT64_MAX, .run = listed};
    static void (*const run_drained[SHARDS])(slp_timer *) = {drained_0, drained_1, drained_2, drained_3};
    for (int k = 0; k < SHARDS; k++) m->drained[k] = (slp_timer){.at_us = UINT64_MAX, .run = run_drained[k]};
    m->schema = slp_schema_kcl(p->mem, slp_str_of(streams[i]), 0);
    CHECK_INT(slp_memory_store(&m->store, tables, p->h, &spec), 0);
    slp_fleet_opts o = {.host = p->h,
                        .store = m->store,
                        .schema = m->schema,
                        .processor = &m->processor,
                        .worker = slp_str_of(id),
                        .guest = p->name,
                        .start = {.kind = SLP_POSITION_OLDEST},
                        .lease_ms = LEASE / 1000};
    CHECK_INT(slp_fleet_new(&m->fleet, p->mem, &o), 0);
    slp_fleet_start(m->fleet);
  }
  return p;
}

static void closed(slp_host *h, void *arg) {
  process *p = arg;
  slp_mem *its = p->mem;
  (void)h;
  slp_free(mem, p);
  slp_mem_drop(its);
}

static void end_process(process *p) {
  for (int i = 0; i < STREAMS; i++) {
    slp_timer_clear(p->h, &p->of[i].list_timer);
    for (int k = 0; k < SHARDS; k++) slp_timer_clear(p->h, &p->of[i].drained[k]);
    slp_fleet_free(p->of[i].fleet);
    p->of[i].store->ops->close(p->of[i].store);
    p->of[i].schema->free(p->of[i].schema);
  }
  slp_common_name_drop(p->name);
  slp_host_close(p->h, closed, p);
}

/* ---- a worker of KCL 2 --------------------------------------------------------------------------- */

static int write_counter(size_t i, const char *owner) {
  char was[24], is[24];
  snprintf(was, sizeof was, "%llu", (unsigned long long)counter_of(i));
  snprintf(is, sizeof is, "%llu", (unsigned long long)counter_of(i) + 1);
  slp_atom when = {SLP_STR("leaseCounter"), SLP_TEST_EQ, {.kind = SLP_VAL_N, .s = slp_str_of(was)}, 0};
  slp_change c[2] = {
      {SLP_STR("leaseCounter"), SLP_SET, {.kind = SLP_VAL_N, .s = slp_str_of(is)}},
      {SLP_STR("leaseOwner"), SLP_SET, {.kind = SLP_VAL_S, .s = slp_str_of(owner ? owner : "")}}};
  slp_store_write w = {.kind = SLP_WRITE_UPDATE,
                       .when = &when,
                       .when_n = 1,
                       .changes = c,
                       .changes_n = owner ? 2 : 1,
                       .key = {attr(i, "leaseKey"), {NULL, 0}}};
  w.rq.on_done = nothing;
  slp_store_rows_init(&w.image, mem);
  table->ops->write(table, &w);
  now(&w.rq);
  slp_store_rows_free(&w.image);
  return w.written == SLP_WRITTEN_YES;
}

static void renew(void *arg) {
  java *j = arg;
  if (over) return;
  size_t rows = read_all();
  for (size_t i = 0; i < rows; i++)
    if (slp_str_is(attr(i, "leaseOwner"), j->name)) write_counter(i, NULL);
  slp_sim_at(sim, slp_sim_now_us(sim) + LEASE / 3, renew, j);
}

/* Takes what is dead up to its share, else one from the fullest: every two leases of time. */
static void take(void *arg) {
  java *j = arg;
  if (over) return;
  size_t rows = read_all(), counts[STREAMS * SHARDS] = {0}, mine = 0, workers = 0, most = 0, stolen = rows;
  uint64_t at = slp_sim_now_us(sim);
  int dead[STREAMS * SHARDS] = {0}, some = 0;
  CHECK(rows <= STREAMS * SHARDS);
  for (size_t i = 0; i < rows; i++) {
    if (counter_of(i) != j->counter[i] || !j->seen_us[i]) j->seen_us[i] = at;
    j->counter[i] = counter_of(i);
    dead[i] = !attr(i, "leaseOwner").n || at - j->seen_us[i] > LEASE;
    some |= dead[i];
  }
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < rows; k++)
      counts[i] += !dead[i] && !dead[k] && slp_str_eq(attr(i, "leaseOwner"), attr(k, "leaseOwner"));
    int first = counts[i] > 0;
    for (size_t k = 0; k < i; k++)
      first &= dead[k] || !slp_str_eq(attr(i, "leaseOwner"), attr(k, "leaseOwner"));
    int own = slp_str_is(attr(i, "leaseOwner"), j->name) && !dead[i];
    workers += first && !own;
    mine += own;
    if (!own && counts[i] > most) most = counts[i];
  }
  workers++;
  size_t target = workers >= rows ? 1 : (rows + workers - 1) / workers;
  for (size_t i = 0; i < rows && mine < target; i++)
    if (dead[i]) mine += (size_t)write_counter(i, j->name);
  if (!some && mine < target && (most > target || (most == target && target - mine > 1)))
    for (size_t i = 0, from = rand_r(&j->seed) % rows; i < rows && stolen == rows; i++)
      if (counts[(i + from) % rows] == most && !slp_str_is(attr((i + from) % rows, "leaseOwner"), j->name))
        stolen = (i + from) % rows;
  if (stolen < rows) write_counter(stolen, j->name);
  slp_sim_at(sim, slp_sim_now_us(sim) + 2 * LEASE, take, j);
}

static void begin_java(java *j, unsigned seed) {
  *j = (java){.name = "ip-10-0-0-1:3f2a", .seed = seed};
  renew(j);
  take(j);
}

/* ---- a leader of KCL 3 ----------------------------------------------------------------------------- */

static void put(const char *key, const char *attrs[][2], size_t n) {
  slp_change c[4];
  for (size_t i = 0; i < n; i++)
    c[i] = (slp_change){slp_str_of(attrs[i][0]), SLP_SET, {.kind = SLP_VAL_S, .s = slp_str_of(attrs[i][1])}};
  slp_store_write w = {
      .kind = SLP_WRITE_UPDATE, .changes = c, .changes_n = n, .key = {slp_str_of(key), {NULL, 0}}};
  w.rq.on_done = nothing;
  slp_store_rows_init(&w.image, mem);
  table->ops->write(table, &w);
  now(&w.rq);
  slp_store_rows_free(&w.image);
  CHECK_INT(w.written, SLP_WRITTEN_YES);
}

/* It lives: its lock gets another number within its lease. */
static void hold_lock(void *arg) {
  const java *j = arg;
  char number[24];
  if (over) return;
  snprintf(number, sizeof number, "%llu", (unsigned long long)slp_sim_now_us(sim));
  put("Leader",
      (const char *[][2]){{"entityType", "LEADER"},
                          {"ownerName", j->name},
                          {"leaseDuration", "8000"},
                          {"recordVersionNumber", number}},
      4);
  slp_sim_at(sim, slp_sim_now_us(sim) + LEASE, hold_lock, arg);
}

static void begin_leader(java *j) {
  *j = (java){.name = "ip-10-0-0-1:3f2a"};
  put("Migration3.0", (const char *[][2]){{"cv", "CLIENT_VERSION_3X"}}, 1);
  hold_lock(j);
  renew(j);
}

/* Rows of leases go to a worker; odd: every other one. */
static void assign(const char *owner, int odd) {
  size_t rows = read_all();
  for (size_t i = 0, n = 0; i < rows; i++)
    if (attr(i, "checkpoint").n && (n++ % 2 || !odd)) CHECK(write_counter(i, owner));
}

/* ---- the world ----------------------------------------------------------------------------------- */

static void begin(uint64_t seed) {
  over = 0;
  drain_us = 0;
  mem = slp_mem_new(NULL, NULL);
  sim = slp_sim_new(mem, seed);
  slp_sim_leave_unhashed(sim);
  tables = slp_memory_new(mem);
  server = slp_sim_host_new(sim, mem, NULL);
  CHECK_INT(slp_memory_store(&table, tables, server, &spec), 0);
  slp_store_prepare p = {.create = 1};
  p.rq.on_done = nothing;
  table->ops->prepare(table, &p);
  now(&p.rq);
  slp_store_rows_init(&all.out, mem);
}

static void server_gone(slp_host *h, void *arg) { (void)h, (void)arg; }

static void end(void) {
  over = 1;
  slp_host_close(server, server_gone, NULL);
  slp_sim_run(sim, slp_sim_now_us(sim) + 1000, NULL, NULL);
  slp_store_rows_free(&all.out);
  table->ops->close(table);
  slp_memory_drop(tables);
  slp_sim_free(sim);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void run(uint64_t us) { slp_sim_run(sim, slp_sim_now_us(sim) + us, NULL, NULL); }

static int held(const process *p) { return owned_by(slp_fleet_instance(p->of[0].fleet)); }

/* ---- stories ------------------------------------------------------------------------------------- */

TEST(a_process_has_one_name_and_two_share_four_to_four) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    begin(seed);
    process *a = begin_process("a"), *b;
    run(5 * LEASE);
    CHECK(slp_str_eq(slp_fleet_instance(a->of[0].fleet), slp_fleet_instance(a->of[1].fleet)));
    CHECK_INT(held(a), 8);
    b = begin_process("b");
    run(12 * LEASE);
    for (int i = 0; i < 20; i++) { /* and it stays so */
      CHECK_INT(held(a), 4);
      CHECK_INT(held(b), 4);
      CHECK_INT(owners(), 2);
      run(LEASE);
    }
    end_process(a);
    end_process(b);
    end();
  }
}

static void write_other(slp_write_kind kind, const slp_change *c, size_t n) {
  slp_store_write w = {.kind = kind, .changes = c, .changes_n = n, .key.hash = SLP_STR("1:b:1:shardId-9")};
  w.rq.on_done = nothing;
  slp_store_rows_init(&w.image, mem);
  table->ops->write(table, &w);
  now(&w.rq);
  slp_store_rows_free(&w.image);
}

/* A row of the other stream's comes, is read to its end by somebody, and goes. */
TEST(a_row_of_another_stream_that_goes_is_forgotten) {
  slp_change row[] = {
      {SLP_STR("checkpoint"), SLP_SET, {.kind = SLP_VAL_S, .s = SLP_STR("SHARD_END")}},
      {SLP_STR("checkpointSubSequenceNumber"), SLP_SET, {.kind = SLP_VAL_N, .s = SLP_STR("0")}},
      {SLP_STR("ownerSwitchesSinceCheckpoint"), SLP_SET, {.kind = SLP_VAL_N, .s = SLP_STR("0")}},
      {SLP_STR("leaseCounter"), SLP_SET, {.kind = SLP_VAL_N, .s = SLP_STR("4")}}};
  begin(1);
  process *a = begin_process("a");
  run(5 * LEASE);
  const slp_map *seen = &a->of[0].fleet->seen.shards;
  size_t before = seen->live;
  CHECK_INT(before, STREAMS * SHARDS);
  write_other(SLP_WRITE_PUT, row, SLP_COUNT(row));
  run(3 * LEASE);
  CHECK_INT(seen->live, before + 1);
  write_other(SLP_WRITE_DELETE, NULL, 0);
  run(3 * LEASE);
  CHECK_INT(seen->live, before);
  end_process(a);
  end();
}

TEST(a_worker_of_kcl_and_a_process_with_two_streams_share_four_to_four) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    java j;
    begin(seed);
    process *a = begin_process("a");
    run(5 * LEASE);
    begin_java(&j, (unsigned)seed);
    run(16 * LEASE);
    for (int i = 0; i < 20; i++) {
      CHECK_INT(held(a), 4);
      CHECK_INT(owned_by(slp_str_of(j.name)), 4);
      run(LEASE);
    }
    end_process(a);
    end();
  }
}

TEST(two_processes_and_a_worker_of_kcl_are_three) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    java j;
    begin(seed);
    process *a = begin_process("a"), *b = begin_process("b");
    run(2 * S);
    begin_java(&j, (unsigned)seed);
    run(20 * LEASE);
    for (int i = 0; i < 20; i++) {
      int n[3] = {held(a), held(b), owned_by(slp_str_of(j.name))};
      for (int k = 0; k < 3; k++) CHECK(n[k] == 2 || n[k] == 3);
      CHECK_INT(n[0] + n[1] + n[2], 8);
      run(LEASE);
    }
    end_process(a);
    end_process(b);
    end();
  }
}

/* An owner that is slow to let go is asked by one stream's fleet, and that lease counts for the other's. */
TEST(what_one_stream_is_about_to_have_counts_for_the_other) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    begin(seed);
    drain_us = 2 * LEASE;
    process *a = begin_process("a"), *b;
    run(5 * LEASE);
    CHECK_INT(held(a), 8);
    b = begin_process("b");
    for (int i = 0; i < 400; i++) {
      run(LEASE / 8);
      CHECK(held(b) <= 4);
    }
    CHECK_INT(held(a), 4);
    CHECK_INT(held(b), 4);
    end_process(a);
    end_process(b);
    end();
  }
}

/* A lease that the leader gives is taken, whatever the process has elsewhere. */
TEST(leases_of_two_streams_that_a_leader_gives_are_taken) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    java j;
    uint64_t was[STREAMS * SHARDS + 4] = {0};
    begin(seed);
    process *a = begin_process("a");
    run(5 * LEASE);
    CHECK_INT(held(a), 8);
    begin_leader(&j);
    assign(j.name, 0);
    run(4 * LEASE);
    CHECK_INT(held(a), 0);
    char name[100];
    slp_str me = slp_fleet_instance(a->of[0].fleet);
    snprintf(name, sizeof name, "%.*s", (int)me.n, me.p);
    assign(name, 1);
    run(4 * LEASE);
    CHECK_INT(held(a), 4);
    size_t rows = read_all();
    CHECK(rows <= SLP_COUNT(was));
    for (size_t i = 0; i < rows; i++) was[i] = counter_of(i);
    run(2 * LEASE);
    CHECK(read_all() == rows);
    for (size_t i = 0; i < rows; i++)
      if (slp_str_is(attr(i, "leaseOwner"), name)) CHECK(counter_of(i) > was[i]); /* renewed by it */
    end_process(a);
    end();
  }
}

/* What one stream's fleet holds when its process stops goes to the other process. */
TEST(the_last_of_a_process_leaves_the_name) {
  begin(3);
  process *a = begin_process("a");
  run(5 * LEASE);
  slp_str was = slp_fleet_instance(a->of[0].fleet);
  slp_fleet_leave(a->of[0].fleet, 1000);
  run(5 * LEASE);
  CHECK_INT(owned_by(was), 4); /* the other stream's */
  slp_fleet_leave(a->of[1].fleet, 1000);
  run(2 * S);
  CHECK_INT(owners(), 0);
  end_process(a);
  end();
}
