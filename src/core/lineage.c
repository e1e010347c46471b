/* lineage.c - parents, children, and which shards may be read when.
 *
 * A shard is read once every parent we know of is read to its end, and hands its records out once every
 * parent has handed out all of its own: so a child's first record never precedes its parents' last,
 * whatever the clocks say, and a child's pages may be fetched meanwhile. Parents that are not listed any
 * more (trimmed), or that the start position leaves out, count as read. */
#include "core/core.h"

static void copy_parent(slp_shard *s, int i, slp_str id) {
  if (!id.n) return;
  char *p = slp_strdup(s->consumer->mem, id);
  if (p) s->lineage.parents[i] = (slp_str){p, id.n};
}

slp_shard *slp_lineage_get(slp_consumer *c, slp_str id) { return slp_map_get(&c->shards, id); }

slp_shard *slp_lineage_parent(const slp_shard *s, int i) {
  slp_str id = s->lineage.parents[i];
  return id.n ? slp_lineage_get(s->consumer, id) : NULL;
}

int slp_lineage_wanted(const slp_shard *s) { return s->lineage.selection == SLP_SELECT_WANTED; }
int slp_lineage_skipped(const slp_shard *s) { return s->lineage.selection == SLP_SELECT_SKIPPED; }

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
  slp_buf_free(&s->reader.cursor);
  slp_free(mem, s->lease.children);
  slp_free(mem, (void *)(uintptr_t)s->lineage.parents[0].p);
  slp_free(mem, (void *)(uintptr_t)s->lineage.parents[1].p);
  slp_name_drop(s->name);
  slp_free(mem, s);
}

static void shard_init(slp_shard *s, slp_consumer *c) {
  s->consumer = c;
  c->engine->shards_n++;
  s->at.start.kind = SLP_POSITION_OLDEST;
  s->at.anchor_ms = s->at.open_ms = s->at.not_before_ms = INT64_MIN;
  s->lag.behind_ms = -1;
  s->queue.key_time = s->at.tail_time = s->queue.watermark.time = 0;
  s->queue.watermark.seq = (slp_str){s->queue.watermark_seq, 0};
  s->reader.timer.at_us = UINT64_MAX;
  slp_pace_init(&s->reader.pace);
  slp_list_init(&s->queue.pages);
  slp_buf_init(&s->reader.cursor, c->mem, 4096);
}

static int has_barred_parent(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && (p->lineage.selection == SLP_SELECT_BARRED || p->reader.state == SLP_READER_GONE)) return 1;
  }
  return 0;
}

/* SKIPPED and WANTED turn into each other while a start position is applied. The last two are for good. */
#define BIT(state) (1u << (state))
static const unsigned allowed[] = {
    [SLP_SELECT_WANTED] =
        BIT(SLP_SELECT_WANTED) | BIT(SLP_SELECT_SKIPPED) | BIT(SLP_SELECT_BARRED) | BIT(SLP_SELECT_STOPPED),
    [SLP_SELECT_SKIPPED] = BIT(SLP_SELECT_SKIPPED) | BIT(SLP_SELECT_WANTED),
    [SLP_SELECT_BARRED] = 0,
    [SLP_SELECT_STOPPED] = 0,
};

void slp_lineage_set(slp_shard *s, slp_selection to) {
  SLP_CHECK(allowed[s->lineage.selection] & BIT(to));
  int idle = s->reader.state == SLP_READER_IDLE, waited = idle && slp_lineage_wanted(s);
  s->lineage.selection = to;
  int waits = idle && slp_lineage_wanted(s);
  if (waits != waited) s->consumer->sum.waiting_n += waits ? 1u : -1u;
}

void slp_lineage_bar(slp_consumer *c) {
  int redelivered = 1;
  while (redelivered) {
    redelivered = 0;
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) {
      if (!slp_lineage_wanted(s) || s->reader.state != SLP_READER_IDLE || !has_barred_parent(s)) continue;
      slp_lineage_set(s, SLP_SELECT_BARRED);
      redelivered = 1;
    }
  }
}

slp_shard *slp_lineage_add(slp_consumer *c, slp_str id, slp_str parent, slp_str adjacent) {
  slp_engine *e = c->engine;
  if (slp_engine_room(e)) return NULL;
  slp_shard *s = SLP_NEW(c->mem, slp_shard);
  if (!s) return NULL;
  if (slp_host_reserve_timers(e->host, 1)) {
    slp_free(c->mem, s);
    return NULL;
  }
  shard_init(s, c);
  copy_parent(s, 0, parent);
  copy_parent(s, 1, adjacent);
  s->name = slp_name_new(c->mem, slp_str_of(c->stream), id);
  int half_built =
      !s->name || (parent.n && !s->lineage.parents[0].n) || (adjacent.n && !s->lineage.parents[1].n);
  if (s->name) s->id = (slp_str){s->name->shard, id.n};
  if (half_built || slp_map_put(&c->shards, s->id, s)) {
    shard_free(s);
    return NULL;
  }
  s->lineage.added_serial = c->listing.begun;
  s->lineage.selection = slp_lineage_wants(c, id) ? SLP_SELECT_WANTED : SLP_SELECT_SKIPPED;
  if (!SLP_MUTANT(pause_forgets_leased)) s->paused = SLP_MUTANT(pause_misses_new) ? 0 : c->paused_all;
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p) p->lineage.children_n++;
  }
  c->sum.waiting_n += slp_lineage_wanted(s) ? 1 : 0;
  if (has_barred_parent(s)) slp_lineage_bar(c);
  return s;
}

int slp_lineage_parents_read(const slp_shard *s) {
  if (s->lineage.known_serial > s->consumer->listing.done) return 0; /* an unknown parent may yet be listed */
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && !slp_lineage_skipped(p) && p->reader.state != SLP_READER_ENDED) return 0;
  }
  return 1;
}

int slp_lineage_parents_out(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    /* A parent that has not entered the order waits for its own parents, even when it is empty. */
    if (p && !slp_lineage_skipped(p) &&
        (p->reader.state != SLP_READER_ENDED || p->queue.order == SLP_ORDER_OUTSIDE ||
         (!slp_queue_empty(p) && !SLP_MUTANT(child_enters_early))))
      return 0;
  }
  return 1;
}

int64_t slp_lineage_floor(const slp_shard *s) {
  int64_t floor = 0;
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p) floor = slp_max_i64(floor, p->at.tail_time);
  }
  return floor;
}

int64_t slp_lineage_anchor(const slp_shard *s) {
  return s->at.open_ms == INT64_MIN ? s->at.anchor_ms : slp_min_i64(s->at.anchor_ms, s->at.open_ms);
}

int64_t slp_lineage_not_before(const slp_shard *s) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && !slp_lineage_skipped(p)) least = slp_min_i64(least, p->at.not_before_ms);
  }
  return least == INT64_MAX ? INT64_MIN : least;
}

void slp_lineage_open_ready(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while (c->sum.waiting_n && (s = slp_map_each(&c->shards, &at))) {
    if (slp_lineage_wanted(s) && s->reader.state == SLP_READER_IDLE && slp_lineage_parents_read(s))
      slp_reader_start(s);
  }
  slp_lineage_enter_ready(c);
}

/* Entering may show that a child is empty and ended too, which lets its own children in: that goes round
 * in this loop instead of deeper and deeper. */
void slp_lineage_enter_ready(slp_consumer *c) {
  c->enter_again = 1;
  if (c->entering) return;
  c->entering = 1;
  while (c->enter_again) {
    c->enter_again = 0;
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) {
      int reading =
          s->reader.state != SLP_READER_IDLE && slp_lineage_wanted(s) && s->queue.order == SLP_ORDER_OUTSIDE;
      if (!reading || !slp_lineage_parents_out(s)) continue;
      c->enter_again = 1;
      slp_queue_enter(s);
    }
  }
  c->entering = 0;
}

static int is_finished(const slp_shard *s) {
  if (s->lineage.listed || s->consumer->listing.done <= s->lineage.added_serial) return 0;
  if (s->reader.state == SLP_READER_GONE) return slp_list_empty(&s->queue.pages) && !slp_queue_in_order(s);
  return slp_lineage_skipped(s) || s->lineage.selection == SLP_SELECT_BARRED ||
         (s->reader.state == SLP_READER_ENDED && s->ended_told && !slp_queue_in_order(s));
}

void slp_lineage_forget(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    /* One listing may be incomplete; a shard forgotten and listed again would be read again. */
    s->lineage.missed_n = s->lineage.listed ? 0 : (uint8_t)(s->lineage.missed_n + (s->lineage.missed_n < 2));
    if (s->lineage.missed_n < 2 || !is_finished(s)) continue;
    slp_map_remove(&c->shards, s->id);
    shard_free(s);
  }
}

void slp_lineage_drop(slp_shard *s) {
  slp_deliver_forget(s);
  slp_map_remove(&s->consumer->shards, s->id);
  shard_free(s);
}

void slp_lineage_free_map(slp_map *shards) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(shards, &at))) shard_free(s);
  slp_map_free(shards);
}
