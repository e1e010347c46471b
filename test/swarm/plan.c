/* plan.c - draws a world from a seed and plays it: a first phase full of trouble, a second one in which
 * everything is healed and must come to rest with every record read. */
#include "swarm/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "swarm/inside.h"
#include "swarm/truth.h"
#include "swarm/typed.h"

/* ---- drawing ------------------------------------------------------------------------------------------- */
static uint64_t between(uint64_t *r, uint64_t low, uint64_t high) {
  return slp_sim_draw_between(r, low, high);
}
static int heads(uint64_t *r) { return (int)between(r, 0, 1); }
static int one_in(uint64_t *r, uint64_t n) { return between(r, 1, n) == 1; }
/* Small values as likely as large ones: every power of three between them equally so. */
static uint64_t log_between(uint64_t *r, uint64_t low, uint64_t high) {
  uint64_t steps = 0, top = low;
  for (uint64_t v = low; v < high; v = v * 3 + 1) steps++;
  for (uint64_t k = between(r, 1, steps ? steps : 1); k > 0; k--) top = top * 3 + 1;
  return between(r, low, slp_min_u64(top, high));
}
static uint32_t rate(uint64_t *r) { return heads(r) ? 0 : (uint32_t)log_between(r, 500, 150000); }

static void draw_options(slp_plan *p, uint64_t *r) {
  static const uint32_t batch_records[] = {1, 7, 100, 1000}, fetches[] = {5, 50, 1000, 10000};
  static const uint64_t holds[] = {1 << 20, 4 << 20, 64 << 20};
  sloop_opts_t *o = &p->opts;
  sloop_opts_init(o);
  o->start.kind = one_in(r, 3) ? SLOOP_LATEST : one_in(r, 4) ? SLOOP_AT_TIME : SLOOP_OLDEST;
  o->order = one_in(r, 3) ? SLOOP_ORDER_SHARD : SLOOP_ORDER_TIME;
  o->wire = (sloop_wire_t)between(r, SLOOP_WIRE_AUTO, SLOOP_WIRE_JSON);
  o->order_wait_ms = one_in(r, 5) ? 0 : one_in(r, 5) ? UINT32_MAX : (uint32_t)log_between(r, 50, 5000);
  o->poll_ms = heads(r) ? 1000 : (uint32_t)between(r, 200, 3000);
  o->fetch_records_max = fetches[between(r, 0, 3)];
  o->buffered_bytes_max = holds[between(r, 0, 2)];
  o->batches_out_max = (uint32_t)between(r, 1, 4);
  o->batch_records_max = batch_records[between(r, 0, 3)];
  o->batch_bytes_max = heads(r) ? 1 << 20 : 4096;
  o->in_flight_max = heads(r) ? 128 : (uint32_t)between(r, 1, 4);
  o->list_ms = heads(r) ? 60000 : (uint32_t)between(r, 1000, 10000);
  o->stats_ms = heads(r) ? 0 : 700;
}

static void draw_trouble(slp_plan *p, uint64_t *r) {
  slp_sim_net *n = &p->net;
  n->latency_us_min = (uint32_t)log_between(r, 100, 20000);
  n->latency_us_max = n->latency_us_min + (uint32_t)log_between(r, 1, 80000);
  n->piece_bytes_max = heads(r) ? 65536 : (uint32_t)log_between(r, 300, 30000);
  n->piece_bytes_min = heads(r) ? n->piece_bytes_max : 100;
  n->piece_gap_us_max = heads(r) ? 0 : 2000;
  if (heads(r)) {
    n->refuse_ppm = rate(r);
    n->reset_ppm = rate(r);
    n->silent_ppm = rate(r) / 3;
    n->cut_ppm = rate(r);
    n->clip_ppm = rate(r);
    n->slow_ppm = rate(r);
    n->slow_us_max = (uint32_t)log_between(r, 100000, 25000000);
  }
  p->scripts = heads(r) ? 0 : (uint32_t)between(r, 1, 8);
  p->pauses = heads(r) ? 0 : (uint32_t)between(r, 1, 6);
  p->freezes = one_in(r, 4) ? (uint32_t)between(r, 1, 2) : 0;
  p->jumps = one_in(r, 4) ? (uint32_t)between(r, 1, 3) : 0;
  p->downs = one_in(r, 5) ? 1 : 0;
}

/* Nothing goes wrong, but the budget is smaller than the pages of a few shards: what was fetched has to be
 * forgotten, and nobody may pass by meanwhile. */
static void draw_tight(slp_plan *p, uint64_t *r) {
  slp_sim_net *n = &p->net;
  sloop_opts_t *o = &p->opts;
  p->big_records = 1;
  p->shards = (uint32_t)between(r, 3, 12);
  p->backlog = (uint32_t)between(r, 300, 1200);
  p->backlog_gap_us = (uint32_t)log_between(r, 100, 20000);
  p->scripts = p->pauses = p->freezes = p->downs = p->trims = p->moves = 0;
  n->refuse_ppm = n->reset_ppm = n->silent_ppm = n->cut_ppm = n->clip_ppm = n->slow_ppm = 0;
  p->manners.give_back_ppm = 0;
  o->start.kind = SLOOP_OLDEST;
  o->order = SLOOP_ORDER_TIME;
  o->order_wait_ms = UINT32_MAX;
  o->buffered_bytes_max = 1 << 20;
  o->fetch_records_max = heads(r) ? 50 : 1000;
}

/* A record older than the start has to be read and passed over, and it is killed and started again from its
 * token while it does so. */
static void draw_timeless(slp_plan *p, uint64_t *r) {
  p->timeless = 1;
  p->opts.start.kind = heads(r) ? SLOOP_AT_TIME : SLOOP_LATEST;
  p->opts.fetch_records_max = (uint32_t)between(r, 2, 20);
  p->backlog = (uint32_t)between(r, 100, 1500);
  p->backlog_gap_us = (uint32_t)log_between(r, 1000, 100000);
  p->saves = (uint32_t)between(r, 30, 200);
  p->kills = (uint32_t)between(r, 1, 5);
  p->close_early = p->trims = 0;
}

/* A record that comes back often ends its shard, and what descends from it. */
static void draw_giving_up(slp_plan *p, uint64_t *r) {
  p->opts.on_retry = SLOOP_RETRY_STOP;
  p->opts.retry_max = (uint32_t)between(r, 1, 4);
  p->manners.give_back_ppm = (uint32_t)log_between(r, 10000, 300000);
  p->reshards = (uint32_t)between(r, 1, 5);
}

void slp_plan_draw(slp_plan *p, uint64_t seed) {
  uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1, *r = &state;
  memset(p, 0, sizeof *p);
  p->seed = seed;
  draw_options(p, r);
  draw_trouble(p, r);
  p->shards = (uint32_t)log_between(r, 1, 16);
  p->backlog = one_in(r, 4) ? 0 : (uint32_t)log_between(r, 10, 1500);
  p->backlog_gap_us = heads(r) ? 0 : (uint32_t)log_between(r, 100, 100000);
  p->record_bytes = (uint32_t)log_between(r, 0, 3000);
  p->big_records = (uint8_t)one_in(r, 6);
  p->put_gap_us = one_in(r, 5) ? 0 : (uint32_t)log_between(r, 5000, 1000000);
  p->reshards = heads(r) ? 0 : (uint32_t)between(r, 1, 5);
  p->phase_ms = (uint32_t)between(r, 5000, 60000);
  if (heads(r)) {
    p->manners.hold_us_min = between(r, 0, 50000);
    p->manners.hold_us_max = p->manners.hold_us_min + log_between(r, 1, 2000000);
    p->manners.give_back_ppm = heads(r) ? 0 : (uint32_t)log_between(r, 1000, 300000);
    p->manners.ack_singly_ppm = heads(r) ? 0 : 300000;
  }
  if (heads(r)) {
    p->clock.wall_off_ms = (int64_t)between(r, 0, 20000000) - 10000000;
    p->clock.mono_start_us = between(r, 0, UINT64_C(1) << 45);
    p->clock.drift_ppm = (int32_t)between(r, 0, 300) - 150; /* DRIFT_PPM in core/svctime.c is 1000 */
  }
  slp_world_box_opts(&p->box);
  if (one_in(r, 3)) p->box.iterator_ms = (uint32_t)between(r, 2500, 20000);
  if (one_in(r, 3)) p->box.reads_per_second = 0;
  p->box.cbor_indefinite = heads(r);
  p->box.list_page_max = heads(r) ? 1000 : (uint32_t)between(r, 1, 5);
  p->creds_later = (uint8_t)heads(r);
  p->stop_first = (uint8_t)heads(r);
  p->list_too = (uint8_t)one_in(r, 4);
  p->trims = one_in(r, 8) ? 2 : 0;
  p->close_early = (uint8_t)one_in(r, 12);
  p->saves = heads(r) ? 0 : (uint32_t)log_between(r, 1, 200);
  p->kills = p->saves && heads(r) ? (uint32_t)between(r, 1, 5) : 0;
  p->moves = one_in(r, 3) ? (uint32_t)between(r, 1, 4) : 0;
  p->aggregates = seed % 4 == 3; /* not drawn: seeds that once failed stay what they were */
  if (seed % 8 == 0) {
    p->early = (uint32_t)between(r, 2, 12);
    p->opts.start.kind = SLOOP_LATEST;
    p->box.list_page_max = (uint32_t)between(r, 1, 3);
  }
  if (seed % 8 == 0 || seed % 8 == 7) { /* signatures are checked, their times too */
    p->jumps = (uint32_t)between(r, 1, 5);
    p->box.access_key = "AKIDSIM";
    p->box.secret_key = "secret";
  }
  if (seed % 16 == 10) draw_tight(p, r);
  if (seed % 16 == 12) draw_timeless(p, r);
  if (seed % 32 == 9) draw_giving_up(p, r);
  p->stops = seed % 8 == 6 ? 1 + (uint32_t)(seed / 8 % 3) : 0;
}

/* Nothing goes wrong and nobody is hindered: then no record may be late. Aggregates can bring a shard at its
 * tip to the limits of reading, and who is refused twice there is not waited for. */
static int is_calm(const slp_plan *p) {
  const slp_sim_net *n = &p->net;
  if (p->aggregates && p->box.reads_per_second) return 0;
  return !p->scripts && !p->early && !p->pauses && !p->freezes && !p->downs && !p->trims && !n->refuse_ppm &&
         !n->reset_ppm && !n->silent_ppm && !n->cut_ppm && !n->clip_ppm && !n->slow_ppm &&
         !p->manners.give_back_ppm && p->opts.order_wait_ms >= 1000;
}

void slp_plan_print(const slp_plan *p, char *to, size_t n) {
  const sloop_opts_t *o = &p->opts;
  const slp_sim_net *t = &p->net;
  snprintf(
      to, n,
      "shards %u backlog %u gap %u us bytes %u big %d put %u us reshards %u pauses %u freezes %u jumps %u "
      "scripts %u "
      "downs %u trims %u saves %u kills %u stops %u moves %u aggregates %d timeless %d close %d phase %u ms; "
      "start %d "
      "order %d "
      "wire %d wait %u "
      "poll %u fetch %u held "
      "%" PRIu64
      " batches %u of %u in flight %u; net %u..%u refuse %u reset %u silent %u cut %u clip %u slow %u; hold "
      "%" PRIu64 "..%" PRIu64 " back %u; iterator %u ms reads %u drift %d",
      p->shards, p->backlog, p->backlog_gap_us, p->record_bytes, p->big_records, p->put_gap_us, p->reshards,
      p->pauses, p->freezes, p->jumps, p->scripts, p->downs, p->trims, p->saves, p->kills, p->stops, p->moves,
      p->aggregates, p->timeless, p->close_early, p->phase_ms, (int)o->start.kind, (int)o->order,
      (int)o->wire, o->order_wait_ms, o->poll_ms, o->fetch_records_max, o->buffered_bytes_max,
      o->batches_out_max, o->batch_records_max, o->in_flight_max, t->latency_us_min, t->latency_us_max,
      t->refuse_ppm, t->reset_ppm, t->silent_ppm, t->cut_ppm, t->clip_ppm, t->slow_ppm,
      p->manners.hold_us_min, p->manners.hold_us_max, p->manners.give_back_ppm, p->box.iterator_ms,
      p->box.reads_per_second, p->clock.drift_ppm);
}

/* ---- playing ------------------------------------------------------------------------------------------- */
typedef struct play {
  const slp_plan *plan;
  slp_world *w;
  slp_known_stream *stream;
  slp_user u;
  uint64_t random; /* of the operator */
  uint64_t end_us; /* of the first phase */
  uint32_t putting;
  uint8_t killed; /* and not yet alive again */
} play;

static uint32_t bytes_of(play *g) {
  if (g->plan->big_records && one_in(&g->random, 20)) return (uint32_t)between(&g->random, 10000, 200000);
  return (uint32_t)between(&g->random, 0, g->plan->record_bytes);
}

static void put(play *g) {
  if (!g->plan->aggregates || heads(&g->random)) {
    slp_world_put(g->w, g->stream, bytes_of(g));
    return;
  }
  size_t n = (size_t)log_between(&g->random, 0, 40);
  slp_world_put_aggregate(g->w, g->stream, n, (uint32_t)between(&g->random, 0, g->plan->record_bytes));
}

static void run_put(void *arg) {
  play *g = arg;
  uint64_t now = slp_sim_now_us(g->w->sim);
  if (now >= g->end_us) return;
  put(g);
  slp_sim_at(g->w->sim, now + between(&g->random, 1, 2 * (uint64_t)g->plan->put_gap_us), run_put, g);
}

static void run_reshard(void *arg) {
  play *g = arg;
  slp_known_stream *s = g->stream;
  size_t a = slp_world_open_shard(g->w, s);
  if (a == SIZE_MAX || s->shards_n + 2 > SLP_SHARDS_MAX) return;
  if (heads(&g->random)) {
    slp_world_split(g->w, s, a);
    return;
  }
  for (size_t b = 0; b < s->shards_n; b++) {
    if (s->shards[b].closed || s->shards[b].hash_low != s->shards[a].hash_high + 1) continue;
    slp_world_merge(g->w, s, a, b);
    return;
  }
}

static void run_pause(void *arg) {
  play *g = arg;
  if (!g->u.s || g->u.judged->close_called) return;
  if (one_in(&g->random, 3)) {
    slp_user_pause(&g->u, NULL);
    return;
  }
  if (g->u.judged->paused_all) return;
  slp_user_pause(&g->u, g->stream->shards[between(&g->random, 0, g->stream->shards_n - 1)].id);
}
static void run_resume(void *arg) {
  play *g = arg;
  if (g->u.s && !g->u.judged->close_called) slp_user_resume(&g->u, NULL);
}
static void run_freeze(void *arg) {
  play *g = arg;
  if (g->u.host) slp_sim_freeze(g->u.host, log_between(&g->random, 10000, 400000000));
}
static void run_jump(void *arg) {
  play *g = arg;
  if (g->u.host) slp_sim_wall_jump(g->u.host, (int64_t)between(&g->random, 0, 8000000000) - 4000000000);
}
static void run_trim(void *arg) {
  play *g = arg;
  slp_world_trim(g->w, g->stream, slp_world_ms(g->w) - (int64_t)between(&g->random, 0, 20000));
}
static void run_close(void *arg) {
  play *g = arg;
  if (g->u.s && !g->u.judged->close_called) slp_user_close(&g->u);
}
static void run_save(void *arg) {
  play *g = arg;
  if (g->u.s && !g->u.judged->close_called) slp_user_save(&g->u);
}

static void run_revive(void *arg) {
  play *g = arg;
  if (g->u.closed) {
    slp_user_revive(&g->u);
    g->killed = 0;
  } else {
    slp_sim_at(g->w->sim, slp_sim_now_us(g->w->sim) + 1000, run_revive, g);
  }
}
/* Gone without a word, whatever it was doing; somebody starts it again from the last token. */
static void run_kill(void *arg) {
  play *g = arg;
  if (!g->u.s || g->u.judged->close_called || !g->u.token || g->u.judged->failed) return;
  g->killed = 1;
  slp_user_close(&g->u);
  slp_sim_at(g->w->sim, slp_sim_now_us(g->w->sim) + log_between(&g->random, 1, 3000000), run_revive, g);
}

/* Stopped in the middle, perhaps before all batches are back, and started again from where it says it is. */
static void run_stop_over(void *arg) {
  play *g = arg;
  if (g->u.judged->close_called) return;
  if (!g->u.stop_told) {
    slp_sim_at(g->w->sim, slp_sim_now_us(g->w->sim) + 1000, run_stop_over, g);
  } else if (slp_user_save(&g->u) || g->u.token) {
    g->killed = 1;
    slp_user_close(&g->u);
    run_revive(g);
  }
}
static void run_stop(void *arg) {
  play *g = arg;
  if (!g->u.s || g->u.judged->close_called || g->u.judged->failed || g->u.judged->stop_pending) return;
  if (!slp_user_save(&g->u)) return; /* nothing is known yet */
  slp_user_stop(&g->u, one_in(&g->random, 4) ? 0 : log_between(&g->random, 1, 5000));
  if (g->u.judged->stop_pending) run_stop_over(g);
}

static void run_move(void *arg) {
  play *g = arg;
  static const sloop_position_kind_t kinds[] = {SLOOP_OLDEST, SLOOP_LATEST,   SLOOP_AT_TIME,
                                                SLOOP_AT_SEQ, SLOOP_AT_TOKEN, SLOOP_AT_TOKEN};
  sloop_position_t to = {.kind = kinds[between(&g->random, 0, SLP_COUNT(kinds) - 1)]};
  const slp_known_shard *k = &g->stream->shards[between(&g->random, 0, g->stream->shards_n - 1)];
  if (!g->u.s || g->u.judged->close_called || g->u.judged->failed) return;
  if (to.kind == SLOOP_AT_TOKEN && !g->u.token) return;
  if (to.kind == SLOOP_AT_TIME) to.at_ms = slp_world_ms(g->w) - (int64_t)between(&g->random, 0, 30000);
  if (to.kind == SLOOP_AT_SEQ && !k->notes_n) return;
  if (to.kind == SLOOP_AT_SEQ) {
    to.shard = k->id;
    to.seq = k->notes[between(&g->random, 0, k->notes_n - 1)].seq;
  }
  (void)slp_user_move(&g->u, &to);
}
static void run_down(void *arg) { ((play *)arg)->w->down = 1; }
static void run_up(void *arg) { ((play *)arg)->w->down = 0; }

static void set_fault(play *g, const char *line) {
  g->u.oracle->lags_lie |= strstr(line, "behind") != NULL;
  slp_sim_trace(g->w->sim, "fault %s", line);
  slp_world_faults(g->w, line);
}

static void run_script(void *arg) {
  play *g = arg;
  static const char *const ops[] = {"GetRecords",       "GetRecords", "GetRecords",
                                    "GetShardIterator", "ListShards", "*"};
  static const char *const actions[] = {"throttle",
                                        "expired",
                                        "status 500",
                                        "html",
                                        "drop",
                                        "delay 2500",
                                        "cut 90",
                                        "cut 200",
                                        "cut 999",
                                        "empty-object",
                                        "no-next",
                                        "no-children",
                                        "empty",
                                        "repeat",
                                        "trailing",
                                        "cbor-cut",
                                        "json-for-cbor",
                                        "children-with-next",
                                        "children-without-parents",
                                        "behind 5000",
                                        "gzip",
                                        "error ResourceNotFoundException:400",
                                        "error InternalFailure:500",
                                        "error ExpiredTokenException:400",
                                        "error LimitExceededException:400"};
  char line[160], shard[24] = "*";
  const char *op = ops[between(&g->random, 0, SLP_COUNT(ops) - 1)];
  const char *action = actions[between(&g->random, 0, SLP_COUNT(actions) - 1)];
  if (heads(&g->random))
    snprintf(shard, sizeof shard, "%zu", (size_t)between(&g->random, 0, g->stream->shards_n - 1));
  /* At first contact a missing stream is fatal, as it should be. */
  if (strstr(action, "NotFound") || strstr(action, "Token")) op = "GetRecords";
  uint32_t times = (uint32_t)log_between(&g->random, 1, 60);
  /* Told again and again that a closed shard has nothing more, anyone must believe it. */
  if (strcmp(action, "no-next") == 0) times = 1;
  snprintf(line, sizeof line, "%u %s %s %s\n", times, op, shard, action);
  set_fault(g, line);
}

/* Before the first record is read, an iterator expires, a page is empty though there are records, and a
 * listing breaks off. */
static void run_early(void *arg) {
  play *g = arg;
  static const char *const lines[] = {"1 GetRecords * expired",     "2 GetRecords * empty",
                                      "1 GetRecords * behind 5000", "1 ListShards * expired",
                                      "1 GetRecords * throttle",    "1 GetShardIterator * drop"};
  char line[64];
  snprintf(line, sizeof line, "%s\n", lines[between(&g->random, 0, SLP_COUNT(lines) - 1)]);
  set_fault(g, line);
}

static void schedule(play *g, uint32_t n, void (*fn)(void *arg), void (*undo)(void *arg)) {
  uint64_t now = slp_sim_now_us(g->w->sim), phase = g->end_us - now;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t at = now + between(&g->random, 0, phase);
    slp_sim_at(g->w->sim, at, fn, g);
    if (undo) slp_sim_at(g->w->sim, at + between(&g->random, 1, phase), undo, g);
  }
}

/* Saved and killed while what is older than the start is passed over: soon after each beginning. */
static void schedule_passing(play *g) {
  uint64_t now = slp_sim_now_us(g->w->sim);
  for (int i = 0; i < 20; i++) {
    uint64_t at = now + log_between(&g->random, 1000, 20000000);
    slp_sim_at(g->w->sim, at, run_save, g);
    if (i % 5 == 0) slp_sim_at(g->w->sim, at + 1, run_kill, g);
  }
}

static void set_options(play *g) {
  const sloop_opts_t *from = &g->plan->opts;
  sloop_opts_t *to = &g->u.opts;
  to->start = from->start;
  to->order = from->order;
  to->wire = from->wire;
  to->order_wait_ms = from->order_wait_ms;
  to->poll_ms = from->poll_ms;
  to->fetch_records_max = from->fetch_records_max;
  to->buffered_bytes_max = from->buffered_bytes_max;
  to->batches_out_max = from->batches_out_max;
  to->batch_records_max = from->batch_records_max;
  to->batch_bytes_max = from->batch_bytes_max;
  to->in_flight_max = from->in_flight_max;
  to->list_ms = from->list_ms;
  to->stats_ms = from->stats_ms;
  to->on_retry = from->on_retry;
  to->retry_max = from->retry_max;
  /* No reading depends on it. */
  to->unready_ms = 1000 + (uint32_t)(g->plan->seed * UINT64_C(0x9e3779b97f4a7c15) % 40000);
  /* Where nobody on the way can have set it, the service's time is believed. */
  if (g->plan->box.access_key) to->endpoint = "http://127.0.0.1:80";
  g->u.manners = g->plan->manners;
  g->u.creds_later = g->plan->creds_later;
  g->u.timeless = g->u.oracle->whole_seconds = g->plan->timeless;
}

/* After each event; what is broken is found at the end. */
static int looks(void *arg) {
  slp_truth_look(&((play *)arg)->u);
  return 0;
}

static void first_phase(play *g) {
  const slp_plan *p = g->plan;
  for (uint32_t i = 0; i < p->backlog; i++) {
    put(g);
    if (p->backlog_gap_us) slp_sim_run(g->w->sim, slp_sim_now_us(g->w->sim) + p->backlog_gap_us, NULL, NULL);
    if (i == p->backlog / 2) g->u.opts.start.at_ms = slp_world_ms(g->w);
    if (i == p->backlog / 3 && p->reshards > 2) run_reshard(g);
  }
  if (!p->backlog) g->u.opts.start.at_ms = slp_world_ms(g->w);
  *slp_sim_network(g->w->sim) = p->net;
  g->end_us = slp_sim_now_us(g->w->sim) + (uint64_t)p->phase_ms * 1000;
  slp_user_start(&g->u);
  if (p->put_gap_us) run_put(g);
  schedule(g, p->reshards, run_reshard, NULL);
  schedule(g, p->scripts, run_script, NULL);
  for (uint32_t i = 0; i < p->early; i++)
    slp_sim_at(g->w->sim, slp_sim_now_us(g->w->sim) + log_between(&g->random, 1000, 8000000), run_early, g);
  schedule(g, p->pauses, run_pause, run_resume);
  schedule(g, p->freezes, run_freeze, NULL);
  schedule(g, p->jumps, run_jump, NULL);
  schedule(g, p->downs, run_down, run_up);
  schedule(g, p->trims, run_trim, NULL);
  schedule(g, p->saves, run_save, NULL);
  if (!p->close_early) schedule(g, p->kills, run_kill, NULL);
  if (p->timeless) schedule_passing(g);
  schedule(g, p->moves, run_move, NULL);
  if (!p->close_early) schedule(g, p->stops, run_stop, NULL);
  schedule(g, p->close_early, run_close, NULL);
  slp_sim_run(g->w->sim, g->end_us, looks, g);
  if (p->list_too && g->u.s && !g->u.judged->close_called) slp_user_list(&g->u);
}

static int stop_told(void *arg) { return ((slp_user *)arg)->stop_told; }

static int is_named(const play *g, size_t shard) {
  return strstr(g->u.token, g->stream->shards[shard].id) != NULL;
}

/* Opened with a token that says nothing of what is still kept, neither of a shard nor of its parent: refused,
 * as nobody can tell from where to go on. */
static int is_forgotten(const play *g) {
  if (!g->u.judged->failed || g->u.judged->last_error != SLOOP_ETOKEN || !g->plan->trims) return 0;
  for (size_t i = 0; i < g->stream->shards_n; i++) {
    const slp_known_shard *k = &g->stream->shards[i];
    if (k->gone) continue;
    if (is_named(g, i)) return 0;
    for (int p = 0; p < 2; p++)
      if (k->parents[p] >= 0 && is_named(g, (size_t)k->parents[p])) return 0;
  }
  return 1;
}

/* Of a shard that was given up the page stays where what is acknowledged ends: its record, and bits of its records,
 * without its bytes. */
static uint64_t remembered_bytes_max(const slp_user *u) {
  uint64_t n = 0;
  for (size_t i = 0; i < u->judged->stream->shards_n; i++) n += u->judged->shards[i].stopped;
  return n * 3000;
}

/* Faults stop; then everything accepted must be read, and the consumer must come to rest. */
static void second_phase(play *g) {
  slp_sim *sim = g->w->sim;
  slp_sim_net *n = slp_sim_network(sim);
  slp_sim_run(sim, slp_sim_now_us(sim) + (uint64_t)g->plan->phase_ms * 1000, looks,
              g); /* late resumes, ups */
  slp_world_faults(g->w, NULL);
  g->w->down = 0;
  n->refuse_ppm = n->reset_ppm = n->silent_ppm = n->cut_ppm = n->clip_ppm = n->slow_ppm = 0;
  g->u.manners.give_back_ppm = 0;
  slp_sim_thaw(g->u.host);
  if (g->u.judged->failed && g->plan->kills) {
    /* Opened again in the middle of the trouble, it may have found nobody, or nothing kept, at first contact.
     */
    if (is_forgotten(g)) return;
    slp_user_reopen(&g->u);
  }
  if (g->u.s) slp_user_resume(&g->u, NULL);
  /* The longest back-off, an answer that never comes, a freeze; and time to read it all. */
  slp_sim_run(sim, slp_sim_now_us(sim) + UINT64_C(90000000), looks, g);
  if (is_forgotten(g)) return;
  uint64_t limit_ms = 120000 + (g->plan->freezes ? 1000000 : 0) + g->w->records_put * 60;
  /* From the oldest record on, a few with each call. */
  if (g->plan->timeless) limit_ms += g->w->records_put * 300 / g->plan->opts.fetch_records_max;
  if (g->plan->manners.hold_us_max) limit_ms += g->w->records_put * (g->plan->manners.hold_us_max / 1000 + 1);
  if (g->plan->close_early) {
    if (!g->u.closed) slp_oracle_bad(g->u.oracle, "P2 closed: closed early and never told");
    return;
  }
  if (!slp_user_catch_up(&g->u, limit_ms) && !g->u.oracle->bad[0]) {
    char why[200] = "";
    slp_oracle_all_read(g->u.judged, why, sizeof why);
    slp_oracle_bad(g->u.oracle, "L1 all read: not all was read after the faults stopped: %s", why);
  }
  if (!g->u.oracle->bad[0]) slp_sim_run(sim, slp_sim_now_us(sim) + UINT64_C(30000000), looks, g);
  slp_truth_rest(&g->u);
  if (!g->plan->stop_first || !g->u.s || g->u.oracle->bad[0]) return;
  slp_user_stop(&g->u, 10000);
  if (!slp_user_wait(&g->u, 11000, stop_told, &g->u))
    slp_oracle_bad(g->u.oracle, "P8 stopped: stop was never told");
  sloop_stats_t st = slp_user_stats(&g->u);
  if (g->u.stop_status == 0 && st.buffered_bytes_now > remembered_bytes_max(&g->u))
    slp_oracle_bad(g->u.oracle, "S11 bounds: stopped, nothing is out, and %" PRIu64 " bytes are held",
                   st.buffered_bytes_now);
}

static void check_timeless(play *g) {
  for (size_t i = 0; i < g->stream->shards_n; i++)
    if (g->plan->timeless && g->stream->shards[i].time_locates)
      slp_oracle_bad(g->u.oracle, "S12 contract: %s: asked for a time that nobody can find",
                     g->stream->shards[i].id);
}

static void check_quiet(play *g) {
  slp_sim_host_stats st = slp_sim_stats(g->u.host);
  uint64_t seconds = slp_sim_now_us(g->w->sim) / 1000000 + 1;
  uint64_t most = 10000 + seconds * 60 * g->stream->shards_n + g->w->records_put * 20 + g->w->calls * 20;
  if (st.turns > most)
    slp_oracle_bad(g->u.oracle, "S10 rate: %" PRIu64 " turns in %" PRIu64 " s: more than %" PRIu64, st.turns,
                   seconds, most);
}

void slp_plan_drive(const slp_plan *p, slp_verdict *ret, void (*on_trace)(void *arg, const char *line),
                    void *arg) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  play g = {.plan = p, .random = p->seed ^ UINT64_C(0x5bd1e995)};
  memset(ret, 0, sizeof *ret);
  g.w = slp_world_new(mem, p->seed, &p->box);
  if (on_trace) slp_sim_on_trace(g.w->sim, on_trace, arg);
  g.stream = slp_world_stream(g.w, "orders", p->shards);
  slp_user_init_clock(&g.u, g.w, g.stream, &p->clock);
  slp_typed *typed = p->typed ? slp_typed_new(g.w) : NULL;
  slp_outside outside = {0};
  if (typed) {
    outside = slp_typed_outside(typed, g.u.host);
    g.u.outside = &outside;
  }
  set_options(&g);
  g.u.oracle->losses_expected = g.u.oracle->silent_trims = p->trims > 0;
  g.u.oracle->stops_expected = p->opts.on_retry == SLOOP_RETRY_STOP;
  g.u.oracle->late_forbidden = (uint8_t)is_calm(p);
  g.u.oracle->keys_good = p->box.access_key != NULL;
  first_phase(&g);
  second_phase(&g);
  check_quiet(&g);
  check_timeless(&g);
  ret->virtual_ms = slp_sim_now_us(g.w->sim) / 1000;
  slp_user_finish(&g.u);
  g.end_us = 0;
  slp_user_leave(&g.u);
  slp_sim_run(g.w->sim, slp_sim_now_us(g.w->sim) + UINT64_C(1000000000), NULL, NULL);
  if (g.u.mem->live_blocks)
    slp_oracle_bad(g.u.oracle, "P10 memory: %zu blocks of memory never came back", g.u.mem->live_blocks);
  snprintf(ret->bad, sizeof ret->bad, "%s", g.u.oracle->bad);
  ret->trace_hash = slp_sim_trace_hash(g.w->sim);
  ret->events = slp_sim_events(g.w->sim);
  ret->records = g.u.judged->records;
  ret->again = g.u.judged->again;
  ret->late = g.u.judged->late;
  ret->errors = g.u.judged->errors;
  ret->ended = g.u.judged->ended;
  ret->calls = g.w->calls;
  if (ret->bad[0]) return; /* what is left of a broken run is not worth taking apart */
  slp_user_free(&g.u);
  if (typed) slp_typed_free(typed);
  slp_world_free(g.w);
  if (mem->live_blocks)
    snprintf(ret->bad, sizeof ret->bad, "the simulator itself leaks %zu blocks", mem->live_blocks);
  slp_mem_drop(mem);
}
