/* host.c - what every host shares: the queue of events, the timer heap, the bounded turn and its statistics,
 * and the functions of host.h that only call the implementation's table. */
#include "host/host.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/quota.h"

/* How many buckets each power of two has in the histogram of the turns' CPU times. */
#define SUB 16
/* While events wait, the timers that are due may use this part of a turn, so that neither timers nor events
 * starve. */
#define TIMER_EVENTS_MAX (SLP_TURN_EVENTS_MAX / 2)
#define TIMER_US_MAX (SLP_TURN_US / 2)

/* ---- events -------------------------------------------------------------------------------- */
void slp_post(slp_host *h, slp_event *ev) {
  if (slp_list_linked(&ev->link) || h->closing) return;
  int first = slp_list_empty(&h->ready);
  slp_list_add_last(&h->ready, &ev->link);
  /* A running turn checks the queue itself before it ends. */
  if (first && !h->in_turn) h->ops->wake(h, 0);
}

void slp_unpost(slp_event *ev) { slp_list_remove(&ev->link); }

/* ---- time ---------------------------------------------------------------------------------- */
uint64_t slp_now_refresh_us(slp_host *h) {
  uint64_t now = h->ops->mono_us(h);
  if (now > h->now_us) h->now_us = now;
  return h->now_us;
}

/* Outside of a turn, the clock is read again, because the user may call this between two turns, long after
 * the last turn. */
uint64_t slp_now_us(slp_host *h) { return h->in_turn ? h->now_us : slp_now_refresh_us(h); }

int64_t slp_wall_ms(slp_host *h) { return h->ops->wall_ms(h); }

uint64_t slp_host_quota_take(slp_host *h, slp_str kind, uint32_t a_second) {
  uint64_t now = slp_now_refresh_us(h);
  slp_quotas *all = h->ops->quotas ? h->ops->quotas(h) : NULL;
  if (!all) return now;
  uint64_t at_us = slp_quota_take(all, kind, a_second, now);
  h->ops->quotas_back(h);
  return at_us;
}

void slp_host_quota_refused(slp_host *h, slp_str kind) {
  uint64_t now = slp_now_refresh_us(h);
  slp_quotas *all = h->ops->quotas ? h->ops->quotas(h) : NULL;
  if (!all) return;
  slp_quota_refused(all, kind, now);
  h->ops->quotas_back(h);
}

void slp_host_where(slp_host *h, char name[65], uint32_t *pid) {
  name[0] = 0;
  *pid = 0;
  h->ops->where(h, name, pid);
}

/* ---- the timer heap: 4-ary, so that moving down touches one cache line of pointers a level ---- */
#define ARITY 4

static int is_timer_sooner(const slp_timer *a, const slp_timer *b) {
  return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void heap_put(slp_host *h, size_t i, slp_timer *t) {
  h->timers[i] = t;
  t->slot = i + 1;
}

static void heap_up(slp_host *h, size_t i, slp_timer *t) {
  while (i > 0) {
    size_t parent = (i - 1) / ARITY;
    if (!is_timer_sooner(t, h->timers[parent])) break;
    heap_put(h, i, h->timers[parent]);
    i = parent;
  }
  heap_put(h, i, t);
}

static void heap_down(slp_host *h, size_t i, slp_timer *t) {
  for (;;) {
    size_t best = 0, first = i * ARITY + 1;
    for (size_t child = first; child < first + ARITY && child < h->timers_n; child++)
      if (!best || is_timer_sooner(h->timers[child], h->timers[best])) best = child;
    if (!best || !is_timer_sooner(h->timers[best], t)) break;
    heap_put(h, i, h->timers[best]);
    i = best;
  }
  heap_put(h, i, t);
}

static void heap_place(slp_host *h, size_t i, slp_timer *t) {
  if (i > 0 && is_timer_sooner(t, h->timers[(i - 1) / ARITY]))
    heap_up(h, i, t);
  else
    heap_down(h, i, t);
}

static int heap_room(slp_host *h, size_t want) {
  if (want <= h->timers_cap) return 0;
  size_t cap = h->timers_cap ? h->timers_cap : 16;
  while (cap < want) cap *= 2;
  slp_timer **grown = slp_realloc(h->mem, h->timers, cap * sizeof(void *));
  if (!grown) return SLP_ENOMEM;
  h->timers = grown;
  h->timers_cap = cap;
  return 0;
}

int slp_host_reserve_timers(slp_host *h, size_t n) {
  int r = heap_room(h, h->timers_n + h->timers_reserved + n);
  if (!r) h->timers_reserved += n;
  return r;
}

void slp_host_unreserve_timers(slp_host *h, size_t n) {
  SLP_CHECK(h->timers_reserved >= n);
  h->timers_reserved -= n;
}

static void timer_place(slp_host *h, slp_timer *t, uint64_t at_us) {
  /* A deadline in the past counts as now. Otherwise a timer that sets itself to 0 again and again would stay
   * on top of the heap, and no other timer would run. */
  uint64_t was_top = h->timers_n ? h->timers[0]->at_us : UINT64_MAX;
  t->at_us = slp_max_u64(at_us, h->now_us);
  t->order = h->timers_order++;
  if (t->slot)
    heap_place(h, t->slot - 1, t);
  else
    heap_up(h, h->timers_n++, t);
  if (!h->in_turn && !h->closing && slp_list_empty(&h->ready) && h->timers[0]->at_us < was_top)
    h->ops->wake(h, h->timers[0]->at_us);
}

void slp_timer_clear(slp_host *h, slp_timer *t) {
  if (t->slot) {
    size_t i = t->slot - 1;
    slp_timer *last = h->timers[--h->timers_n];
    if (last != t) heap_place(h, i, last);
    t->slot = 0;
  }
  t->at_us = UINT64_MAX;
}

int slp_timer_set(slp_host *h, slp_timer *t, uint64_t at_us) {
  if (at_us == UINT64_MAX) {
    slp_timer_clear(h, t);
    return 0;
  }
  if (!t->slot && heap_room(h, h->timers_n + h->timers_reserved + 1)) {
    t->at_us = UINT64_MAX;
    return SLP_ENOMEM;
  }
  timer_place(h, t, at_us);
  return 0;
}

/* While a timer in a reserved place is armed, it counts both in timers_n and in timers_reserved. So the heap
 * keeps too much room, but never too little. */
void slp_timer_set_reserved(slp_host *h, slp_timer *t, uint64_t at_us) {
  SLP_CHECK(t->slot || h->timers_n < h->timers_cap);
  timer_place(h, t, at_us);
}

/* ---- randomness ---------------------------------------------------------------------------- */
uint64_t slp_random(slp_host *h) { return h->ops->random(h); }

uint64_t slp_random_below(slp_host *h, uint64_t below) {
  if (below == 0) return 0;
  /* Numbers below `skip` are not used: with them, small results would be more likely than large ones. */
  uint64_t skip = (0 - below) % below;
  for (;;) {
    uint64_t r = slp_random(h);
    if (r >= skip) return r % below;
  }
}

/* ---- the turn ------------------------------------------------------------------------------ */
static size_t bucket_of(uint64_t us) {
  if (us < SUB) return (size_t)us;
  /* 4 or more, because a value below SUB has a bucket of its own */
  unsigned power = 63u - (unsigned)__builtin_clzll(us);
  size_t i = (size_t)(power - 3) * SUB + (size_t)((us >> (power - 4)) - SUB);
  return i < SLP_TURN_BUCKETS ? i : SLP_TURN_BUCKETS - 1;
}

/* Returns the largest value that a bucket holds. */
static uint64_t bucket_top(size_t i) {
  if (i < SUB) return i;
  unsigned power = (unsigned)(i / SUB) + 3;
  uint64_t sub = i % SUB;
  return ((SUB + sub + 1) << (power - 4)) - 1;
}

static unsigned run_timers(slp_host *h, uint64_t start_us) {
  unsigned ran = 0;
  /* timers that are set while this function runs get an `order` of `limit` or more, and wait for the next
   * turn */
  uint64_t limit = h->timers_order;
  while (h->timers_n && !h->closing) {
    slp_timer *t = h->timers[0];
    if (t->at_us > start_us || t->order >= limit) break;
    if (ran >= SLP_TURN_EVENTS_MAX) break;
    if (!slp_list_empty(&h->ready) && ran >= TIMER_EVENTS_MAX) break;
    slp_timer_clear(h, t);
    ran++;
    t->run(t);
    uint64_t used = h->ops->mono_us(h) - start_us;
    if (used >= SLP_TURN_US || (used >= TIMER_US_MAX && !slp_list_empty(&h->ready))) break;
  }
  return ran;
}

static void turn_wish(slp_host *h, uint64_t start_us) {
  if (h->closing) return;
  if (!slp_list_empty(&h->ready))
    h->ops->wake(h, 0);
  else if (!h->timers_n)
    h->ops->wake(h, UINT64_MAX);
  else /* at_us <= start_us: timers left over, or set to "now" during this turn */
    h->ops->wake(h, h->timers[0]->at_us <= start_us ? 0 : h->timers[0]->at_us);
}

void slp_host_turn(slp_host *h) {
  SLP_CHECK(!h->in_turn);
  if (h->closing) return;
  h->in_turn = 1;
  uint64_t start_us = slp_now_refresh_us(h), cpu_start_us = h->ops->cpu_us(h);
  unsigned ran = run_timers(h, start_us);
  uint64_t end_us = h->ops->mono_us(h);
  while (ran < SLP_TURN_EVENTS_MAX && end_us - start_us < SLP_TURN_US) {
    slp_list *node = slp_list_pop(&h->ready);
    if (!node) break;
    ran++;
    slp_event *ev = SLP_OWNER(node, slp_event, link);
    ev->run(ev);
    end_us = h->ops->mono_us(h);
  }
  uint64_t cpu_us = h->ops->cpu_us(h) - cpu_start_us;
  if (ran) {
    h->turns.turns++;
    h->turns.cpu_us[bucket_of(cpu_us)]++;
    h->turns.cpu_us_max = slp_max_u64(h->turns.cpu_us_max, cpu_us);
    h->turns.hold_us_max = slp_max_u64(h->turns.hold_us_max, end_us - start_us);
  }
  h->in_turn = 0;
  turn_wish(h, start_us);
}

const slp_turn_stats *slp_host_turns(slp_host *h) { return &h->turns; }

uint64_t slp_host_turn_us_at(slp_host *h, double p) {
  uint64_t seen = 0;
  if (h->turns.turns == 0) return 0;
  double want = p * (double)h->turns.turns;
  for (size_t i = 0; i < SLP_TURN_BUCKETS; i++) {
    seen += h->turns.cpu_us[i];
    /* In the bucket of the longest turn, cpu_us_max is a closer bound than the bucket's upper edge. */
    if (i == SLP_TURN_BUCKETS - 1) break; /* the last bucket has no upper edge */
    if (seen && (double)seen >= want) return slp_min_u64(bucket_top(i), h->turns.cpu_us_max);
  }
  return h->turns.cpu_us_max;
}

/* ---- functions of the implementation ------------------------------------------------------- */
void slp_http_send(slp_host *h, slp_http *call) { h->ops->http_send(h, call); }
void slp_http_cancel(slp_host *h, slp_http *call) { h->ops->http_cancel(h, call); }
void slp_http_resume(slp_host *h, slp_http *call) { h->ops->http_resume(h, call); }
void slp_file_read(slp_host *h, slp_file *file) { h->ops->file_read(h, file); }
void slp_file_cancel(slp_host *h, slp_file *file) { h->ops->file_cancel(h, file); }
void slp_work_send(slp_host *h, slp_work *work) { h->ops->work_send(h, work); }
void slp_work_cancel(slp_host *h, slp_work *work) { h->ops->work_cancel(h, work); }
void slp_spawn(slp_host *h, slp_child *child) { h->ops->spawn(h, child); }
void slp_spawn_cancel(slp_host *h, slp_child *child) { h->ops->spawn_cancel(h, child); }
void slp_host_ref(slp_host *h, int on) { h->ops->ref(h, on); }

int slp_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  l->host = h;
  return h->ops->listen(h, l, address, port);
}

void slp_listen_close(slp_listener *l, void (*on_closed)(slp_listener *l)) {
  l->on_closed = on_closed;
  l->host->ops->listen_close(l);
}

static void pass_serve_answer(slp_served *rq, const slp_serve_answer *answer) {
  if (rq->by)
    rq->by->serve(rq, answer);
  else
    rq->listener->host->ops->serve(rq, answer);
}

void slp_serve(slp_served *rq, const slp_serve_answer *answer) {
  SLP_CHECK(answer);
  pass_serve_answer(rq, answer);
}

void slp_serve_drop(slp_served *rq) { pass_serve_answer(rq, NULL); }

void slp_serve_begin(slp_served *rq, const slp_serve_answer *answer) {
  if (rq->by)
    rq->by->begin(rq, answer);
  else
    rq->listener->host->ops->serve_begin(rq, answer);
}

int slp_serve_more(slp_served *rq, slp_str bytes) {
  return rq->by ? rq->by->more(rq, bytes) : rq->listener->host->ops->serve_more(rq, bytes);
}

void slp_serve_end(slp_served *rq) {
  if (rq->by)
    rq->by->end(rq);
  else
    rq->listener->host->ops->serve_end(rq);
}

void slp_raw_write(slp_raw *raw, slp_buf *bytes) { raw->listener->host->ops->raw_write(raw, bytes); }
void slp_raw_read(slp_raw *raw, int on) { raw->listener->host->ops->raw_read(raw, on); }
int slp_raw_has_room(slp_raw *raw, size_t more) { return raw->listener->host->ops->raw_has_room(raw, more); }
void slp_raw_close(slp_raw *raw, slp_raw_end how) { raw->listener->host->ops->raw_close(raw, how); }

/* ---- life ---------------------------------------------------------------------------------- */
void slp_host_init(slp_host *h, const slp_host_ops *ops, slp_mem *mem) {
  memset(h, 0, sizeof *h);
  h->ops = ops;
  h->mem = slp_mem_hold(mem);
  slp_list_init(&h->ready);
  h->now_us = ops->mono_us(h);
}

void slp_host_close(slp_host *h, void (*on_closed)(slp_host *h, void *arg), void *arg) {
  SLP_CHECK(!h->closing);
  h->closing = 1;
  h->on_closed = on_closed;
  h->on_closed_arg = arg;
  while (slp_list_pop(&h->ready)) continue;
  h->ops->close(h);
}

void slp_host_closed(slp_host *h) {
  /* timers that were not cleared are not touched, because their memory may have been freed */
  h->timers_n = 0;
  slp_mem *mem = h->mem;
  slp_free(mem, h->timers);
  h->timers = NULL;
  h->timers_cap = 0;
  if (h->on_closed) h->on_closed(h, h->on_closed_arg);
  slp_mem_drop(mem);
}
