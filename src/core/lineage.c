/* lineage.c - which shards a consumer knows, which of them are parents and children of each other, and which
 * are read at all. (order.c decides when a shard is read.) */
#include "core/lineage.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/states.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/lineage_part.h"
#include "core/listing.h"
#include "core/position.h"
#include "core/queue.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"
#include "core/svctime.h"
#include "host/host.h"

/* Returns 0 or SLP_ENOMEM. */
static int copy_parents(slp_shard *s, slp_str parent, slp_str adjacent) {
  const slp_str ids[2] = {parent, adjacent};
  for (int i = 0; i < 2; i++) {
    char *p = ids[i].n ? slp_strdup(s->consumer->mem, ids[i]) : NULL;
    if (ids[i].n && !p) return SLP_ENOMEM;
    s->lineage.parents[i] = (slp_str){p, ids[i].n};
  }
  return 0;
}

static void free_parents(slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_free(s->consumer->mem, (void *)(uintptr_t)s->lineage.parents[i].p);
    s->lineage.parents[i] = (slp_str){NULL, 0};
  }
}

slp_shard *slp_lineage_get(slp_consumer *c, slp_str id) { return slp_map_get(&c->shards, id); }

slp_shard *slp_lineage_parent(const slp_shard *s, int i) {
  slp_str id = s->lineage.parents[i];
  return id.n ? slp_lineage_get(s->consumer, id) : NULL;
}

static void unlink_parents(slp_shard *s) {
  for (int i = 0; i < 2; i++) slp_list_remove(&s->lineage.kin[i].link);
}

static void unlink_children(slp_shard *s) {
  while (slp_list_pop(&s->lineage.children)) continue;
}

static void link_parents(slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_kin *k = &s->lineage.kin[i];
    slp_shard *p = slp_list_linked(&k->link) ? NULL : slp_lineage_parent(s, i);
    k->child = s;
    if (p) slp_list_add_last(&p->lineage.children, &k->link);
  }
}

void slp_lineage_each_child(slp_shard *s, void (*visit)(slp_shard *child)) {
  SLP_LIST_EACH(&s->lineage.children, it) visit(SLP_OWNER(it, slp_kin, link)->child);
}

size_t slp_lineage_children(const slp_shard *s, slp_shard_desc *rows, size_t max) {
  size_t n = 0;
  if (s->consumer->leases) return slp_listing_children(s->consumer, s->id, rows, max);
  SLP_LIST_EACH(&s->lineage.children, it) {
    const slp_shard *child = SLP_OWNER(it, slp_kin, link)->child;
    if (n == max) return n;
    rows[n++] = (slp_shard_desc){
        .id = child->id, .parent = child->lineage.parents[0], .adjacent_parent = child->lineage.parents[1]};
  }
  return n;
}

int slp_lineage_wanted(const slp_shard *s) { return s->lineage.selection == SLP_SELECT_WANTED; }
int slp_lineage_skipped(const slp_shard *s) { return s->lineage.selection == SLP_SELECT_SKIPPED; }
int slp_lineage_is_barred(const slp_shard *s) { return s->lineage.selection == SLP_SELECT_BARRED; }
int slp_lineage_is_listed(const slp_shard *s) { return s->lineage.listed; }
int slp_lineage_is_closed(const slp_shard *s) { return s->lineage.listed_closed; }
int slp_lineage_has_children(const slp_shard *s) { return s->lineage.children_n > 0; }
slp_str slp_lineage_parent_id(const slp_shard *s, int i) { return s->lineage.parents[i]; }

int slp_lineage_wants(const slp_consumer *c, slp_str id) {
  if (!c->o->shards_n) return 1;
  for (size_t i = 0; i < c->o->shards_n; i++) {
    slp_str end = slp_str_of(c->o->shards[i]);
    if (end.n <= id.n && memcmp(id.p + id.n - end.n, end.p, end.n) == 0) return 1;
  }
  return 0;
}

static void shard_free(slp_shard *s) {
  slp_mem *mem = s->consumer->mem;
  s->consumer->engine->shards_n--;
  slp_host_unreserve_timers(s->consumer->engine->host, 1);
  slp_free(mem, s->lease.children);
  free_parents(s);
  slp_name_drop(s->name);
  slp_free(mem, s);
}

static void shard_init(slp_shard *s, slp_consumer *c) {
  s->consumer = c;
  c->engine->shards_n++;
  s->at.start.kind = SLP_POSITION_OLDEST;
  s->at.anchor.ms = s->at.open.ms = s->at.not_before_ms = INT64_MIN;
  slp_list_init(&s->lineage.children);
  slp_lag_init(s);
  slp_queue_init(s);
  slp_reading_init(s);
}

int slp_lineage_parent_barred(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (!p) continue;
    if (p->lineage.selection == SLP_SELECT_BARRED || p->lineage.selection == SLP_SELECT_STOPPED) return 1;
  }
  return 0;
}

/* The allowed changes. While a start position is applied, a shard may change between SKIPPED and WANTED.
 * BARRED and STOPPED are final. */
static const slp_set allowed[] = {
    [SLP_SELECT_WANTED] = SLP_BIT(SLP_SELECT_WANTED) | SLP_BIT(SLP_SELECT_SKIPPED) |
                          SLP_BIT(SLP_SELECT_BARRED) | SLP_BIT(SLP_SELECT_STOPPED),
    [SLP_SELECT_SKIPPED] = SLP_BIT(SLP_SELECT_SKIPPED) | SLP_BIT(SLP_SELECT_WANTED),
    [SLP_SELECT_BARRED] = 0,
    [SLP_SELECT_STOPPED] = 0,
};

static void move(slp_shard *s, slp_selection to) { SLP_MOVE(allowed, s->lineage.selection, to); }

void slp_lineage_set(slp_shard *s, slp_selection to) {
  int idle = slp_reading_state(s) == SLP_READER_IDLE, waited = idle && slp_lineage_wanted(s);
  move(s, to);
  int waits = idle && slp_lineage_wanted(s);
  if (waits != waited) s->consumer->sum.waiting_n += waits ? 1u : -1u;
}

/* ---- walks over parents and children ------------------------------------------------------------------- */

/* Returns a parent of s that slp_lineage_ordered has not visited yet; NULL: none is left. If shards are
 * parents of each other in a circle (check_listing() refuses that), ignores one link of the circle. */
static slp_shard *unordered_parent(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && !p->lineage.ordered) return p;
  }
  return NULL;
}

/* Marks s as visited by slp_lineage_ordered, which came up to s from its child `below`. */
static slp_shard *mark_ordered(slp_shard *s, slp_shard *below) {
  s->lineage.ordered = 1;
  s->lineage.below = below;
  return s;
}

slp_shard *slp_lineage_ordered(slp_consumer *c, slp_kin_order how) {
  slp_shard *first = NULL, **end = &first, *s;
  size_t at = 0;
  while ((s = slp_map_each(&c->shards, &at))) s->lineage.ordered = 0;
  for (at = 0; (s = slp_map_each(&c->shards, &at));) {
    slp_shard *on = s->lineage.ordered ? NULL : mark_ordered(s, NULL);
    while (on) { /* walks up to the oldest ancestor, then down again */
      slp_shard *up = unordered_parent(on);
      if (up) {
        on = mark_ordered(up, on);
        continue;
      }
      if (how == SLP_PARENTS_FIRST) {
        on->lineage.next = NULL;
        *end = on;
        end = &on->lineage.next;
      } else {
        on->lineage.next = first;
        first = on;
      }
      on = on->lineage.below;
    }
  }
  return first;
}

slp_shard *slp_lineage_next(const slp_shard *s) { return s->lineage.next; }

/* Returns 1 if s has not been started, and one of its parents was given up. */
static int is_barred_now(const slp_shard *s) {
  return slp_lineage_wanted(s) && slp_reading_state(s) == SLP_READER_IDLE && slp_lineage_parent_barred(s);
}

/* Bars each shard that was not started and has an ancestor that was given up. (slp_reader_bar_kin stops
 * descendants that are being read already.) */
static void bar_waiting(slp_consumer *c) {
  for (slp_shard *s = slp_lineage_ordered(c, SLP_PARENTS_FIRST); s; s = slp_lineage_next(s))
    if (is_barred_now(s)) slp_lineage_set(s, SLP_SELECT_BARRED);
}

/* Counts s as a child of `parent`; does nothing if `parent` is NULL. */
static void count_child(slp_shard *parent, const slp_shard *s) {
  if (!parent) return;
  parent->lineage.children_n++;
  parent->lineage.merged |= s->lineage.parents[0].n && s->lineage.parents[1].n;
}

static slp_shard *add_new_shard(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent) {
  slp_engine *e = c->engine;
  if (slp_calls_room(e)) return NULL;
  slp_shard *s = SLP_NEW(c->mem, slp_shard);
  if (!s) return NULL;
  if (slp_host_reserve_timers(e->host, 1)) {
    slp_free(c->mem, s);
    return NULL;
  }
  shard_init(s, c);
  int half_built = copy_parents(s, parent, adjacent) != 0;
  s->name = slp_name_new(c->mem, slp_str_of(c->stream), id);
  half_built |= !s->name;
  if (s->name) s->id = (slp_str){s->name->shard, id.n};
  if (half_built || slp_map_put(&c->shards, s->id, s)) {
    shard_free(s);
    return NULL;
  }
  s->lineage.added_serial = slp_listing_begun(c);
  s->lineage.listed = 1; /* a new shard counts as listed until a new listing lacks it */
  if (!slp_lineage_wants(c, id)) move(s, SLP_SELECT_SKIPPED);
  if (!SLP_MUTANT(pause_forgets_leased)) s->paused = SLP_MUTANT(pause_misses_new) ? 0 : c->paused_all;
  if (s->paused) s->paused_us = slp_now_us(c->engine->host);
  for (int i = 0; i < 2; i++) count_child(slp_lineage_parent(s, i), s);
  link_parents(s);
  c->sum.waiting_n += slp_lineage_wanted(s) ? 1 : 0;
  return s;
}

/* Links every shard to those of its parents that are known. A parent may have become known later than its
 * child. */
static void link_all(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) link_parents(s);
}

slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent) {
  /* links from children to the new shard are needed only if some shard waits to be read */
  int some_wait = c->sum.waiting_n > 0;
  slp_shard *s = add_new_shard(c, id, parent, adjacent);
  if (s && some_wait) link_all(c);
  if (s && slp_lineage_parent_barred(s)) bar_waiting(c);
  return s;
}

/* A list of shards that takes each shard only once. In a stream with many merges and splits, far more paths
 * lead to a shard's ancestors than there are ancestors. */
typedef struct kin_list {
  slp_shard *first, *last;
} kin_list;

static void add_kin(kin_list *l, slp_shard *s) {
  if (!s || s->lineage.in_list) return;
  s->lineage.in_list = 1;
  s->lineage.next = NULL;
  if (l->last)
    l->last->lineage.next = s;
  else
    l->first = s;
  l->last = s;
}

static void empty_kin_list(kin_list *l) {
  for (slp_shard *s = l->first; s; s = s->lineage.next) s->lineage.in_list = 0;
  *l = (kin_list){NULL, NULL};
}

static int is_named(const slp_shard_desc *children, size_t n, slp_str id) {
  for (size_t i = 0; i < n; i++)
    if (slp_str_eq(children[i].id, id)) return 1;
  return 0;
}

/* Returns 1 if a shard of the list is one of `children`, or descends from one of them. Adds all known
 * ancestors of the list's shards to the list on the way. */
static int one_is_above(kin_list *l, const slp_shard_desc *children, size_t n) {
  for (slp_shard *s = l->first; s; s = s->lineage.next) {
    const slp_str *parents = s->lineage.parents;
    if (is_named(children, n, s->id) || (parents[0].n && is_named(children, n, parents[0])) ||
        (parents[1].n && is_named(children, n, parents[1])))
      return 1;
    for (int i = 0; i < 2; i++) add_kin(l, slp_lineage_parent(s, i));
  }
  return 0;
}

int slp_lineage_may_have(slp_shard *s, const slp_shard_desc *children, size_t n) {
  kin_list parents = {NULL, NULL};
  int may = 1;
  add_kin(&parents, s);
  for (size_t i = 0; i < n && may; i++) {
    const slp_shard_desc *d = &children[i];
    int first = slp_str_eq(d->parent, s->id);
    slp_str other = first ? d->adjacent_parent : d->parent;
    may = (first || slp_str_eq(d->adjacent_parent, s->id)) && !(other.n && is_named(children, n, other));
    if (other.n) add_kin(&parents, slp_lineage_get(s->consumer, other));
  }
  may = may && !one_is_above(&parents, children, n);
  empty_kin_list(&parents);
  return may;
}

void slp_lineage_learn_keys(slp_shard *s, const slp_shard_desc *d) {
  if (!s->lineage.keys_known) s->lineage.keys_known = slp_desc_range(d, &s->lineage.keys) != 0;
}

const slp_hash_range *slp_lineage_keys(const slp_shard *s) {
  return s->lineage.keys_known ? &s->lineage.keys : NULL;
}

int slp_lineage_knows_parents(const slp_shard *s) {
  for (int i = 0; i < 2; i++)
    if (s->lineage.parents[i].n && !slp_lineage_parent(s, i)) return 0;
  return s->lineage.parents[0].n > 0;
}

int slp_lineage_has_all_children(const slp_shard *s) {
  const slp_lineage *l = &s->lineage;
  return l->merged || l->children_n >= (l->keys_known ? 2 : 1);
}

int slp_lineage_are_all_children(const slp_shard *s, const slp_shard_desc *children, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (children[i].parent.n && children[i].adjacent_parent.n) return 1;
  return n >= (s->lineage.keys_known ? 2 : 1);
}

int slp_lineage_is_open_end(const slp_shard *s) {
  return !s->lineage.listed && !slp_lineage_has_all_children(s);
}

int slp_lineage_is_new(const slp_shard *s) { return !s->lineage.ever_listed; }

int slp_lineage_parents_read(const slp_shard *s) {
  int may_be_listed = s->lineage.known_serial > slp_listing_done(s->consumer);
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p ? !slp_lineage_skipped(p) && slp_reading_state(p) != SLP_READER_ENDED
          : may_be_listed && s->lineage.parents[i].n)
      return 0;
  }
  return 1;
}

int64_t slp_lineage_anchor(const slp_shard *s) {
  const slp_svctime *service = &s->consumer->service;
  int64_t ms = slp_svctime_moment_ms(service, &s->at.anchor);
  return s->at.open.ms == INT64_MIN ? ms : slp_min_i64(ms, slp_svctime_moment_ms(service, &s->at.open));
}

int slp_lineage_lacks_parent(slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    if (!s->lineage.parents[i].n || slp_lineage_parent(s, i)) continue;
    s->lineage.known_serial = slp_listing_next(s->consumer);
    return 1;
  }
  return 0;
}

/* ---- taking listings in ------------------------------------------------------------------------------ */

/* Counts the children of all shards that are marked (slp_shard.marked). To be called when all rows of a
 * listing were taken in, because a listing may name a child before its parent. */
static void count_children(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at)))
    if (s->marked) s->lineage.children_n = 0;
  for (at = 0; (s = slp_map_each(&c->shards, &at));) {
    for (int i = 0; i < 2; i++) {
      slp_shard *p = slp_lineage_parent(s, i);
      if (p && p->marked) count_child(p, s);
    }
  }
}

/* Replaces the parents of s if the listing's row d names other parents than a page of records did, and s is
 * not being read yet. Returns 1 if they were replaced, 0 if not, or SLP_ENOMEM. */
static int correct_parents(slp_shard *s, const slp_shard_desc *d) {
  slp_lineage *l = &s->lineage;
  int same = slp_str_eq(l->parents[0], d->parent) && slp_str_eq(l->parents[1], d->adjacent_parent),
      crossed = slp_str_eq(l->parents[0], d->adjacent_parent) && slp_str_eq(l->parents[1], d->parent);
  /* A row without parents replaces nothing, because a server may leave out parents that it no longer
   * keeps. */
  if (same || crossed || !d->parent.n || slp_reading_state(s) != SLP_READER_IDLE) return 0;
  unlink_parents(s);
  slp_str were[2] = {l->parents[0], l->parents[1]};
  l->parents[0] = l->parents[1] = (slp_str){NULL, 0};
  int lacks = copy_parents(s, d->parent, d->adjacent_parent);
  if (lacks) { /* keep the old parents: a shard without parents would be started at once */
    free_parents(s);
    l->parents[0] = were[0];
    l->parents[1] = were[1];
    return lacks;
  }
  slp_free(s->consumer->mem, (void *)(uintptr_t)were[0].p);
  slp_free(s->consumer->mem, (void *)(uintptr_t)were[1].p);
  return 1;
}

/* If a listing shows a shard as open for writes, the shard was surely open OPEN_SLACK_US before that listing.
 * There are two reasons for the slack: a split or merge appears in listings only when it is done, and the
 * service's answer may be slightly out of date. */
#define OPEN_SLACK_US 10000000u

/* Raises slp_standing.open of each shard that has no children and that the newest listing calls open for
 * writes. */
static void note_open(slp_consumer *c) {
  uint64_t us = slp_listing_us(c);
  us -= slp_min_u64(us, OPEN_SLACK_US);
  slp_moment open = {slp_svctime_low_ms(&c->service, us), us};
  size_t at = 0;
  slp_shard *s;
  while (open.ms != INT64_MIN && (s = slp_map_each(&c->shards, &at)))
    if (s->lineage.listed && !s->lineage.listed_closed && !s->lineage.children_n &&
        s->at.open.ms != INT64_MIN)
      slp_svctime_raise(&c->service, &s->at.open, open);
}

static void learn_row(slp_shard *s, const slp_shard_desc *d) {
  s->lineage.listed = s->lineage.ever_listed = 1;
  s->lineage.listed_closed = d->seq_end.p != NULL;
  slp_lineage_learn_keys(s, d);
}

/* Takes in the new rows of the first listing while more pages of that listing are to come. A parent that no
 * row has named yet may be on a later page, so its child waits until the listing is complete. */
void slp_lineage_take_part(slp_consumer *c) {
  size_t n;
  const slp_shard_desc *rows = slp_listing_next_rows(c, &n);
  for (size_t k = 0; k < n; k++) {
    const slp_shard_desc *d = &rows[k];
    slp_shard *s = slp_lineage_get(c, d->id);
    if (!s) s = add_new_shard(c, d->id, d->parent, d->adjacent_parent);
    /* no memory for the shard; slp_lineage_take_listing tries again when the listing is complete */
    if (!s) continue;
    for (int i = 0; i < 2; i++)
      if (s->lineage.parents[i].n && !slp_lineage_parent(s, i))
        s->lineage.known_serial = slp_listing_begun(c);
    learn_row(s, d);
  }
}

int slp_lineage_take_listing(slp_consumer *c) {
  size_t at = 0, rows_n;
  const slp_shard_desc *rows = slp_listing_rows(c, &rows_n);
  slp_shard *s;
  int r = 0, barred = 0, corrected = 0;
  while ((s = slp_map_each(&c->shards, &at))) s->lineage.listed = s->marked = 0;
  for (size_t i = 0; !r && i < rows_n; i++) {
    const slp_shard_desc *d = &rows[i];
    s = slp_lineage_get(c, d->id);
    if (!s) {
      s = add_new_shard(c, d->id, d->parent, d->adjacent_parent);
      if (s) s->marked = 1;
      barred |= s && slp_lineage_parent_barred(s);
      if (s && SLP_MUTANT(pause_forgets_leased)) s->paused = c->paused_all;
    } else {
      int changed = correct_parents(s, d);
      if (changed < 0) r = changed;
      corrected |= changed > 0;
      barred |= changed > 0 && slp_lineage_parent_barred(s);
    }
    if (s)
      learn_row(s, d);
    else
      r = SLP_ENOMEM;
  }
  if (barred) bar_waiting(c);
  /* If parts of the first listing were taken in before, parents were missing then, so all children are
   * counted again. */
  corrected |= !c->started_from;
  for (at = 0; corrected && (s = slp_map_each(&c->shards, &at));) s->marked = 1;
  count_children(c);
  link_all(c);
  note_open(c);
  return r;
}

void slp_lineage_note_listing(slp_consumer *c) {
  size_t at = 0, rows_n;
  const slp_shard_desc *rows = slp_listing_rows(c, &rows_n);
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    s->lineage.listed = 0;
    s->lineage.children_n = 0;
  }
  for (size_t i = 0; i < rows_n; i++) {
    const slp_shard_desc *d = &rows[i];
    s = slp_lineage_get(c, d->id);
    if (s) {
      s->lineage.listed = s->lineage.ever_listed = 1;
      s->lineage.listed_closed = d->seq_end.p != NULL;
      slp_lineage_learn_keys(s, d);
    }
    int merged = d->parent.n && d->adjacent_parent.n;
    const slp_str parents[2] = {d->parent, d->adjacent_parent};
    for (int k = 0; k < 2; k++) {
      s = parents[k].n ? slp_lineage_get(c, parents[k]) : NULL;
      if (!s) continue;
      s->lineage.children_n++;
      s->lineage.merged |= merged;
    }
  }
}

/* A finished shard is forgotten only when MISSED_MIN listings in a row lacked it. One listing may be
 * incomplete, and a shard that is forgotten and then listed again would be read twice. */
#define MISSED_MIN 2

int slp_lineage_is_missed(slp_shard *s) {
  slp_lineage *l = &s->lineage;
  l->missed_n = l->listed ? 0 : (uint8_t)(l->missed_n + (l->missed_n < MISSED_MIN));
  return l->missed_n == MISSED_MIN && slp_listing_done(s->consumer) > l->added_serial;
}

/* ---- freeing shards ---------------------------------------------------------------------------------- */

void slp_lineage_drop(slp_shard *s) {
  unlink_parents(s);
  unlink_children(s);
  slp_map_remove(&s->consumer->shards, s->id);
  shard_free(s);
}

void slp_lineage_free_map(slp_map *shards) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(shards, &at))) shard_free(s);
  slp_map_free(shards);
}
