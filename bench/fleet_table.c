/* fleet_table.c - see fleet_table.h. */
#include "fleet_table.h"

#include "bench.h"
#include "store/memory.h"
#include "units.h"

typedef enum flight_kind { GET, LIST, WRITE } flight_kind;

typedef struct worker_store worker_store;
typedef struct flight { /* a request that waits for its answer */
  slp_event ev;         /* its answer */
  fleet_table *t;
  slp_store_req *rq; /* the asker's; NULL: it does not want it any more */
  slp_host *h;
  flight_kind kind;
  uint8_t arrived, throttled;
  worker_store *of;
  slp_store_get get;
  slp_store_list list;
  slp_store_write write;
} flight;

struct worker_store {
  slp_store s;
  fleet_table *t;
  slp_host *h;
  double cpu_s; /* in what it did with its answers */
};

/* A partition key gets 1000 units written and 3000 read in a second (DynamoDB Developer Guide, "Best practices for
 * designing and using partition keys effectively"), and nothing is saved up but one second. */
#define KEYS_MAX 64
#define WRITES_S 1000
#define READS_S 3000

typedef struct key_load { /* thousandths of half a unit */
  char name[64];
  uint64_t at_ms;
  int64_t writes, reads;
} key_load;

struct fleet_table {
  slp_mem *mem;
  slp_sim *sim;
  slp_memory *rows;
  slp_host *h;
  slp_store *inner;
  slp_schema *schema;
  uint64_t answer_us;
  uint32_t writes_s, reads_s; /* that a key gets in a second */
  key_load keys[KEYS_MAX];
  size_t keys_n;
  fleet_table_cost cost;
};

static void nothing(slp_store_req *rq) { (void)rq; }

static void at_once(slp_store_req *rq) {
  slp_unpost(&rq->ev);
  rq->ev.run(&rq->ev);
}

/* ---- what a key gets ------------------------------------------------------------------------------------- */

/* Half a unit in thousandths, and two of them a unit: a unit a second is 2 in each millisecond. */
#define HALF 1000
static int64_t most(uint32_t per_s) { return (int64_t)per_s * 2 * HALF; }

static key_load *load_of(fleet_table *t, slp_str key) {
  uint64_t now_ms = slp_sim_now_us(t->sim) / 1000;
  key_load *k = t->keys;
  while (k < t->keys + t->keys_n && !slp_str_is(key, k->name)) k++;
  if (k == t->keys + t->keys_n) {
    if (t->keys_n == KEYS_MAX || key.n >= sizeof k->name) bench_die("more partition keys than expected");
    t->keys_n++;
    memcpy(k->name, key.p, key.n);
    k->at_ms = now_ms;
    k->writes = most(t->writes_s);
    k->reads = most(t->reads_s);
  }
  int64_t passed = (int64_t)slp_min_u64(now_ms - k->at_ms, 100000);
  k->writes = slp_min_i64(most(t->writes_s), k->writes + passed * 2 * t->writes_s);
  k->reads = slp_min_i64(most(t->reads_s), k->reads + passed * 2 * t->reads_s);
  k->at_ms = now_ms;
  return k;
}

/* 1: the table refuses, and nothing happens. */
static int refuse_write(flight *x, uint64_t halves) {
  key_load *k = load_of(x->t, x->write.key.hash);
  x->throttled = k->writes < (int64_t)halves * HALF;
  if (!x->throttled) {
    k->writes -= (int64_t)halves * HALF;
    return 0;
  }
  x->t->cost.writes_throttled++;
  x->t->cost.beats_throttled += x->write.urgent;
  return 1;
}

static int refuse_read(flight *x, slp_str hash) {
  x->throttled = load_of(x->t, hash)->reads <= 0;
  x->t->cost.reads_throttled += x->throttled;
  return x->throttled;
}

static void take_read(fleet_table *t, slp_str hash, uint64_t halves) {
  load_of(t, hash)->reads -= (int64_t)halves * HALF;
  t->cost.reads += halves;
}

/* ---- counting ------------------------------------------------------------------------------------------ */

static size_t size_at(fleet_table *t, const slp_row_key *key) {
  slp_store_get g = {.keys = key, .keys_n = 1, .rq.on_done = nothing};
  slp_store_rows_init(&g.out, t->mem);
  t->inner->ops->get(t->inner, &g);
  at_once(&g.rq);
  size_t n = g.out.n ? units_row_size(&g.out.rows[0]) : 0;
  slp_store_rows_free(&g.out);
  return n;
}

static void do_write(flight *x) {
  fleet_table *t = x->t;
  size_t before = size_at(t, &x->write.key), after = 0;
  if (refuse_write(x, units_write(before, before))) return;
  t->inner->ops->write(t->inner, &x->write);
  at_once(&x->write.rq);
  if (x->write.written == SLP_WRITTEN_YES && x->write.kind != SLP_WRITE_DELETE)
    after = size_at(t, &x->write.key);
  t->cost.writes += units_write(before, after);
  t->cost.write_calls++;
}

/* Rows that are requested and absent cost as well. */
static void do_get(flight *x) {
  fleet_table *t = x->t;
  for (size_t i = 0; i < x->get.keys_n; i++)
    if (refuse_read(x, x->get.keys[i].hash)) return;
  t->inner->ops->get(t->inner, &x->get);
  at_once(&x->get.rq);
  for (size_t i = 0; i < x->get.keys_n; i++)
    take_read(t, x->get.keys[i].hash,
              units_get(i < x->get.out.n ? units_row_size(&x->get.out.rows[i]) : 0, x->get.consistent));
  t->cost.read_calls++;
}

static void do_list(flight *x) {
  fleet_table *t = x->t;
  size_t n = 0;
  if (refuse_read(x, x->list.hash)) return;
  t->inner->ops->list(t->inner, &x->list);
  at_once(&x->list.rq);
  for (size_t i = 0; i < x->list.out.n; i++) n += units_row_size(&x->list.out.rows[i]);
  take_read(t, x->list.hash, units_list(n, x->list.consistent));
  t->cost.read_calls++;
}

/* ---- answering ----------------------------------------------------------------------------------------- */

static void hand_over(slp_store_rows *to, slp_store_rows *from) {
  slp_store_rows_free(to);
  slp_store_rows_move(to, from);
}

static void flight_free(flight *x) {
  slp_store_rows_free(&x->get.out);
  slp_store_rows_free(&x->list.out);
  slp_store_rows_free(&x->write.image);
  slp_free(x->t->mem, x);
}

typedef enum { SOMETHING, FIRST_KEY, OTHER_KEY } part;

/* Which part of a reading of everything it is. */
static part part_of(const flight *x, const slp_store_list *l) {
  slp_str hash, prefix;
  x->t->schema->scope(x->t->schema, &hash, &prefix);
  if (!slp_str_eq(hash, l->hash)) return OTHER_KEY;
  return l->prefix.n == prefix.n ? FIRST_KEY : SOMETHING;
}

/* A leader's tick begins with reading everything; its work is done when on_done of the last part returns. */
static void tell(slp_event *ev) {
  flight *x = SLP_OWNER(ev, flight, ev);
  fleet_table_cost *cost = &x->t->cost;
  slp_store_req *rq = x->rq;
  worker_store *of = x->of;
  part tick = x->kind == LIST ? part_of(x, &x->list) : SOMETHING;
  rq->impl = NULL;
  flight_free(x);
  double from = bench_clock_s(CLOCK_THREAD_CPUTIME_ID);
  rq->on_done(rq);
  double took = bench_clock_s(CLOCK_THREAD_CPUTIME_ID) - from;
  of->cpu_s += took;
  if (tick == SOMETHING) return;
  cost->ticks += tick == FIRST_KEY;
  cost->tick_cpu_s += took;
  if (took > cost->tick_cpu_s_max) cost->tick_cpu_s_max = took;
}

static void answer(void *arg) {
  flight *x = arg;
  slp_store_req *rq = x->rq;
  if (!rq) {
    flight_free(x);
    return;
  }
  slp_fail_clear(&rq->fail);
  rq->done_us = slp_now_refresh_us(x->h);
  if (x->throttled) {
    slp_fail_set(&rq->fail, SLP_THROTTLE, 0, "the partition key has used up its second");
    if (x->kind == WRITE) SLP_OWNER(rq, slp_store_write, rq)->written = SLP_WRITTEN_NOT_SURE;
  } else if (x->kind == GET) {
    hand_over(&SLP_OWNER(rq, slp_store_get, rq)->out, &x->get.out);
  } else if (x->kind == LIST) {
    hand_over(&SLP_OWNER(rq, slp_store_list, rq)->out, &x->list.out);
  } else {
    slp_store_write *to = SLP_OWNER(rq, slp_store_write, rq);
    to->written = x->write.written;
    to->image_known = x->write.image_known;
    hand_over(&to->image, &x->write.image);
  }
  x->arrived = 1;
  slp_post(x->h, &x->ev);
}

/* ---- the store of one worker --------------------------------------------------------------------------- */

static flight *begin(slp_store *s, slp_store_req *rq, flight_kind kind) {
  worker_store *w = SLP_OWNER(s, worker_store, s);
  flight *x = SLP_NEW(w->t->mem, flight);
  SLP_CHECK(x && !rq->impl);
  x->t = w->t;
  x->of = w;
  x->rq = rq;
  x->h = w->h;
  x->kind = kind;
  x->ev.run = tell;
  x->get.rq.on_done = x->list.rq.on_done = x->write.rq.on_done = nothing;
  slp_store_rows_init(&x->get.out, w->t->mem);
  slp_store_rows_init(&x->list.out, w->t->mem);
  slp_store_rows_init(&x->write.image, w->t->mem);
  rq->impl = x;
  rq->sent_us = slp_now_refresh_us(w->h);
  slp_sim_at(w->t->sim, slp_sim_now_us(w->t->sim) + w->t->answer_us, answer, x);
  return x;
}

static void op_get(slp_store *s, slp_store_get *g) {
  flight *x = begin(s, &g->rq, GET);
  x->get.keys = g->keys;
  x->get.keys_n = g->keys_n;
  x->get.consistent = g->consistent;
  do_get(x);
}

static void op_list(slp_store *s, slp_store_list *l) {
  flight *x = begin(s, &l->rq, LIST);
  x->list.hash = l->hash;
  x->list.prefix = l->prefix;
  x->list.consistent = l->consistent;
  do_list(x);
}

static void op_write(slp_store *s, slp_store_write *w) {
  flight *x = begin(s, &w->rq, WRITE);
  x->write.key = w->key;
  x->write.kind = w->kind;
  x->write.when = w->when;
  x->write.when_n = w->when_n;
  x->write.changes = w->changes;
  x->write.changes_n = w->changes_n;
  x->write.urgent = w->urgent;
  do_write(x);
}

static void op_prepare(slp_store *s, slp_store_prepare *p) { (void)s, (void)p; }

static void op_cancel(slp_store *s, slp_store_req *rq) {
  flight *x = rq->impl;
  (void)s;
  if (!x) return;
  rq->impl = NULL;
  x->rq = NULL;
  slp_unpost(&x->ev);
  if (x->arrived) flight_free(x);
}

static void op_close(slp_store *s) {
  worker_store *w = SLP_OWNER(s, worker_store, s);
  slp_free(w->t->mem, w);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

slp_store *fleet_table_store(fleet_table *t, slp_host *h) {
  worker_store *w = SLP_NEW(t->mem, worker_store);
  SLP_CHECK(w);
  w->s.ops = &ops;
  w->t = t;
  w->h = h;
  return &w->s;
}

double fleet_table_cpu_s(slp_store *s) { return SLP_OWNER(s, worker_store, s)->cpu_s; }
void fleet_table_cpu_clear(slp_store *s) { SLP_OWNER(s, worker_store, s)->cpu_s = 0; }

/* ---- the table ----------------------------------------------------------------------------------------- */

fleet_table *fleet_table_new(slp_mem *mem, slp_sim *sim, slp_schema *schema, uint64_t answer_us) {
  fleet_table *t = SLP_NEW(mem, fleet_table);
  slp_table_spec spec;
  SLP_CHECK(t);
  t->mem = mem;
  t->sim = sim;
  t->schema = schema;
  t->answer_us = answer_us;
  t->writes_s = WRITES_S;
  t->reads_s = READS_S;
  t->rows = slp_memory_new(mem);
  t->h = slp_sim_host_new(sim, mem, NULL);
  schema->table(schema, "leases", &spec);
  SLP_CHECK(t->rows && t->h && slp_memory_store(&t->inner, t->rows, t->h, &spec) == 0);
  slp_store_prepare p = {.create = 1, .rq.on_done = nothing};
  t->inner->ops->prepare(t->inner, &p);
  at_once(&p.rq);
  return t;
}

const fleet_table_cost *fleet_table_cost_of(const fleet_table *t) { return &t->cost; }
void fleet_table_cost_clear(fleet_table *t) { memset(&t->cost, 0, sizeof t->cost); }
void fleet_table_grants(fleet_table *t, uint32_t writes_s) { t->writes_s = writes_s; }
