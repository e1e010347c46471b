/* herd_plan.c - what a seed draws: a fleet, a stream, a user's manners, and which faults there are at all. */
#include "swarm/herd.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/open.h"
#include "swarm/inside.h"

static const char *const names[] = {
#define X(name, what) #name,
    HD_FAULTS(X)
#undef X
};

const char *hd_fault_name(hd_fault f) { return names[f]; }

hd_fault hd_fault_of(const char *name) {
  size_t i = 0;
  while (i < HF_N && strcmp(names[i], name) != 0) i++;
  return (hd_fault)i;
}

uint64_t hd_between(uint64_t *r, uint64_t low, uint64_t high) { return slp_sim_draw_between(r, low, high); }

uint64_t hd_log_between(uint64_t *r, uint64_t low, uint64_t high) {
  uint64_t steps = 0, top = low;
  for (uint64_t v = low; v < high; v = v * 3 + 1) steps++;
  for (uint64_t k = hd_between(r, 1, steps ? steps : 1); k > 0; k--) top = top * 3 + 1;
  return hd_between(r, low, slp_min_u64(top, high));
}

const hd_names hd_names_of[HD_SCHEMAS] = {
    [HD_SLOOP] = {"sloop", "sloop", "row", "owner", "pos", "0:oldest", "9:end"},
    [HD_KCL] = {"kcl", "billing", "leaseKey", "leaseOwner", "checkpoint", "TRIM_HORIZON", "SHARD_END"},
    [HD_VMWARE] = {"vmware-go-kcl", "billing", "ShardID", "AssignedTo", "Checkpoint", "", "SHARD_END"},
    [HD_MOTORWAY] = {"motorway", "billing", "shard_id", "worker_id", "sloop_done", "0", "SHARD_END"},
    [HD_KCL_RB] = {"kcl-rb", "billing", "shard_id", "sloop_owner", "checkpoint", "", "SHARD_END"},
};

/* ---- drawing ------------------------------------------------------------------------------------------- */
/* Every part of a plan is drawn from a stream of its own, so that one more thing to draw leaves the rest of
 * all worlds what it was, and seeds that once failed stay what they were. */
typedef enum part {
  PART_SIZES,
  PART_OPTIONS,
  PART_NETWORK,
  PART_CLOCKS,
  PART_SERVICE,
  PART_USER,
  PART_FAULTS,
  PART_RETRY = 200,
  PART_WEIGHTS,
  PART_STALL,
  PART_KEYS,
  PART_PUSH,
  PART_SPREAD,
  PART_DEAD_PUSH,
  PART_READY,
  PART_COMMANDS,
  PART_DRAIN
} part;
static uint64_t stream_of(const hd_plan *p, size_t n) {
  uint64_t state = p->seed * UINT64_C(0xd1342543de82ef95) + (n + 1) * UINT64_C(0xaf251af3b0f025b5);
  (void)slp_sim_draw(&state);
  return state;
}

static void draw_options(hd_plan *p) {
  uint64_t state = stream_of(p, PART_OPTIONS), *r = &state;
  static const uint32_t batch_records[] = {1, 7, 100, 1000}, fetches[] = {5, 50, 1000, 10000};
  static const uint64_t holds[] = {256 << 10, 1 << 20, 4 << 20, 64 << 20};
  sloop_opts_t *o = &p->o;
  sloop_opts_init(o);
  o->lease_ms = (uint32_t)hd_between(r, 1000, 10000);
  o->checkpoint_ms = hd_one_in(r, 12) ? 0 : (uint32_t)hd_log_between(r, 100, 8000);
  o->handover_ms = (uint32_t)hd_log_between(r, 300, 30000);
  o->start.kind = hd_one_in(r, 3) ? SLOOP_LATEST : hd_one_in(r, 4) ? SLOOP_AT_TIME : SLOOP_OLDEST;
  /* No row there says which moment that was; what a reader of the KCL's rows asked for is known of Kinesis. */
  if (o->start.kind == SLOOP_LATEST && p->schema != HD_SLOOP && (p->schema != HD_KCL || p->changes))
    o->start.kind = SLOOP_OLDEST;
  o->order = hd_one_in(r, 3) ? SLOOP_ORDER_SHARD : SLOOP_ORDER_TIME;
  o->wire = (sloop_wire_t)hd_between(r, SLOOP_WIRE_AUTO, SLOOP_WIRE_JSON);
  o->order_wait_ms = hd_one_in(r, 5)   ? 0
                     : hd_one_in(r, 5) ? UINT32_MAX
                                       : (uint32_t)hd_log_between(r, 50, 5000);
  o->poll_ms = hd_heads(r) ? 1000 : (uint32_t)hd_between(r, 200, 3000);
  o->fetch_records_max = fetches[hd_between(r, 0, 3)];
  o->buffered_bytes_max = holds[hd_between(r, 0, 3)];
  o->batches_out_max = (uint32_t)hd_between(r, 1, 4);
  o->batch_records_max = batch_records[hd_between(r, 0, 3)];
  o->batch_bytes_max = hd_heads(r) ? 1 << 20 : 4096;
  o->in_flight_max = hd_heads(r) ? 128 : (uint32_t)hd_between(r, 1, 4);
  o->list_ms = hd_heads(r) ? 60000 : (uint32_t)hd_between(r, 2000, 20000);
  o->stats_ms = hd_one_in(r, 4) ? 900 : 0;
}

/* The rule for a record that keeps coming back. */
static void draw_retry(hd_plan *p) {
  static const sloop_retry_t kinds[] = {SLOOP_RETRY_STOP, SLOOP_RETRY_PARK, SLOOP_RETRY_SKIP};
  uint64_t state = stream_of(p, PART_RETRY), *r = &state;
  int on = hd_one_in(r, 4);
  sloop_retry_t kind = kinds[hd_between(r, 0, 2)];
  uint32_t most = (uint32_t)hd_between(r, 1, 4);
  if (!on) return;
  if (p->schema == HD_VMWARE && kind == SLOOP_RETRY_PARK) kind = SLOOP_RETRY_STOP;
  p->o.on_retry = kind;
  p->o.retry_max = most;
}

static void draw_network(hd_plan *p) {
  uint64_t state = stream_of(p, PART_NETWORK), *r = &state;
  slp_sim_net *n = &p->net;
  n->latency_us_min = (uint32_t)hd_log_between(r, 100, 20000);
  n->latency_us_max = n->latency_us_min + (uint32_t)hd_log_between(r, 1, 60000);
  n->piece_bytes_max = hd_heads(r) ? 65536 : (uint32_t)hd_log_between(r, 300, 30000);
  n->piece_bytes_min = hd_heads(r) ? n->piece_bytes_max : 100;
  n->piece_gap_us_max = hd_heads(r) ? 0 : 2000;
  n->late_us_max = (uint32_t)hd_log_between(r, 10000, 25000000);
  n->slow_us_max = (uint32_t)hd_log_between(r, 100000, 25000000);
}

/* Leases run out by the clock on the wall: those of all workers agree to a fifth of a lease. */
static int clocks_must_agree(const hd_plan *p) { return p->schema == HD_VMWARE; }

static void draw_clocks(hd_plan *p) {
  uint64_t state = stream_of(p, PART_CLOCKS), *r = &state;
  for (int i = 0; i < HD_WORKERS_MAX; i++) {
    slp_sim_clock *c = &p->clock[i];
    c->wall_off_ms = (int64_t)hd_between(r, 0, 20000000) - 10000000;
    c->mono_start_us = hd_between(r, 0, UINT64_C(1) << 45);
    int32_t within = (int32_t)hd_between(r, 0, 140000) - 70000;
    int32_t beyond = (int32_t)hd_between(r, 0, 800000) - 400000;
    c->drift_ppm = p->rate[HF_wild] ? beyond : p->rate[HF_drift] ? within : 0;
    if (clocks_must_agree(p)) c->wall_off_ms %= p->o.lease_ms / 12;
  }
}

static int is_harmless(size_t f) {
  return f == HF_split || f == HF_merge || f == HF_leave || f == HF_drift || f == HF_ask ||
         f == HF_set_right || f == HF_weights || f == HF_joined || f == HF_push || f == HF_dead_push ||
         f == HF_named;
}

/* Each class is there or not; how much of it, is drawn by size. */
static void draw_faults(hd_plan *p, uint64_t without) {
  uint64_t user = stream_of(p, PART_USER);
  int calm = hd_one_in(&user, 12);
  for (size_t i = 0; i < HF_N; i++) {
    uint64_t state = stream_of(p, PART_FAULTS + i), *r = &state;
    int on = hd_heads(r);
    uint32_t often = (uint32_t)(hd_is_event(i) ? hd_log_between(r, 1, 25) : hd_log_between(r, 500, 100000));
    if (i == HF_hold) on = hd_one_in(r, 3);
    if (i == HF_wild || i == HF_trim || i == HF_drop_row || i == HF_edit_row) on = hd_one_in(r, 8);
    if (i >= HF_set_right) on = hd_one_in(r, i == HF_keys ? 16 : 8);
    int harmless = is_harmless(i);
    if ((calm && !harmless) || (without >> i & 1)) on = 0;
    if (clocks_must_agree(p) && (i == HF_jump || i == HF_drift || i == HF_wild)) on = 0;
    if (i == HF_outage || i == HF_table_down || i == HF_lock) often = often % 3 + 1;
    if (i == HF_trim || i == HF_drop_row || i == HF_edit_row) often = often % 4 + 1;
    p->rate[i] = on ? often : 0;
  }
  uint64_t hold_us_max = hd_log_between(&user, 1000, 3000000);
  p->hold_us_max = p->rate[HF_hold] ? hold_us_max : 0;
  slp_sim_net *n = &p->net;
  n->refuse_ppm = p->rate[HF_lose] / 2;
  n->reset_ppm = p->rate[HF_lose];
  n->silent_ppm = p->rate[HF_lose] / 4;
  n->late_ppm = p->rate[HF_late];
  n->twice_ppm = p->rate[HF_twice];
  n->slow_ppm = p->rate[HF_slow];
  n->cut_ppm = p->rate[HF_torn];
  n->clip_ppm = p->rate[HF_torn] / 2;
}

/* What a fleet chooses that the other parts know nothing of. */
static void draw_choices(hd_plan *p) {
  uint64_t weights = stream_of(p, PART_WEIGHTS), stall = stream_of(p, PART_STALL),
           keys = stream_of(p, PART_KEYS);
  for (int i = 0; i < HD_WORKERS_MAX; i++)
    p->weight[i] = p->rate[HF_weights] ? (uint32_t)hd_log_between(&weights, 1, 1000) : 1;
  p->joined = p->rate[HF_joined] && p->schema == HD_SLOOP && !p->changes;
  if (p->rate[HF_stall]) p->o.stall_ms = (uint32_t)hd_log_between(&stall, 1000, 30000);
  if (!p->rate[HF_keys] || !hd_heads(&keys)) return;
  /* A worker whose clock is ahead by more than its keys live takes them for expired before it has heard of the
   * service's time: as botocore does, it ends. */
  p->keys_ms = (uint32_t)hd_log_between(&keys, 2000, 60000);
  p->rate[HF_jump] = 0;
  for (int i = 0; i < HD_WORKERS_MAX; i++) p->clock[i].wall_off_ms %= 1000;
}

static void draw_push(hd_plan *p, const hd_wish *wish) {
  uint64_t state = stream_of(p, PART_PUSH);
  p->rate[HF_push] = wish->push > 0; /* only where it is asked for */
  /* The typed consumer is of one stream. */
  if (p->changes || p->rate[HF_keys] || p->joined || !p->typed) p->rate[HF_push] = 0;
  p->push_ms = hd_heads(&state) ? 300000 : (uint32_t)hd_log_between(&state, 5000, 60000);
  if (p->rate[HF_push]) p->o.retrieval = hd_heads(&state) ? SLOOP_RETRIEVAL_PUSH : SLOOP_RETRIEVAL_AUTO;
}

/* Where records are pushed if that can be, and can't: all are read by polls. */
static void draw_dead_push(hd_plan *p, const hd_wish *wish) {
  uint64_t state = stream_of(p, PART_DEAD_PUSH);
  p->rate[HF_dead_push] = wish->push > 1 && p->rate[HF_push];
  slp_typed_dead how = (slp_typed_dead)hd_between(&state, SLP_DEAD_NOT + 1, SLP_DEAD_WAYS - 1);
  p->dead_heals = (uint8_t)hd_one_in(&state, 4);
  if (!p->rate[HF_dead_push]) return;
  p->dead_push = how;
  p->o.retrieval = SLOOP_RETRIEVAL_AUTO;
}

/* The table is as an application of the KCL with a MultiStreamTracker has left it. */
static void draw_named(hd_plan *p, const hd_wish *wish) {
  p->rate[HF_named] = wish->named > 0 && p->schema == HD_KCL && !p->changes; /* only where it is asked for */
  if (!p->rate[HF_named]) return;
  p->typed = 0; /* an operator makes the rows, who speaks in bytes */
  p->o.start.kind = SLOOP_OLDEST;
}

static void draw_commands(hd_plan *p, const hd_wish *wish) {
  uint64_t state = stream_of(p, PART_COMMANDS);
  uint32_t often = (uint32_t)hd_log_between(&state, 1, 25);
  p->rate[HF_command] = wish->commands && !(wish->without >> HF_command & 1) ? often : 0;
}

static void draw_drain(hd_plan *p, const hd_wish *wish) {
  uint64_t state = stream_of(p, PART_DRAIN);
  uint32_t often = (uint32_t)hd_log_between(&state, 1, 12);
  int there = wish->drain && p->schema == HD_SLOOP && !(wish->without >> HF_drain & 1);
  p->rate[HF_drain] = there ? often : 0;
}

/* No reading depends on it. */
static void draw_ready(hd_plan *p) {
  uint64_t state = stream_of(p, PART_READY);
  p->o.unready_ms = (uint32_t)hd_log_between(&state, 1000, 60000);
}

/* As many streams whose leases lie under several keys, with a few shards a key, as tables from before that. */
static void draw_spread(hd_plan *p) {
  uint64_t state = stream_of(p, PART_SPREAD), *r = &state;
  p->leases_a_key = (uint32_t)hd_between(r, 0, 4);
  if (hd_heads(r)) p->leases_a_key = SLP_ONE_KEY;
}

static void draw_service(hd_plan *p) {
  uint64_t state = stream_of(p, PART_SERVICE), *r = &state;
  slp_world_box_opts(&p->box);
  uint32_t iterator_ms = (uint32_t)hd_between(r, 4000, 30000);
  if (hd_one_in(r, 4)) p->box.iterator_ms = p->box.change_iterator_ms = iterator_ms;
  if (hd_one_in(r, 3)) p->box.reads_per_second = 0;
  p->box.cbor_indefinite = hd_heads(r);
  p->box.list_page_max = (uint32_t)hd_between(r, 1, 8);
  if (hd_heads(r)) p->box.list_page_max = 1000;
  p->box.roll_ms = 0; /* by order alone */
}

void hd_wish_none(hd_wish *wish) {
  *wish = (hd_wish){.workers = UINT32_MAX,
                    .shards = UINT32_MAX,
                    .phase_ms = UINT32_MAX,
                    .backlog = UINT32_MAX,
                    .seam = -1,
                    .schema = -1,
                    .source = -1};
}

static void take(uint32_t *to, uint32_t wished) {
  if (wished != UINT32_MAX) *to = wished;
}

void hd_plan_draw(hd_plan *p, uint64_t seed, const hd_wish *wish) {
  memset(p, 0, sizeof *p);
  p->seed = seed;
  uint64_t state = stream_of(p, PART_SIZES), *r = &state;
  int bytes = hd_one_in(r, 20);
  p->schema = hd_one_in(r, 3) ? HD_KCL : HD_SLOOP;
  p->changes = (uint8_t)hd_one_in(r, 12);
  p->workers = (uint32_t)hd_between(r, 1, HD_WORKERS_MAX);
  p->shards = (uint32_t)hd_log_between(r, 1, 24);
  p->phase_ms = (uint32_t)hd_between(r, 5000, 60000);
  p->backlog = hd_one_in(r, 4) ? 0 : (uint32_t)hd_log_between(r, 10, 1000);
  p->record_bytes = (uint32_t)hd_log_between(r, 0, 1500);
  p->put_gap_us = hd_one_in(r, 6) ? 0 : (uint32_t)hd_log_between(r, 8000, 1000000);
  p->creds_later = (uint8_t)hd_heads(r);
  p->aggregates = (uint8_t)hd_one_in(r, 4);
  if (wish->schema >= 0) p->schema = (uint8_t)wish->schema;
  if (wish->source >= 0) p->changes = (uint8_t)wish->source;
  draw_options(p);
  draw_retry(p);
  draw_network(p);
  draw_faults(p, wish->without);
  draw_clocks(p);
  draw_choices(p);
  draw_service(p);
  draw_spread(p);
  draw_ready(p);
  draw_commands(p, wish);
  draw_drain(p, wish);
  p->times = (uint8_t)wish->times; /* no seed draws it: the seeds that are kept know none */
  p->typed = (uint8_t)!bytes;
  if (wish->seam >= 0) p->typed = (uint8_t)wish->seam;
  draw_named(p, wish);
  draw_push(p, wish);
  draw_dead_push(p, wish);
  if (p->rate[HF_keys]) p->typed = 0; /* that seam has no signatures */
  if (p->changes && wish->seam != 1)
    p->typed = 0; /* they came with bytes only when the seeds that are kept were drawn */
  take(&p->workers, wish->workers);
  take(&p->shards, wish->shards);
  take(&p->phase_ms, wish->phase_ms);
  take(&p->backlog, wish->backlog);
  if (p->changes) { /* they go on in one child or two, and are nobody's aggregates */
    p->aggregates = 0;
    p->rate[HF_merge] = 0;
  }
}

int hd_plan_calm(const hd_plan *p) {
  for (size_t i = 0; i < HF_N; i++) {
    if (is_harmless(i)) continue;
    if (p->rate[i]) return 0;
  }
  return 1;
}

void hd_plan_print(const hd_plan *p, char *to, size_t n) {
  const sloop_opts_t *o = &p->o;
  const slp_sim_net *t = &p->net;
  int at = snprintf(
      to, n,
      "%s %s %s; %u workers %u shards phase %u ms backlog %u bytes %u put %u us aggregates %d hold %" PRIu64
      " us; lease %u checkpoint %u handover %u start %d order %d wire %d wait %u poll %u fetch %u held "
      "%" PRIu64
      " stall %u weights %u %u %u %u %u %u keys %u ms joined %d retry %d %u batches %u of %u (%u bytes) in "
      "flight %u "
      "list %u leases a key %d; net %u..%u us late %u slow %u; reads "
      "%u; faults",
      p->typed ? "typed" : "bytes", hd_names_of[p->schema].schema, p->changes ? "changes" : "kinesis",
      p->workers, p->shards, p->phase_ms, p->backlog, p->record_bytes, p->put_gap_us, p->aggregates,
      p->hold_us_max, o->lease_ms, o->checkpoint_ms, o->handover_ms, (int)o->start.kind, (int)o->order,
      (int)o->wire, o->order_wait_ms, o->poll_ms, o->fetch_records_max, o->buffered_bytes_max, o->stall_ms,
      p->weight[0], p->weight[1], p->weight[2], p->weight[3], p->weight[4], p->weight[5], p->keys_ms,
      p->joined, (int)o->on_retry, o->retry_max, o->batches_out_max, o->batch_records_max, o->batch_bytes_max,
      o->in_flight_max, o->list_ms, (int)p->leases_a_key, t->latency_us_min, t->latency_us_max,
      t->late_us_max, t->slow_us_max, p->box.reads_per_second);
  for (size_t i = 0; i < HF_N && at > 0 && (size_t)at < n; i++)
    if (p->rate[i]) at += snprintf(to + at, n - (size_t)at, " %s %u", names[i], p->rate[i]);
}
