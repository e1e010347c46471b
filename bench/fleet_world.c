/* fleet_world.c - see fleet_world.h. */
#include "fleet_world.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "lease/fleet.h"
#include "store/schema_sloop.h"
#include "lease/lease.h"

#define S FLEET_S
#define WORKERS_MAX 2048u
#define ANSWER_US 8000
#define LIST_US 50000
#define END_US (10 * S) /* the parents of a doubling end within it */
#define READ UINT64_MAX

typedef struct open_shard {
  uint32_t shard;
  uint8_t told_end;
  uint64_t mark;
} open_shard;

typedef struct node {
  fleet_world *w;
  slp_host *h;
  slp_mem *mem;
  bench_heap heap;
  slp_schema *schema;
  slp_store *store;
  slp_processor processor;
  slp_fleet *fleet;
  slp_timer tick, listing;
  open_shard *open;
  size_t open_n, open_cap;
  uint8_t lives, left;
} node;

typedef struct a_shard {
  slp_shard_desc desc;
  uint32_t kids[2];
  uint8_t split;      /* it has children */
  uint8_t ended;      /* its end is in the table */
  uint64_t end_us;    /* split: its last record is read then */
  uint64_t unread_us; /* nobody has read it since; READ: somebody does */
} a_shard;

struct fleet_world {
  slp_sim *sim;
  slp_mem *mem;
  fleet_table *table;
  slp_schema *schema;
  uint32_t checkpoint_ms;
  a_shard *shards;
  slp_shard_desc *listed; /* of all shards, in their order */
  uint32_t shards_n, open_n;
  node *nodes[WORKERS_MAX];
  uint32_t nodes_n;
  fleet_world_told told;
};

static uint64_t now_us(fleet_world *w) { return slp_sim_now_us(w->sim); }

/* ---- the stream ---------------------------------------------------------------------------------------- */

static slp_str text(fleet_world *w, const char *fmt, unsigned long long n) {
  char line[64];
  int k = snprintf(line, sizeof line, fmt, n);
  char *p = slp_alloc(w->mem, (size_t)k + 1);
  if (!p) bench_die("no memory");
  memcpy(p, line, (size_t)k + 1);
  return (slp_str){p, (size_t)k};
}

/* Numbers as long as those of a Kinesis stream: they are most of a lease's row. */
static void make_shard(fleet_world *w, slp_str from, slp_str to, slp_str parent) {
  uint32_t i = w->shards_n++;
  a_shard *s = &w->shards[i];
  s->unread_us = now_us(w);
  s->desc =
      (slp_shard_desc){.id = text(w, "shardId-%012llu", i),
                       .parent = parent,
                       .hash_start = from,
                       .hash_end = to,
                       .seq_start = text(w, "49590338271490256608559692538361571095921575989%09llu", i)};
  w->open_n++;
}

static void room_for(fleet_world *w, uint32_t n) {
  w->shards = realloc(w->shards, n * sizeof *w->shards);
  w->listed = realloc(w->listed, n * sizeof *w->listed);
  if (!w->shards || !w->listed) bench_die("no memory");
  memset(w->shards + w->shards_n, 0, (n - w->shards_n) * sizeof *w->shards);
}

static void list_them(fleet_world *w) {
  for (uint32_t i = 0; i < w->shards_n; i++) w->listed[i] = w->shards[i].desc;
}

/* Four hash keys a shard, so that it can be split. A hole would be told. */
#define KEY "3402823669209384634633746074%011llu"
#define KEY_0 UINT64_C(10000000000)
static slp_str edge(fleet_world *w, uint64_t at, uint64_t of, unsigned last) {
  if (last && at == of) return SLP_STR("340282366920938463463374607431768211455");
  if (!last && at == 0) return SLP_STR("0");
  return text(w, KEY, KEY_0 + at * 4 - last);
}

static void make_shards(fleet_world *w, uint32_t n) {
  room_for(w, n);
  for (uint32_t i = 0; i < n; i++) make_shard(w, edge(w, i, n, 0), edge(w, i + 1, n, 1), (slp_str){NULL, 0});
  list_them(w);
}

void fleet_world_double(fleet_world *w) {
  uint32_t were = w->shards_n, first = were - w->open_n, open = w->open_n;
  room_for(w, were + 2 * open);
  for (uint32_t i = first; i < were; i++) {
    a_shard *s = &w->shards[i];
    uint64_t middle = KEY_0 + (uint64_t)(i - first) * 4 + 2;
    s->split = 1;
    s->end_us = now_us(w) + slp_sim_random_below(w->sim, END_US);
    s->kids[0] = w->shards_n;
    s->kids[1] = w->shards_n + 1;
    slp_str id = s->desc.id, from = s->desc.hash_start, to = s->desc.hash_end;
    uint64_t at = s->end_us;
    make_shard(w, from, text(w, KEY, middle - 1), id);
    make_shard(w, text(w, KEY, middle), to, id);
    w->shards[w->shards_n - 1].unread_us = w->shards[w->shards_n - 2].unread_us = at;
  }
  w->open_n = 2 * open;
  list_them(w);
}

static uint32_t number(slp_str shard) {
  uint32_t n = 0;
  for (size_t i = shard.n - 12; i < shard.n; i++) n = n * 10 + (uint32_t)(shard.p[i] - '0');
  return n;
}

/* ---- a worker's reader --------------------------------------------------------------------------------- */

static node *node_of(slp_processor *t) { return SLP_OWNER(t, node, processor); }

static open_shard *open_of(node *n, slp_str id) {
  uint32_t k = number(id);
  for (size_t i = 0; i < n->open_n; i++)
    if (n->open[i].shard == k) return &n->open[i];
  return NULL;
}

static void unread_ends(fleet_world *w, a_shard *s) {
  uint64_t now = now_us(w);
  double took = s->unread_us < now ? (double)(now - s->unread_us) / 1e6 : 0;
  if (took > w->told.unread_s_max) w->told.unread_s_max = took;
  w->told.unread_s_all += took;
  s->unread_us = READ;
}

static int t_open(slp_processor *t, slp_str id, uint64_t epoch, const slp_position *from) {
  node *n = node_of(t);
  uint64_t at = 0;
  (void)epoch;
  if (from->kind == SLP_POSITION_AFTER) slp_parse_u64(slp_mark_seq(&from->mark), &at);
  if (n->open_n == n->open_cap) {
    n->open_cap = n->open_cap ? 2 * n->open_cap : 16;
    n->open = realloc(n->open, n->open_cap * sizeof *n->open);
    if (!n->open) bench_die("no memory");
  }
  n->open[n->open_n++] = (open_shard){.shard = number(id), .mark = at};
  unread_ends(n->w, &n->w->shards[number(id)]);
  return 0;
}

static void t_drain(slp_processor *t, slp_str id) { slp_fleet_drained(node_of(t)->fleet, id); }

static void t_revoke(slp_processor *t, slp_str id, slp_shutdown_reason why) {
  node *n = node_of(t);
  fleet_world *w = n->w;
  open_shard *o = open_of(n, id);
  a_shard *s = &w->shards[number(id)];
  if (why == SLP_SHUTDOWN_LOST) w->told.losses++;
  if (why == SLP_SHUTDOWN_ENDED) s->ended = 1;
  if (!o) return;
  *o = n->open[--n->open_n];
  if (!s->ended) s->unread_us = now_us(w);
}

static void t_suspend(slp_processor *t, int on) { (void)t, (void)on; }

static void t_mark(slp_processor *t, slp_str id, slp_position *ret) {
  node *n = node_of(t);
  const open_shard *o = open_of(n, id);
  char seq[32];
  memset(ret, 0, sizeof *ret);
  ret->kind = SLP_POSITION_OLDEST;
  if (!o) return;
  if (o->told_end) {
    ret->kind = SLP_POSITION_END;
    return;
  }
  if (!o->mark) return;
  ret->kind = SLP_POSITION_AFTER;
  int k = snprintf(seq, sizeof seq, "%llu", (unsigned long long)o->mark);
  slp_mark_set(&ret->mark, (slp_str){seq, (size_t)k}, UINT32_MAX, -1);
}

static void t_list(slp_processor *t) {
  node *n = node_of(t);
  slp_timer_set(n->h, &n->listing, slp_now_us(n->h) + LIST_US);
}

static const slp_processor_ops processor_ops = {.open = t_open,
                                                .drain = t_drain,
                                                .revoke = t_revoke,
                                                .suspend = t_suspend,
                                                .mark = t_mark,
                                                .list = t_list};

static void run_listing(slp_timer *timer) {
  node *n = SLP_OWNER(timer, node, listing);
  slp_fail fine;
  slp_fail_clear(&fine);
  slp_fleet_listed(n->fleet, &fine, n->w->listed, n->w->shards_n);
}

static void tell_end(node *n, open_shard *o) {
  fleet_world *w = n->w;
  const a_shard *s = &w->shards[o->shard];
  slp_shard_desc kids[2] = {w->shards[s->kids[0]].desc, w->shards[s->kids[1]].desc};
  o->told_end = 1;
  slp_fleet_ended(n->fleet, s->desc.id, kids, 2);
}

/* Every second each shard's position moves on, and what has ended is told. */
static void run_tick(slp_timer *timer) {
  node *n = SLP_OWNER(timer, node, tick);
  fleet_world *w = n->w;
  for (size_t i = 0; i < n->open_n; i++) {
    open_shard *o = &n->open[i];
    const a_shard *s = &w->shards[o->shard];
    if (o->told_end) continue;
    if (s->split && now_us(w) >= s->end_us) {
      tell_end(n, o);
    } else if (w->checkpoint_ms) {
      o->mark = 1000000000 + now_us(w); /* not its own clock's: a lease that comes from another goes on */
      slp_fleet_progressed(n->fleet, s->desc.id);
    }
  }
  slp_timer_set(n->h, &n->tick, slp_now_us(n->h) + S);
}

static void on_event(void *arg, const slp_fleet_event *ev) {
  node *n = arg;
  if (ev->kind == SLP_FLEET_LEFT) n->left = 1;
  if (ev->kind == SLP_FLEET_EVICTED || ev->kind == SLP_FLEET_SUSPENDED) n->w->told.losses++;
  if (ev->kind == SLP_FLEET_FAILED || ev->kind == SLP_FLEET_HOLE)
    bench_die("a fleet without faults says: %.*s", (int)ev->text.n, ev->text.p);
}

/* ---- workers come and go ------------------------------------------------------------------------------- */

static void begin(void *arg) {
  node *n = arg;
  if (!n->lives) return;
  slp_timer_set(n->h, &n->tick, slp_now_us(n->h) + S);
  slp_fleet_start(n->fleet);
}

void fleet_world_start(fleet_world *w, uint64_t within_us) {
  node *n = calloc(1, sizeof *n);
  if (!n || w->nodes_n == WORKERS_MAX) bench_die("no memory, or too many workers");
  slp_sim_clock clock = {0, S + slp_sim_random_below(w->sim, 1u << 30), 0};
  w->nodes[w->nodes_n++] = n;
  n->w = w;
  n->mem = slp_mem_new(bench_alloc, &n->heap);
  n->h = slp_sim_host_new(w->sim, n->mem, &clock);
  n->schema = slp_schema_sloop(n->mem, SLP_STR("billing"), SLP_STR("orders"), SLP_STR("1700000000"));
  if (!n->h || !n->schema) bench_die("no memory");
  slp_schema_sloop_spreads(n->schema, 0);
  n->store = fleet_table_store(w->table, n->h);
  n->processor.ops = &processor_ops;
  n->tick.at_us = n->listing.at_us = UINT64_MAX;
  n->tick.run = run_tick;
  n->listing.run = run_listing;
  slp_fleet_opts o = {.host = n->h,
                      .store = n->store,
                      .schema = n->schema,
                      .processor = &n->processor,
                      .worker = text(w, "ip-10-0-0-%llu-4711-c0ffee", w->nodes_n),
                      .machine = SLP_STR("ip-10-0-0-17.eu-central-1.compute.internal"),
                      .start.kind = SLP_POSITION_OLDEST,
                      .checkpoint_ms = w->checkpoint_ms,
                      .on_event = on_event,
                      .arg = n};
  if (slp_fleet_new(&n->fleet, n->mem, &o)) bench_die("no memory");
  n->lives = 1;
  if (within_us)
    slp_sim_at(w->sim, now_us(w) + slp_sim_random_below(w->sim, within_us), begin, n);
  else
    begin(n);
}

void fleet_world_leave(fleet_world *w, uint32_t worker) {
  w->nodes[worker]->lives = 0;
  slp_fleet_leave(w->nodes[worker]->fleet, 10000);
}

void fleet_world_kill(fleet_world *w, uint32_t worker) {
  node *n = w->nodes[worker];
  n->lives = 0;
  for (size_t i = 0; i < n->open_n; i++)
    if (!w->shards[n->open[i].shard].ended) w->shards[n->open[i].shard].unread_us = now_us(w);
  n->open_n = 0;
  slp_timer_clear(n->h, &n->tick);
  slp_timer_clear(n->h, &n->listing);
  slp_fleet_free(n->fleet);
}

static int leads(const node *n) {
  slp_fleet_stats s;
  if (!n->lives) return 0;
  slp_fleet_stats_get(n->fleet, &s);
  return s.leads_now;
}

static node *leader(fleet_world *w) {
  for (uint32_t i = 0; i < w->nodes_n; i++)
    if (leads(w->nodes[i])) return w->nodes[i];
  return NULL;
}

uint32_t fleet_world_leader(fleet_world *w) {
  for (uint32_t i = 0; i < w->nodes_n; i++)
    if (leads(w->nodes[i])) return i;
  bench_die("nobody leads");
}

uint32_t fleet_world_follower(fleet_world *w) {
  for (uint32_t i = 0; i < w->nodes_n; i++)
    if (w->nodes[i]->lives && !leads(w->nodes[i])) return i;
  bench_die("nobody follows");
}

/* ---- balance ------------------------------------------------------------------------------------------- */

/* Parents that have not ended yet count for those who have them; then it is not over. */
static int balanced(void *arg) {
  fleet_world *w = arg;
  size_t all = 0, least = SIZE_MAX, most = 0;
  for (uint32_t i = 0; i < w->nodes_n; i++) {
    const node *n = w->nodes[i];
    if (!n->lives) continue;
    all += n->open_n;
    if (n->open_n < least) least = n->open_n;
    if (n->open_n > most) most = n->open_n;
  }
  if (all != w->open_n || most - least > 1) return 0;
  for (uint32_t i = w->shards_n - w->open_n; i < w->shards_n; i++)
    if (w->shards[i].unread_us != READ) return 0;
  return 1;
}

void fleet_world_pass(fleet_world *w, uint64_t us) { slp_sim_run(w->sim, now_us(w) + us, NULL, NULL); }

double fleet_world_until_balanced(fleet_world *w, uint64_t most_us) {
  uint64_t from = now_us(w);
  while (!balanced(w)) {
    if (now_us(w) - from > most_us) return -1;
    fleet_world_pass(w, S / 50);
  }
  return (double)(now_us(w) - from) / 1e6;
}

fleet_world_told fleet_world_tell(fleet_world *w) {
  fleet_world_told t = w->told;
  node *l = leader(w);
  t.shards_open = w->open_n;
  for (uint32_t i = 0; i < w->nodes_n; i++) {
    t.workers += w->nodes[i]->lives;
  }
  for (uint32_t i = w->shards_n - w->open_n; i < w->shards_n; i++) {
    const a_shard *s = &w->shards[i];
    if (s->unread_us == READ || s->unread_us > now_us(w)) continue;
    double yet = (double)(now_us(w) - s->unread_us) / 1e6;
    if (yet > t.unread_s_max) t.unread_s_max = yet;
  }
  if (!l) return t;
  t.leader_cpu_s = fleet_table_cpu_s(l->store);
  t.leader_bytes = l->heap.live;
  t.leader_bytes_peak = l->heap.peak;
  return t;
}

void fleet_world_clear(fleet_world *w) {
  memset(&w->told, 0, sizeof w->told);
  fleet_table_cost_clear(w->table);
  for (uint32_t i = 0; i < w->nodes_n; i++) {
    fleet_table_cpu_clear(w->nodes[i]->store);
    w->nodes[i]->heap.peak = w->nodes[i]->heap.live;
  }
}

/* ---- birth --------------------------------------------------------------------------------------------- */

fleet_world *fleet_world_new(uint32_t shards, uint32_t checkpoint_ms, uint64_t seed) {
  fleet_world *w = calloc(1, sizeof *w);
  if (!w) bench_die("no memory");
  w->checkpoint_ms = checkpoint_ms;
  w->mem = slp_mem_new(NULL, NULL);
  w->sim = slp_sim_new(w->mem, seed);
  w->schema = slp_schema_sloop(w->mem, SLP_STR("billing"), SLP_STR("orders"), SLP_STR("1700000000"));
  w->table = fleet_table_new(w->mem, w->sim, w->schema, ANSWER_US);
  make_shards(w, shards);
  return w;
}

fleet_table *fleet_world_table(fleet_world *w) { return w->table; }
