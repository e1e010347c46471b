/* fleet_world.c - see fleet_world.h: the truth about the stream, the readers, and the judge. */
#include "story/fleet_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/u128.h"
#include "lease/fleet_inside.h"
#include "store/memory.h"
#include "guest/guest_schemas.h"
#include "store/schema_sloop.h"
#include "guest/multi_table.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/lease.h"
#include "lease/members.h"

#define TICK_US 40000
#define TIMERS 2
#define BATCH 5
#define PREFIX "s@1/"

uint64_t fw_now(const fw_world *w) { return slp_sim_now_us(w->sim); }

void fw_wrong(fw_world *w, const char *fmt, ...) {
  if (w->complaint[0]) return;
  char text[220];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  snprintf(w->complaint, sizeof w->complaint, "at %.3f s: %s", (double)fw_now(w) / 1e6, text);
  slp_sim_trace(w->sim, "WRONG: %s", w->complaint);
}

static slp_str str(const char *z) { return slp_str_of(z); }

static int shard_no(fw_world *w, slp_str id) {
  for (int i = 0; i < w->shards_n; i++)
    if (slp_str_is(id, w->shards[i].id)) return i;
  return -1;
}

/* ---- the stream -------------------------------------------------------------------------------- */

static fw_shard *born(fw_world *w, uint64_t from, uint64_t to, int parent, int other) {
  if (w->shards_n == FW_SHARDS) return NULL;
  fw_shard *s = &w->shards[w->shards_n++];
  memset(s, 0, sizeof *s);
  snprintf(s->id, sizeof s->id, "shardId-%012d", w->born_n++);
  s->parents[0] = parent;
  s->parents[1] = other;
  s->hash_from = from;
  s->hash_to = to;
  s->unread_us = fw_now(w);
  return s;
}

static void close_shard(fw_world *w, int i, fw_shard *kid) {
  w->shards[i].closed = 1;
  w->shards[i].kids[w->shards[i].kids_n++] = (int)(kid - w->shards);
}

fw_shard *fw_split(fw_world *w, int i) {
  fw_shard *s = &w->shards[i];
  uint64_t mid = (s->hash_from + s->hash_to) / 2;
  if (s->closed || w->shards_n + 2 > FW_SHARDS || s->hash_to - s->hash_from < 2) return NULL;
  fw_shard *a = born(w, s->hash_from, mid, i, -1), *b = born(w, mid, s->hash_to, i, -1);
  close_shard(w, i, a);
  close_shard(w, i, b);
  return a;
}

fw_shard *fw_merge(fw_world *w, int i, int k) {
  fw_shard *a = &w->shards[i], *b = &w->shards[k];
  if (a->closed || b->closed || a->hash_to != b->hash_from || w->shards_n + 1 > FW_SHARDS) return NULL;
  fw_shard *kid = born(w, a->hash_from, b->hash_to, i, k);
  close_shard(w, i, kid);
  close_shard(w, k, kid);
  return kid;
}

void fw_produce(fw_world *w, int i, uint64_t n) {
  if (!w->shards[i].closed) w->shards[i].records += n;
}

static void ring_text(uint64_t part, int end, char out[48]) {
  /* part 64ths of 2^128, as decimal */
  slp_u128 v = part >= 64 ? SLP_U128_MAX : (slp_u128){part << 58, 0};
  if (end && part < 64) v = slp_u128_sub(v, SLP_U128(1));
  slp_u128_text(v, out);
}

typedef struct desc_text {
  char from[48], to[48];
} desc_text;

static slp_shard_desc describe(fw_world *w, int i, desc_text *t) {
  fw_shard *s = &w->shards[i];
  slp_shard_desc d = {.id = str(s->id), .seq_start = SLP_STR("1")};
  ring_text(s->hash_from, 0, t->from);
  ring_text(s->hash_to, 1, t->to);
  if (s->parents[0] >= 0) d.parent = str(w->shards[s->parents[0]].id);
  if (s->parents[1] >= 0) d.adjacent_parent = str(w->shards[s->parents[1]].id);
  d.hash_start = str(t->from);
  d.hash_end = str(t->to);
  if (s->closed) d.seq_end = SLP_STR("9");
  return d;
}

/* ---- the reader of a node ---------------------------------------------------------------------- */

static fw_node *node_of(slp_processor *t) { return SLP_OWNER(t, fw_node, processor); }

static struct fw_open *open_of(fw_node *n, slp_str shard) {
  for (int i = 0; i < n->open_n; i++)
    if (slp_str_is(shard, n->w->shards[n->open[i].shard].id)) return &n->open[i];
  return NULL;
}

static uint64_t number(const slp_position *s) {
  uint64_t v = 0;
  if (s->kind == SLP_POSITION_AFTER || s->kind == SLP_POSITION_AT) slp_parse_u64(slp_mark_seq(&s->mark), &v);
  return s->kind == SLP_POSITION_AT && v ? v - 1 : v;
}

static const char *found(fw_world *w, const char *row, const char *attr, char *out, size_t size);

static int parents_read(fw_world *w, const fw_shard *s) {
  for (int k = 0; k < 2; k++) {
    if (s->parents[k] < 0) continue;
    const fw_shard *p = &w->shards[s->parents[k]];
    if (p->acked < p->records) return 0;
  }
  return 1;
}

void fw_row_of(const fw_world *w, int shard, char out[64]) {
  snprintf(out, 64, "%s%s", w->kcl ? "" : "l/", w->shards[shard].id);
}

/* By the table: 1, it was evicted, or its row is another's or nobody's. */
static int is_evicted(const fw_node *n) {
  char row[64], gone[128], incarnation[64];
  slp_str me = slp_fleet_instance(n->fleet);
  snprintf(row, sizeof row, "w/%s", n->id);
  found(n->w, row, "gone", gone, sizeof gone);
  found(n->w, row, "boot", incarnation, sizeof incarnation);
  return gone[0] || strlen(incarnation) != 16 || me.n < 16 || memcmp(me.p + me.n - 16, incarnation, 16) != 0;
}

/* Another that reads it still was evicted before. In KCL's table it may be robbed, or late. */
static void look_for_others(fw_node *n, int shard) {
  fw_world *w = n->w;
  for (int i = 0; i < FW_NODES && !w->kcl; i++) {
    fw_node *other = w->nodes[i];
    if (!other || other == n || !open_of(other, str(w->shards[shard].id))) continue;
    if (!is_evicted(other) && !w->shards[shard].excused)
      fw_wrong(w, "S7 overlap: %s opens %s while %s reads it and is not evicted", n->id, w->shards[shard].id,
               other->id);
  }
}

static int t_open(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from) {
  fw_node *n = node_of(t);
  fw_world *w = n->w;
  int i = shard_no(w, shard);
  if (i < 0) {
    fw_wrong(w, "S12 contract: a shard is opened that there is not: %.*s", (int)shard.n, shard.p);
    return 0;
  }
  fw_shard *s = &w->shards[i];
  if (open_of(n, shard)) fw_wrong(w, "S12 contract: %s is opened twice by %s", s->id, n->id);
  /* In KCL's table: robbed while it waited for the parents, and does not know yet. */
  int robbed = w->kcl && epoch < s->epoch, anew = w->layout && w->layout->anew;
  if (epoch <= s->epoch && !s->excused && !robbed && !anew)
    fw_wrong(w, "S5 exclusive: %s opens %s in epoch %llu, which is not above %llu", n->id, s->id,
             (unsigned long long)epoch, (unsigned long long)s->epoch);
  if (!parents_read(w, s)) fw_wrong(w, "S4 lineage: %s opens %s before its parents were read", n->id, s->id);
  if (epoch > s->epoch) s->epoch = epoch;
  look_for_others(n, i);
  struct fw_open *o = &n->open[n->open_n++];
  memset(o, 0, sizeof *o);
  o->shard = i;
  o->epoch = epoch;
  o->open_us = slp_now_us(n->h);
  o->begin = *from;
  int has_number = from->kind == SLP_POSITION_AT || from->kind == SLP_POSITION_AFTER;
  o->refused = w->refuses[i] && has_number;
  w->refusals += o->refused;
  o->acked = number(from);
  o->next = o->acked + 1;
  uint64_t gap = fw_now(w) - s->unread_us;
  if (s->unread_us != UINT64_MAX && gap > s->gap_us) s->gap_us = gap;
  s->unread_us = UINT64_MAX;
  return 0;
}

static void close_open(fw_node *n, struct fw_open *o) {
  n->w->shards[o->shard].unread_us = fw_now(n->w);
  *o = n->open[--n->open_n];
}

static void t_drain(slp_processor *t, slp_str shard) {
  struct fw_open *o = open_of(node_of(t), shard);
  if (!o || o->draining) return;
  o->draining = 1;
  o->drain_us = slp_now_us(node_of(t)->h);
}

/* A worker that is told that it lost a lease has lost it: an answer that did not come proves nothing. */
static void judge_lost(fw_node *n, const struct fw_open *o) {
  fw_world *w = n->w;
  char row[64], owner[128], epoch[24], me[128];
  slp_str instance = slp_fleet_instance(n->fleet);
  snprintf(me, sizeof me, "%.*s", (int)instance.n, instance.p);
  fw_row_of(w, o->shard, row);
  found(w, row, w->layout ? w->layout->owner : "owner", owner, sizeof owner);
  found(w, row, "epoch", epoch, sizeof epoch);
  if (strcmp(owner, me) != 0 || w->shards[o->shard].excused) return;
  if (!w->kcl && (strtoull(epoch, NULL, 10) != o->epoch || is_evicted(n))) return;
  fw_wrong(w, "S12 contract: %s is told that it lost %s, which is its own", n->id, w->shards[o->shard].id);
}

static void t_revoke(slp_processor *t, slp_str shard, slp_shutdown_reason why) {
  fw_node *n = node_of(t);
  fw_world *w = n->w;
  struct fw_open *o = open_of(n, shard);
  if (!o) {
    fw_wrong(w, "S12 contract: %s revokes what it does not read", n->id);
    return;
  }
  slp_sim_trace(w->sim, "%s stops reading %.*s: %d", n->id, (int)shard.n, shard.p, (int)why);
  if (why == SLP_SHUTDOWN_LOST) judge_lost(n, o);
  uint64_t waited = slp_now_us(n->h) - o->drain_us;
  if (why == SLP_SHUTDOWN_EXPIRED && o->draining && !o->drained_told && !n->leaving &&
      waited < (uint64_t)w->handover_ms * 1000)
    fw_wrong(w, "S12 contract: %s gives %.*s up undrained before the time agreed", n->id, (int)shard.n,
             shard.p);
  if (why == SLP_SHUTDOWN_EXPIRED) w->expired++;
  if (why == SLP_SHUTDOWN_HANDED_OVER && o->out_n)
    fw_wrong(w, "S12 contract: %s hands over %.*s undrained", n->id, (int)shard.n, shard.p);
  close_open(n, o);
}

static void t_suspend(slp_processor *t, int on) { node_of(t)->suspended = (uint8_t)on; }

static void t_mark(slp_processor *t, slp_str shard, slp_position *ret) {
  fw_node *n = node_of(t);
  struct fw_open *o = open_of(n, shard);
  char seq[24];
  SLP_CHECK(o);
  const fw_shard *s = &n->w->shards[o->shard];
  *ret = o->begin;
  if (o->acked > number(&o->begin)) {
    ret->kind = SLP_POSITION_AFTER;
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)o->acked);
    slp_mark_set(&ret->mark, str(seq), UINT32_MAX, -1);
  }
  if (o->end_told && o->acked == s->records) ret->kind = SLP_POSITION_END;
}

static void t_list(slp_processor *t) {
  fw_node *n = node_of(t);
  n->listed_n = 0;
  slp_timer_set_reserved(n->h, &n->list_timer, slp_now_us(n->h) + 20000);
}

static void run_list(slp_timer *timer) {
  fw_node *n = SLP_OWNER(timer, fw_node, list_timer);
  fw_world *w = n->w;
  slp_shard_desc all[FW_SHARDS];
  desc_text texts[FW_SHARDS];
  size_t k = 0;
  slp_fail fine;
  slp_fail_clear(&fine);
  int listed = w->shards_n - w->unlisted;
  for (int j = 0; j < listed; j++) {
    int i = w->page_back ? listed - 1 - j : j;
    if (!w->shards[i].trimmed) {
      all[k] = describe(w, i, &texts[k]);
      k++;
    }
  }
  size_t page = (size_t)w->page_n;
  if (page && n->listed_n + page < k) {
    slp_fleet_listed_part(n->fleet, all + n->listed_n, page);
    n->listed_n += page;
    slp_timer_set_reserved(n->h, &n->list_timer, slp_now_us(n->h) + w->page_ms * UINT64_C(1000));
    return;
  }
  slp_fleet_listed(n->fleet, &fine, all, k);
}

static uint64_t t_bytes(slp_processor *t, slp_str shard) {
  const struct fw_open *o = open_of(node_of(t), shard);
  return o ? (slp_now_us(node_of(t)->h) - o->open_us) * 5120 / 1000000 : 0; /* 5 KB a second, whatever came */
}

static const slp_processor_ops processor_ops = {.open = t_open,
                                                .drain = t_drain,
                                                .revoke = t_revoke,
                                                .suspend = t_suspend,
                                                .mark = t_mark,
                                                .list = t_list,
                                                .bytes = t_bytes};

static void advance(fw_node *n, struct fw_open *o) {
  fw_world *w = n->w;
  fw_shard *s = &w->shards[o->shard];
  int moved = 0;
  for (int again = 1; again;) {
    again = 0;
    for (int i = 0; i < o->out_n; i++) {
      if (!o->out[i].acked || o->out[i].from != o->acked + 1) continue;
      o->acked = o->out[i].to;
      o->out[i] = o->out[--o->out_n];
      again = moved = 1;
      break;
    }
  }
  if (!moved) return;
  if (o->acked > s->acked) s->acked = o->acked;
  slp_fleet_progressed(n->fleet, str(s->id));
}

static void hand_out(fw_node *n, struct fw_open *o) {
  fw_world *w = n->w;
  fw_shard *s = &w->shards[o->shard];
  if (o->draining || o->out_n == 64 || o->next > s->records || n->blocked || o->refused) return;
  if (!slp_fleet_may_deliver(n->fleet)) return;
  if (!w->kcl && o->epoch < s->epoch && !s->excused)
    fw_wrong(w, "S7 overlap: %s hands out %s in epoch %llu beside epoch %llu", n->id, s->id,
             (unsigned long long)o->epoch, (unsigned long long)s->epoch);
  uint64_t from = o->next, to = slp_min_u64(s->records, from + BATCH - 1);
  if (from <= s->handed) s->repeats += slp_min_u64(s->handed, to) - from + 1;
  if (from > s->acked + 1 && from > s->handed + 1)
    fw_wrong(w, "S2 order: %s skips records of %s", n->id, s->id);
  if (to > s->handed) s->handed = to;
  o->out[o->out_n].from = from;
  o->out[o->out_n].to = to;
  o->out[o->out_n].acked = 0;
  o->out[o->out_n++].at_us =
      slp_now_us(n->h) + slp_sim_random_between(w->sim, w->user_us_min, w->user_us_max);
  o->next = to + 1;
}

static void end_shard(fw_node *n, struct fw_open *o) {
  fw_world *w = n->w;
  fw_shard *s = &w->shards[o->shard];
  slp_shard_desc kids[2];
  desc_text texts[2];
  if (!s->closed || o->refused || o->end_told || o->draining || o->next <= s->records || n->suspended) return;
  for (int k = 0; k < s->kids_n; k++) kids[k] = describe(w, s->kids[k], &texts[k]);
  o->end_told = 1;
  slp_fleet_ended(n->fleet, str(s->id), kids, (size_t)s->kids_n);
  slp_fleet_progressed(n->fleet, str(s->id));
}

static void run_tick(slp_timer *timer) {
  fw_node *n = SLP_OWNER(timer, fw_node, tick);
  uint64_t now = slp_now_us(n->h);
  slp_fleet_beat_first(n->fleet);
  for (int i = 0; i < n->open_n; i++) {
    struct fw_open *o = &n->open[i];
    for (int k = 0; k < o->out_n; k++)
      if (o->out[k].at_us <= now) o->out[k].acked = 1;
    advance(n, o);
    hand_out(n, o);
    end_shard(n, o);
    if (o->refused == 1) {
      o->refused = 2;
      slp_fleet_refused(n->fleet, str(n->w->shards[o->shard].id));
    }
    if (o->draining && !o->out_n && !o->drained_told) {
      o->drained_told = 1;
      slp_fleet_drained(n->fleet, str(n->w->shards[o->shard].id));
    }
  }
  slp_timer_set_reserved(n->h, &n->tick, now + TICK_US);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* The user hears in turn that a lease was taken and that it is gone. */
static void judge_told(fw_node *n, const slp_fleet_event *ev) {
  int i = shard_no(n->w, ev->shard), taken = ev->kind == SLP_FLEET_TAKEN;
  if (!taken && ev->kind != SLP_FLEET_LOST && ev->kind != SLP_FLEET_RELEASED &&
      ev->kind != SLP_FLEET_ENDED_SHARD)
    return;
  if (i < 0 || n->told[i] == taken)
    fw_wrong(n->w, "S12 contract: %s is told that %.*s %s, and was told so before", n->id, (int)ev->shard.n,
             ev->shard.p, taken ? "was taken" : "is gone");
  else
    n->told[i] = (uint8_t)taken;
}

static void on_event(void *arg, const slp_fleet_event *ev) {
  fw_node *n = arg;
  fw_world *w = n->w;
  static const char *const names[] = {
      [SLP_FLEET_JOINED] = "joined",
      [SLP_FLEET_EVICTED] = "evicted",
      [SLP_FLEET_SUSPENDED] = "suspended",
      [SLP_FLEET_RESUMED] = "resumed",
      [SLP_FLEET_TAKEN] = "taken",
      [SLP_FLEET_LOST] = "lost",
      [SLP_FLEET_RELEASED] = "released",
      [SLP_FLEET_ENDED_SHARD] = "ended",
      [SLP_FLEET_LEADS] = "leads",
      [SLP_FLEET_FOLLOWS] = "follows",
      [SLP_FLEET_EVICTED_OTHER] = "evicted_other",
      [SLP_FLEET_HOLE] = "hole",
      [SLP_FLEET_BAD_ROW] = "bad row",
      [SLP_FLEET_TROUBLE] = "trouble",
      [SLP_FLEET_DRAINED] = "drained",
      [SLP_FLEET_UNDRAINED] = "undrained",
      [SLP_FLEET_FAILED] = "failed",
      [SLP_FLEET_LEFT] = "left",
  };
  slp_sim_trace(w->sim, "%s %s %.*s %llu: %.*s", n->id, names[ev->kind], (int)ev->shard.n,
                ev->shard.p ? ev->shard.p : "", (unsigned long long)ev->epoch, (int)ev->text.n, ev->text.p);
  judge_told(n, ev);
  switch (ev->kind) {
    case SLP_FLEET_JOINED: n->joined = 1; break;
    case SLP_FLEET_EVICTED: w->evictions++; break;
    case SLP_FLEET_EVICTED_OTHER: w->evicted++; break;
    case SLP_FLEET_LEADS: w->leads++, n->leads = 1; break;
    case SLP_FLEET_FOLLOWS: n->leads = 0; break;
    case SLP_FLEET_LOST: w->lost++; break;
    case SLP_FLEET_RELEASED: w->released++; break;
    case SLP_FLEET_FAILED:
      w->failed++, n->failed = 1;
      snprintf(w->told, sizeof w->told, "%.*s", (int)ev->text.n, ev->text.p);
      break;
    case SLP_FLEET_LEFT: w->left++, n->left = 1; break;
    case SLP_FLEET_HOLE: w->holes++; break;
    case SLP_FLEET_BAD_ROW: w->bad_rows++; break;
    case SLP_FLEET_TROUBLE:
      w->trouble++;
      if (!n->throttled_us && memmem(ev->text.p, ev->text.n, "the lease table throttles", 25))
        n->throttled_us = fw_now(w);
      break;
    default: break;
  }
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static slp_schema *open_kcl(slp_mem *mem) { return slp_schema_kcl(mem, (slp_str){"", 0}, -1); }
static slp_schema *open_kcl_beside(slp_mem *mem) {
  slp_schema *s = open_kcl(mem);
  if (s) SLP_CHECK(slp_schema_kcl_beside(s, "app-CoordinatorState", "app-WorkerMetricStats") == 0);
  return s;
}
static slp_schema *open_vmware(slp_mem *mem) {
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  return slp_schema_vmware(mem, &oldest);
}
static slp_schema *open_kinsumer(slp_mem *mem) { return slp_schema_kinsumer(mem, "app", 5000); }
static slp_schema *open_motorway(slp_mem *mem) {
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  return slp_schema_motorway(mem, &oldest);
}
static slp_schema *open_kcl_rb(slp_mem *mem) { return slp_schema_kcl_rb(mem); }
const fw_layout fw_layout_kcl = {"leaseOwner", open_kcl, 0, 0};
const fw_layout fw_layout_kcl_beside = {"leaseOwner", open_kcl_beside, 0, 0};
const fw_layout fw_layout_vmware = {"AssignedTo", open_vmware, 1, 0};
const fw_layout fw_layout_kinsumer = {"OwnerID", open_kinsumer, 1, 0};
const fw_layout fw_layout_motorway = {"worker_id", open_motorway, 0, 1};
const fw_layout fw_layout_kcl_rb = {"sloop_owner", open_kcl_rb, 0, 1};

static void spread(slp_schema *own, uint32_t leases_a_key) {
  if (leases_a_key == FW_BY_HASH)
    slp_schema_sloop_spreads_by_hash(own);
  else if (leases_a_key)
    slp_schema_sloop_spreads(own, leases_a_key);
}

static slp_schema *schema_of(slp_mem *mem, const fw_layout *layout, uint32_t leases_a_key) {
  if (layout) return layout->open(mem);
  slp_schema *own = slp_schema_sloop(mem, SLP_STR("app"), SLP_STR("s"), SLP_STR("1"));
  spread(own, leases_a_key);
  return own;
}

fw_node *fw_start(fw_world *w, int slot, const char *id, int32_t drift_ppm) {
  SLP_CHECK(!w->nodes[slot]);
  fw_node *n = SLP_NEW(w->mem, fw_node);
  slp_sim_clock clock = {(int64_t)slp_sim_random_below(w->sim, 2 * w->skew_ms) - w->skew_ms,
                         1000000 + slp_sim_random_below(w->sim, 1u << 30), drift_ppm};
  SLP_CHECK(n);
  n->w = w;
  n->slot = slot;
  snprintf(n->id, sizeof n->id, "%s", id);
  n->mem = slp_mem_new(w->node_alloc, w->node_ctx);
  n->h = slp_sim_host_new(w->sim, n->mem, &clock);
  n->store = fw_store_new(n);
  n->schema = schema_of(n->mem, w->layout, w->leases_a_key);
  n->processor.ops = &processor_ops;
  n->tick.at_us = n->list_timer.at_us = UINT64_MAX;
  n->tick.run = run_tick;
  SLP_CHECK(slp_host_reserve_timers(n->h, TIMERS) == 0); /* the program reads on without memory too */
  n->list_timer.run = run_list;
  slp_fleet_opts o = {.host = n->h,
                      .store = n->store,
                      .schema = n->schema,
                      .processor = &n->processor,
                      .worker = str(n->id),
                      .start = w->start,
                      .lease_ms = w->lease_ms,
                      .handover_ms = w->handover_ms,
                      .list_ms = w->list_ms,
                      .checkpoint_ms = w->checkpoint_ms,
                      .on_event = on_event,
                      .arg = n};
  SLP_CHECK(slp_fleet_new(&n->fleet, n->mem, &o) == 0);
  w->nodes[slot] = n;
  slp_timer_set_reserved(n->h, &n->tick, slp_now_us(n->h) + 1);
  slp_fleet_start(n->fleet);
  slp_sim_trace(w->sim, "%s starts in slot %d", n->id, slot);
  return n;
}

static void closed(slp_host *h, void *arg) {
  (void)h;
  fw_node *n = arg;
  slp_mem *mem = n->mem;
  slp_free(n->w->mem, n);
  slp_mem_drop(mem);
}

static void bury(fw_world *w, int slot) {
  fw_node *n = w->nodes[slot];
  w->nodes[slot] = NULL;
  while (n->open_n) close_open(n, &n->open[0]);
  slp_fleet_free(n->fleet);
  n->store->ops->close(n->store);
  n->schema->free(n->schema);
  slp_timer_clear(n->h, &n->tick);
  slp_timer_clear(n->h, &n->list_timer);
  slp_host_unreserve_timers(n->h, TIMERS);
  slp_sim_thaw(n->h);
  slp_host_close(n->h, closed, n);
}

void fw_kill(fw_world *w, int slot) {
  if (!w->nodes[slot]) return;
  slp_sim_trace(w->sim, "%s is killed", w->nodes[slot]->id);
  bury(w, slot);
}

void fw_leave(fw_world *w, int slot, uint32_t ms) {
  if (!w->nodes[slot]) return;
  w->nodes[slot]->leaving = 1;
  slp_fleet_leave(w->nodes[slot]->fleet, ms);
}

void fw_reap(fw_world *w) {
  for (int i = 0; i < FW_NODES; i++) {
    fw_node *n = w->nodes[i];
    if (!n || !(n->left || n->failed)) continue;
    if (n->open_n) fw_wrong(w, "P8 stopped: %s has left and reads on", n->id);
    bury(w, i);
  }
}

int fw_live(const fw_world *w) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++) n += w->nodes[i] && !w->nodes[i]->left && !w->nodes[i]->failed;
  return n;
}

/* ---- the table, seen from above ---------------------------------------------------------------- */

static void nothing(slp_store_req *rq) { (void)rq; }

static int is_there(fw_world *w, const slp_row_key *key) {
  slp_store_get g = {.rq.on_done = nothing, .keys = key, .keys_n = 1};
  slp_store_rows_init(&g.out, w->mem);
  w->server_store->ops->get(w->server_store, &g);
  slp_unpost(&g.rq.ev);
  g.rq.ev.run(&g.rq.ev);
  int there = g.out.n > 0;
  slp_store_rows_free(&g.out);
  return there;
}

/* A lease may lie under any key: it is looked for under all, the first one last. Stories ask this after each
 * event, so each key's text is made once. */
static slp_row_key key_of(fw_world *w, const char *row, char name[200]) {
  static char hashes[SLP_SPREAD_KEYS_MAX][16];
  slp_row_key key = {SLP_STR("app"), {NULL, 0}};
  int spread_lease = w->leases_a_key && strncmp(row, "l/", 2) == 0;
  if (spread_lease) {
    snprintf(name, 200, PREFIX "s/%s", row + 2);
    key.range = str(name);
  }
  for (unsigned n = SLP_SPREAD_KEYS_MAX; n-- > 1 && spread_lease;) {
    if (!hashes[n][0]) snprintf(hashes[n], sizeof hashes[n], "app+%u", n);
    key.hash = str(hashes[n]);
    if (is_there(w, &key)) return key;
  }
  snprintf(name, 200, "%s%s", w->kcl ? "" : PREFIX, row);
  return w->kcl ? (slp_row_key){str(name), {NULL, 0}} : (slp_row_key){SLP_STR("app"), str(name)};
}

static int shard_of_row(fw_world *w, const char *row) {
  if (w->kcl) return shard_no(w, str(row));
  return strncmp(row, "l/", 2) == 0 ? shard_no(w, str(row + 2)) : -1;
}

/* The table's own host is asked, and answers within the same moment. */
static const char *found(fw_world *w, const char *row, const char *attr, char *out, size_t size) {
  static slp_store_get g; /* one at a time */
  char name[200];
  slp_row_key key = key_of(w, row, name);
  memset(&g, 0, sizeof g);
  slp_store_rows_init(&g.out, w->mem);
  g.rq.on_done = nothing;
  g.keys = &key;
  g.keys_n = 1;
  w->server_store->ops->get(w->server_store, &g);
  slp_unpost(&g.rq.ev);
  g.rq.ev.run(&g.rq.ev);
  slp_str v = g.out.n ? slp_row_text(&g.out.rows[0], str(attr)) : (slp_str){NULL, 0};
  snprintf(out, size, "%.*s", (int)v.n, v.p ? v.p : "");
  slp_store_rows_free(&g.out);
  return out;
}

const char *fw_row(fw_world *w, const char *row, const char *attr) {
  static char out[256];
  return found(w, row, attr, out, sizeof out);
}

static void list_now(fw_world *w, slp_store_list *l) {
  w->server_store->ops->list(w->server_store, l);
  slp_unpost(&l->rq.ev);
  l->rq.ev.run(&l->rq.ev);
}

size_t fw_rows_n(fw_world *w, uint8_t table, const char *hash) {
  slp_store_list l = {.rq = {.on_done = nothing, .table = table}, .hash = str(hash), .prefix = {"", 0}};
  slp_store_rows_init(&l.out, w->mem);
  list_now(w, &l);
  size_t n = l.out.n;
  slp_store_rows_free(&l.out);
  return n;
}

static void all_rows(fw_world *w, slp_store_list *l) {
  memset(l, 0, sizeof *l);
  slp_store_rows_init(&l->out, w->mem);
  l->rq.on_done = nothing;
  w->schema->scope(w->schema, &l->hash, &l->prefix);
  list_now(w, l);
  if (!w->leases_a_key) return;
  spread(w->schema, w->leases_a_key);
  w->schema->spread = slp_spread_of_rows(w->schema, &l->out);
  for (unsigned n = 1; n < SLP_SPREAD_KEYS_MAX; n++) {
    char hash[16];
    snprintf(hash, sizeof hash, "app+%u", n);
    slp_store_list more = {.rq.on_done = nothing, .hash = str(hash), .prefix = SLP_STR(PREFIX)};
    slp_store_rows_init(&more.out, w->mem);
    list_now(w, &more);
    SLP_CHECK(slp_store_rows_join(&l->out, &more.out) == 0);
  }
}

void fw_operator_delete(fw_world *w, const char *row) {
  char name[200];
  slp_store_write d = {.kind = SLP_WRITE_DELETE};
  d.key = key_of(w, row, name);
  d.rq.on_done = nothing;
  slp_store_rows_init(&d.image, w->mem);
  w->server_store->ops->write(w->server_store, &d);
  slp_unpost(&d.rq.ev);
  d.rq.ev.run(&d.rq.ev);
  slp_sim_trace(w->sim, "an operator deletes %s", row);
  int i = shard_of_row(w, row);
  if (i < 0) return;
  w->shards[i].excused = 1;
  w->pos[i] = (slp_position){.kind = SLP_POSITION_NONE};
}

void fw_operator_put(fw_world *w, uint8_t table, const char *row, const char *attr, slp_val_kind kind,
                     const char *text) {
  char name[200];
  slp_change c = {str(attr), kind == SLP_VAL_NONE ? SLP_REMOVE : SLP_SET, {.kind = kind, .s = str(text)}};
  slp_store_write u = {.kind = SLP_WRITE_UPDATE, .changes = &c, .changes_n = 1};
  u.rq.table = table;
  u.key = key_of(w, row, name);
  u.rq.on_done = nothing;
  slp_store_rows_init(&u.image, w->mem);
  w->server_store->ops->write(w->server_store, &u);
  slp_unpost(&u.rq.ev);
  u.rq.ev.run(&u.rq.ev);
  slp_store_rows_free(&u.image);
  int i = table ? -1 : shard_of_row(w, row);
  if (i < 0) return;
  w->shards[i].excused = 1;
  w->pos[i] = (slp_position){.kind = SLP_POSITION_NONE};
}

void fw_operator_set(fw_world *w, const char *row, const char *attr, const char *text) {
  fw_operator_put(w, 0, row, attr, SLP_VAL_S, text);
}
void fw_operator_remove(fw_world *w, const char *row, const char *attr) {
  fw_operator_put(w, 0, row, attr, SLP_VAL_NONE, "");
}
void fw_operator_number(fw_world *w, const char *row, const char *attr, const char *number) {
  fw_operator_put(w, 0, row, attr, SLP_VAL_N, number);
}

static int slot_of(const fw_world *w, slp_str instance) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && slp_str_eq(slp_fleet_instance(w->nodes[i]->fleet), instance)) return i;
  return -1;
}

int fw_owner_of(fw_world *w, int shard) {
  char row[64], owner[128];
  fw_row_of(w, shard, row);
  return slot_of(w, str(found(w, row, w->layout ? w->layout->owner : "owner", owner, sizeof owner)));
}

/* The worker that reads it has not released it: only an evicted one loses a lease without its doing. */
static void judge_owner(fw_world *w, int shard, const slp_lease_row *l) {
  char row[64], gone[128], incarnation[64];
  for (int i = 0; i < FW_NODES; i++) {
    fw_node *n = w->nodes[i];
    struct fw_open *o = n ? open_of(n, l->shard) : NULL;
    if (!o || w->shards[shard].excused || l->position.kind == SLP_POSITION_END) continue;
    slp_str me = slp_fleet_instance(n->fleet);
    if (slp_str_eq(l->owner, me) && l->epoch == o->epoch) continue;
    snprintf(row, sizeof row, "w/%s", n->id);
    found(w, row, "gone", gone, sizeof gone);
    found(w, row, "boot", incarnation, sizeof incarnation);
    if (!gone[0] && me.n > 16 && memcmp(me.p + me.n - 16, incarnation, 16) == 0)
      fw_wrong(w, "S5 exclusive: %s loses %s, which it reads, and is not evicted", n->id,
               w->shards[shard].id);
  }
}

/* Another owner only with a greater epoch, and no epoch comes back. */
static void judge_epoch(fw_world *w, int shard, const slp_lease_row *l) {
  fw_shard *s = &w->shards[shard];
  char owner[sizeof s->row_owner];
  snprintf(owner, sizeof owner, "%.*s", (int)l->owner.n, l->owner.n ? l->owner.p : "");
  int other = owner[0] && (s->row_free || strcmp(owner, s->row_owner) != 0);
  if ((l->epoch < s->row_epoch || (other && l->epoch == s->row_epoch)) && s->row_owner[0] && !s->excused)
    fw_wrong(w, "S5 exclusive: the row of %s goes from %s in epoch %llu to %s in epoch %llu", s->id,
             s->row_owner, (unsigned long long)s->row_epoch, owner, (unsigned long long)l->epoch);
  s->row_epoch = l->epoch;
  s->row_free = !owner[0];
  if (owner[0]) memcpy(s->row_owner, owner, sizeof owner);
}

/* A shard that is ended has left a row for each child. */
static void judge_children(fw_world *w, const uint8_t *has_row) {
  for (int i = 0; i < w->shards_n; i++) {
    const fw_shard *s = &w->shards[i];
    if (w->kcl && !has_row[i]) continue; /* removed long after */
    for (int k = 0; k < s->kids_n && w->pos[i].kind == SLP_POSITION_END; k++)
      if (!has_row[s->kids[k]] && !w->shards[s->kids[k]].excused)
        fw_wrong(w, "S4 lineage: %s is ended and its child %s has no lease", s->id, w->shards[s->kids[k]].id);
  }
}

void fw_judge_rows(fw_world *w) {
  uint8_t has_row[FW_SHARDS] = {0};
  slp_store_list l;
  all_rows(w, &l);
  for (size_t k = 0; k < l.out.n; k++) {
    slp_parsed_row f;
    w->schema->read(w->schema, &l.out.rows[k], &f);
    if (f.astray && !w->may_stray)
      fw_wrong(w, "S5 exclusive: the lease of %.*s lies where nobody looks", (int)f.u.lease.shard.n,
               f.u.lease.shard.p);
    int i = f.kind == SLP_ROW_LEASE ? shard_no(w, f.u.lease.shard) : -1;
    if (i < 0) continue;
    has_row[i] = 1;
    fw_shard *s = &w->shards[i];
    const slp_position *pos = &f.u.lease.position;
    int back = slp_position_cmp(pos, &w->pos[i]) < 0;
    if (back && w->may_go_back)
      w->put_back++, s->excused = 1;
    else if (back)
      fw_wrong(w, "S8 backwards: the position of %s went back", s->id);
    if (number(pos) > s->acked)
      fw_wrong(w, "S1 loss: the position of %s is beyond what was acknowledged", s->id);
    if (pos->kind == SLP_POSITION_END && (s->acked < s->records || !s->closed))
      fw_wrong(w, "S1 loss: %s is ended before all of it was acknowledged", s->id);
    w->pos[i] = *pos;
    if (!w->kcl) judge_epoch(w, i, &f.u.lease), judge_owner(w, i, &f.u.lease);
  }
  if (!w->layout || !w->layout->kids_late) judge_children(w, has_row);
  slp_store_rows_free(&l.out);
  if (w->on_rows) w->on_rows(w);
}

void fw_dump(fw_world *w) {
  static const char *const states[] = {"idle",    "expected",  "wanted",    "claimed", "waiting",
                                       "parked",  "owned",     "draining",  "drained", "ending",
                                       "closing", "releasing", "unreleased"};
  for (int i = 0; i < FW_NODES; i++) {
    if (!w->nodes[i]) continue;
    slp_fleet *f = w->nodes[i]->fleet;
    uint64_t now = slp_now_us(f->h);
    printf("%s: state %d, role %d, assignment %llu, polling %d, proof %d, reading %d, again %d\n",
           w->nodes[i]->id, f->life.state, f->election.role, (unsigned long long)f->leases.version,
           f->poll.read.busy, f->deadline.proof, f->assignment.read.busy, f->assignment.again);
    size_t at = 0;
    printf("  alone %d, members read %d, watch in %lld, trouble %lld, table read %d, writes %d, listing %d\n",
           f->leader.alone, f->members.list.busy, (long long)(f->leader.watch_timer.at_us - now),
           (long long)(now - f->trouble_us), f->leader.read.busy, f->bulk.busy, f->listing.asked);
    for (slp_member *p; (p = slp_member_each(f, &at));)
      printf("  peer %s gone %d missing %d takes %d reads %u ok %d list %d since %lld exact %lld busy %d\n",
             p->id, p->gone, p->silence.last.missing, p->takes, p->silence.reads, p->last_ok, p->in_list,
             (long long)(now - p->silence.since_us), (long long)(now - p->exact_us),
             p->eviction && p->eviction->op.busy);
    at = 0;
    for (slp_lease *l; (l = slp_lease_each(f, &at));)
      printf(
          "  %s %s planned %d inherited %d ended %d busy %d verb %d look %lld due %lld, row: %.*s "
          "%llu claim %.*s\n",
          l->shard.p, states[l->state], l->want.assigned, l->want.inherited, l->row.ended, l->op.busy,
          l->op.i.kind, (long long)(l->poll.row_us - now), (long long)(l->poll.step_us - now), l->row.owner.n,
          l->row.owner.p, (unsigned long long)l->row.epoch, l->row.claim.n, l->row.claim.p);
  }
  slp_store_list l;
  all_rows(w, &l);
  for (size_t k = 0; k < l.out.n; k++) {
    for (size_t i = 0; i < l.out.rows[k].n; i++) {
      const slp_attr *a = &l.out.rows[k].attrs[i];
      if (!slp_str_is(a->name, "app") && (a->val.kind == SLP_VAL_S || a->val.kind == SLP_VAL_N))
        printf(" %.*s=%.*s", (int)a->name.n, a->name.p, (int)a->val.s.n, a->val.s.p);
    }
    printf("\n");
  }
  slp_store_rows_free(&l.out);
}

/* ---- at rest ----------------------------------------------------------------------------------- */

int fw_all_read(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++) {
    if (w->shards[i].acked < w->shards[i].records) return 0;
    if (w->shards[i].closed && w->pos[i].kind != SLP_POSITION_END) return 0;
  }
  return 1;
}

/* Leases that this worker gave up, because it got nowhere with them: they go to others, however little it
 * has. */
static int avoids(fw_world *w, const fw_node *n) {
  int sum = 0;
  for (int i = 0; i < w->shards_n; i++) {
    char row[64];
    if (w->pos[i].kind == SLP_POSITION_END || w->shards[i].trimmed) continue;
    fw_row_of(w, i, row);
    sum += slp_str_is(slp_fleet_instance(n->fleet), fw_row(w, row, "avoid"));
  }
  return sum;
}

int fw_settled(fw_world *w) {
  int held[FW_NODES] = {0}, most = 0;
  for (int i = 0; i < w->shards_n; i++) {
    if (w->pos[i].kind == SLP_POSITION_END || w->shards[i].trimmed) continue;
    int slot = fw_owner_of(w, i);
    if (slot < 0) return 0;
    struct fw_open *o = open_of(w->nodes[slot], str(w->shards[i].id));
    if (!o || o->draining) return 0;
    held[slot]++;
  }
  for (int i = 0; i < FW_NODES; i++) {
    fw_node *n = w->nodes[i];
    if (!n || n->left || n->failed) continue;
    slp_fleet_stats s;
    slp_fleet_stats_get(n->fleet, &s);
    if (n->suspended || !n->joined || s.held_now != (uint64_t)held[i]) return 0;
    if (held[i] > most) most = held[i];
  }
  for (int i = 0; i < FW_NODES; i++) {
    fw_node *n = w->nodes[i];
    if (!n || n->left || n->failed || most - held[i] <= 1) continue;
    if (w->kcl || most - held[i] - avoids(w, n) > 1) return 0;
  }
  return 1;
}

int fw_run(fw_world *w, uint64_t us) {
  uint64_t until = fw_now(w) + us;
  while (!w->complaint[0] && fw_now(w) < until) {
    slp_sim_run(w->sim, slp_min_u64(until, fw_now(w) + FW_S / 50), NULL, NULL);
  }
  return !w->complaint[0];
}

int fw_until(fw_world *w, uint64_t us, int (*enough)(fw_world *w)) {
  uint64_t until = fw_now(w) + us;
  while (!w->complaint[0] && fw_now(w) < until) {
    if (enough(w)) return 1;
    slp_sim_run(w->sim, fw_now(w) + FW_S / 50, NULL, NULL);
  }
  return 0;
}

/* ---- the world --------------------------------------------------------------------------------- */

static void produce(void *arg) {
  fw_world *w = arg;
  if (w->producing)
    for (int i = 0; i < w->shards_n; i++) fw_produce(w, i, slp_sim_random_below(w->sim, 4));
  slp_sim_at(w->sim, fw_now(w) + FW_S / 5, produce, w);
}

/* The table of leases, and those beside it. */
static slp_store *open_tables(fw_world *w) {
  slp_store *stores[SLP_SEVERAL_MAX], *all;
  slp_table_spec specs[SLP_SEVERAL_MAX];
  uint8_t n = 1;
  w->schema->table(w->schema, "leases", &specs[0]);
  while (w->schema->side_table && w->schema->side_table(w->schema, n, &specs[n])) n++;
  for (uint8_t i = 0; i < n; i++) {
    specs[i].optional = 0;
    SLP_CHECK(slp_memory_store(&stores[i], w->table, w->server, &specs[i]) == 0);
    slp_store_prepare p = {.create = 1};
    p.rq.on_done = nothing;
    stores[i]->ops->prepare(stores[i], &p);
    slp_unpost(&p.rq.ev);
    p.rq.ev.run(&p.rq.ev);
  }
  SLP_CHECK(slp_several_store(&all, w->mem, w->server, stores, specs, n) == 0);
  return all;
}

fw_world *fw_new_of(uint64_t seed, int shards, const fw_layout *layout) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fw_world *w = SLP_NEW(mem, fw_world);
  w->mem = mem;
  w->sim = slp_sim_new(mem, seed);
  slp_sim_leave_unhashed(w->sim);
  w->table = slp_memory_new(mem);
  w->server = slp_sim_host_new(w->sim, mem, NULL);
  w->layout = layout;
  w->kcl = layout != NULL;
  w->beside = layout == &fw_layout_kcl_beside;
  w->schema = schema_of(mem, layout, 0);
  w->server_store = open_tables(w);
  w->faults.rt_us_min = 2000;
  w->faults.rt_us_max = 10000;
  w->faults.late_us = 3 * FW_S;
  w->user_us_min = 1000;
  w->user_us_max = 60000;
  w->skew_ms = 50000;
  w->lease_ms = 2000;
  w->checkpoint_ms = 1000;
  w->handover_ms = 10000;
  w->producing = 1;
  w->start.kind = SLP_POSITION_OLDEST;
  for (int i = 0; i < shards; i++) {
    uint64_t from = 64u * (unsigned)i / (unsigned)shards, to = 64u * ((unsigned)i + 1) / (unsigned)shards;
    born(w, from, to, -1, -1);
  }
  produce(w);
  return w;
}

fw_world *fw_new(uint64_t seed, int shards) { return fw_new_of(seed, shards, NULL); }
fw_world *fw_new_kcl(uint64_t seed, int shards) { return fw_new_of(seed, shards, &fw_layout_kcl); }
fw_world *fw_new_kcl_beside(uint64_t seed, int shards) {
  return fw_new_of(seed, shards, &fw_layout_kcl_beside);
}

static void server_gone(slp_host *h, void *arg) { (void)h, (void)arg; }

void fw_free(fw_world *w) {
  slp_mem *mem = w->mem;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i]) bury(w, i);
  w->over = 1;
  fw_wires_cancel(w);
  w->server_store->ops->close(w->server_store); /* it has a timer of the host's */
  slp_host_close(w->server, server_gone, NULL);
  for (int i = 0; i < 1000 && slp_sim_hosts_alive(w->sim); i++)
    slp_sim_run(w->sim, fw_now(w) + 10, NULL, NULL);
  fw_wires_free(w);
  slp_memory_drop(w->table);
  w->schema->free(w->schema);
  slp_sim_free(w->sim);
  slp_free(mem, w);
  SLP_CHECK(mem->live_blocks == 0);
  slp_mem_drop(mem);
}
