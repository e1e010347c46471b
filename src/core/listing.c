/* listing.c - asks the service about the stream as a whole: what it is, and which shards it has. The callers
 * decide what follows from an answer. */
#include "core/listing.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/repeat.h"
#include "codec/page.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/life.h"
#include "core/report.h"
#include "core/source.h"
#include "core/svctime.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>
#include <stdlib.h>

/* The least wait between two listings. It grows from LIST_LEAST_US to LIST_MOST_US while listings are asked
 * for again and again. */
#define LIST_LEAST_US 200000
#define LIST_MOST_US 2000000

void slp_listing_learn_time(slp_consumer *c, const slp_op *rq) {
  int64_t date_ms = rq->date_ms;
  if (date_ms < 0 && (slp_svctime_known(&c->service) || rq->fail.class != SLP_FINE)) return;
  /* A server that sends no Date header is assumed to have the same clock as this machine. */
  if (date_ms < 0) date_ms = slp_wall_ms(c->engine->host) / 1000 * 1000;
  slp_svctime_learn(&c->service, date_ms, rq->sent_us, rq->done_us);
}

int64_t slp_listing_served_ms(const slp_consumer *c, const slp_op *rq, int64_t begun_ms) {
  int64_t low_ms = slp_svctime_low_ms(&c->service, rq->sent_us);
  if (rq->date_ms < 0 || rq->done_us < rq->sent_us) return low_ms;
  /* The service's clock showed date_ms when it wrote the answer, which was at most done_us - sent_us after
   * the call was sent. So the call was sent at own_ms or later. */
  int64_t own_ms = rq->date_ms - (int64_t)((rq->done_us - rq->sent_us + 999) / 1000);
  return slp_min_i64(low_ms, slp_max_i64(own_ms, begun_ms));
}

/* ---- describing the stream --------------------------------------------------------------------------- */

static void ask_description(slp_consumer *c, int latest, void (*on_done)(slp_op *rq)) {
  c->listing.describe = (slp_src_describe){.rq = {.on_done = on_done}, .latest = latest};
  c->listing.describe_out = 1;
  c->source->ops->describe(c->source, &c->listing.describe);
}

void slp_listing_describe(slp_consumer *c, void (*on_done)(slp_op *rq)) { ask_description(c, 0, on_done); }

void slp_listing_describe_latest(slp_consumer *c, void (*on_done)(slp_op *rq)) {
  c->listing.latest_us = slp_now_us(c->engine->host);
  ask_description(c, 1, on_done);
}

uint64_t slp_listing_latest_us(const slp_consumer *c) { return c->listing.latest_us; }

int slp_listing_asks_latest(const slp_consumer *c) {
  return c->listing.describe_out && c->listing.describe.latest;
}

slp_consumer *slp_listing_described(slp_op *rq) {
  slp_src_describe *d = SLP_OWNER(rq, slp_src_describe, rq);
  slp_consumer *c = SLP_OWNER(d, slp_consumer, listing.describe);
  c->listing.describe_out = 0;
  slp_listing_learn_time(c, rq);
  return c;
}

const slp_src_describe *slp_listing_stream(const slp_consumer *c) { return &c->listing.describe; }

/* ---- listing its shards ------------------------------------------------------------------------------ */

static int is_out(const slp_consumer *c) { return c->listing.list_out || c->listing.describe_out; }

int slp_listing_is_busy(const slp_consumer *c) { return is_out(c); }

int slp_listing_begin(slp_consumer *c) {
  if (is_out(c)) return 0;
  c->listing.wanted = 0;
  c->listing.status = SLP_STREAM_NOT_ASKED;
  c->listing.begun++;
  c->listing.us = slp_now_us(c->engine->host);
  slp_paced_done(&c->listing.paced, c->listing.us, LIST_MOST_US);
  return 1;
}

void slp_listing_send(slp_consumer *c, void (*on_done)(slp_op *rq), void (*on_part)(slp_src_list *l)) {
  memset(&c->listing.list, 0, sizeof c->listing.list);
  c->listing.list.rq.on_done = on_done;
  c->listing.list.on_part = on_part;
  c->listing.part_n = 0;
  c->listing.list_out = 1;
  c->source->ops->list(c->source, &c->listing.list);
}

slp_consumer *slp_listing_listed(slp_op *rq) {
  slp_src_list *l = SLP_OWNER(rq, slp_src_list, rq);
  slp_consumer *c = SLP_OWNER(l, slp_consumer, listing.list);
  c->listing.list_out = 0;
  slp_listing_learn_time(c, rq);
  return c;
}

/* ---- children of a shard, with leases ---------------------------------------------------------------- */

typedef struct slp_listed_child {
  slp_str parent;
  const slp_shard_desc *row;
} slp_listed_child;

void slp_listing_forget_rows(slp_consumer *c) {
  slp_free(c->mem, c->listing.children);
  slp_free(c->mem, c->listing.rows);
  c->listing.children = NULL;
  c->listing.children_n = 0;
  c->listing.rows = NULL;
  c->listing.rows_n = 0;
}

/* Keeps a copy of the newest listing's rows. Without memory no copy is kept; then the children of a shard
 * that ends must be asked for from the service. */
static void keep_rows(slp_consumer *c) {
  const slp_src_list *l = &c->listing.list;
  slp_listing_forget_rows(c);
  c->listing.rows = l->shards_n ? slp_descs_copy(c->mem, l->shards, l->shards_n) : NULL;
  c->listing.rows_n = c->listing.rows ? l->shards_n : 0;
}

static int by_parent(const void *a, const void *b) {
  const slp_listed_child *x = a, *y = b;
  int side = slp_str_cmp(x->parent, y->parent);
  return side ? side : (x->row > y->row) - (x->row < y->row);
}

/* Sorts the rows by parent, when the first shard asks for its children. A search through all rows for each of
 * thousands of ending shards would take seconds. */
static int sort_children(slp_consumer *c) {
  slp_listing *l = &c->listing;
  if (l->children) return 0;
  slp_listed_child *all = slp_zalloc_n(c->mem, 2 * l->rows_n + 1, sizeof *all);
  if (!all) return SLP_ENOMEM;
  size_t n = 0;
  for (size_t i = 0; i < l->rows_n; i++) {
    const slp_shard_desc *d = &l->rows[i];
    if (d->parent.n) all[n++] = (slp_listed_child){d->parent, d};
    if (d->adjacent_parent.n && !slp_str_eq(d->parent, d->adjacent_parent))
      all[n++] = (slp_listed_child){d->adjacent_parent, d};
  }
  qsort(all, n, sizeof *all, by_parent);
  l->children = all;
  l->children_n = n;
  return 0;
}

size_t slp_listing_children(slp_consumer *c, slp_str shard, slp_shard_desc *children, size_t max) {
  const slp_listing *l = &c->listing;
  size_t n = 0;
  if (sort_children(c)) return 0;
  size_t low = 0, high = l->children_n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (slp_str_cmp(l->children[middle].parent, shard) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < l->children_n && n < max && slp_str_eq(l->children[low].parent, shard); low++)
    children[n++] = *l->children[low].row;
  return n;
}

int slp_listing_is_out(const slp_consumer *c) { return c->listing.list_out; }

const slp_shard_desc *slp_listing_next_rows(slp_consumer *c, size_t *ret_n) {
  slp_listing *l = &c->listing;
  size_t from = l->part_n;
  *ret_n = l->list.shards_n - from;
  l->part_n = l->list.shards_n;
  return *ret_n ? &l->list.shards[from] : NULL;
}

slp_consumer *slp_listing_of(slp_src_list *l) { return SLP_OWNER(l, slp_consumer, listing.list); }

static void keep_newest(slp_consumer *c) {
  uint64_t number;
  c->listing.newest = 0;
  for (size_t i = 0; i < c->listing.list.shards_n; i++)
    if (slp_desc_number(c->listing.list.shards[i].id, &number))
      c->listing.newest = slp_max_u64(c->listing.newest, number);
}

int slp_listing_has_later(const slp_consumer *c, slp_str id) {
  uint64_t number;
  return slp_desc_number(id, &number) && number < c->listing.newest;
}

void slp_listing_took(slp_consumer *c) {
  keep_newest(c);
  c->listing.done = c->listing.begun;
  c->listing.ended = c->listing.list.ended != 0;
  if (c->leases) keep_rows(c);
}
uint64_t slp_listing_begun(const slp_consumer *c) { return c->listing.begun; }
uint64_t slp_listing_done(const slp_consumer *c) { return c->listing.done; }
uint64_t slp_listing_next(const slp_consumer *c) { return c->listing.begun + 1; }
uint64_t slp_listing_us(const slp_consumer *c) { return c->listing.us; }

const slp_shard_desc *slp_listing_rows(const slp_consumer *c, size_t *ret_n) {
  *ret_n = c->listing.list.shards_n;
  return c->listing.list.shards;
}

int slp_listing_ended(const slp_consumer *c) { return c->listing.ended; }

void slp_listing_want_status(slp_consumer *c) { c->listing.status_wanted = 1; }
int slp_listing_wants_status(const slp_consumer *c) { return c->listing.status_wanted; }

void slp_listing_take_status(slp_consumer *c, int reshards) {
  c->listing.status_wanted = 0;
  c->listing.status = reshards ? SLP_STREAM_RESHARDS : SLP_STREAM_SETTLED;
}

slp_stream_state slp_listing_status(const slp_consumer *c) { return (slp_stream_state)c->listing.status; }

int slp_listing_may_tell(slp_consumer *c, slp_told_end what) {
  int may = c->listing.told_end < what;
  if (may) c->listing.told_end = (uint8_t)what;
  return may;
}
slp_told_end slp_listing_told(const slp_consumer *c) { return (slp_told_end)c->listing.told_end; }
void slp_listing_forget_told(slp_consumer *c) { c->listing.told_end = SLP_TOLD_NOTHING; }

void slp_listing_soon(slp_consumer *c, uint64_t in_ms) {
  if (c->life != SLP_LIFE_RUNNING) return;
  if (is_out(c)) {
    c->listing.wanted = 1;
    return;
  }
  uint64_t at_us = slp_after_us(slp_now_us(c->engine->host), in_ms * 1000);
  at_us = slp_paced_us(&c->listing.paced, at_us, LIST_LEAST_US, LIST_MOST_US);
  if (c->timer.at_us > at_us) slp_timer_set_reserved(c->engine->host, &c->timer, at_us);
}

int slp_listing_is_wanted(const slp_consumer *c) { return c->listing.wanted; }

void slp_listing_cancel(slp_consumer *c) {
  if (c->listing.describe_out) c->source->ops->cancel(c->source, &c->listing.describe.rq);
  if (c->listing.list_out) c->source->ops->cancel(c->source, &c->listing.list.rq);
  c->listing.describe_out = c->listing.list_out = 0;
  slp_timer_clear(c->engine->host, &c->timer);
}

/* ---- the user's own listing -------------------------------------------------------------------------- */

int slp_listing_ask(slp_consumer *c, sloop_list_cb cb, void *arg) {
  if (c->listing.cb || !cb) return SLOOP_ESTATE;
  c->listing.cb = cb;
  c->listing.cb_arg = arg;
  return 0;
}

int slp_listing_is_asked(const slp_consumer *c) { return c->listing.cb != NULL; }

void slp_listing_forget(slp_consumer *c) {
  c->listing.cb = NULL;
  slp_unpost(&c->listing.end_ev);
}

static void on_end_event(slp_event *ev) {
  slp_consumer *c = SLP_OWNER(ev, slp_consumer, listing.end_ev);
  if (slp_report_pending(c)) /* the fatal error is reported first */
    slp_post(c->engine->host, ev);
  else
    slp_listing_tell(c, &c->listing.end);
}

void slp_listing_end(slp_consumer *c, const slp_fail *f) {
  if (!c->listing.cb) return;
  c->listing.end = *f;
  c->listing.end_ev.run = on_end_event;
  slp_post(c->engine->host, &c->listing.end_ev);
}

static const char *text_or_empty(slp_buf *texts, slp_str s) {
  if (!s.n) return "";
  char *at = texts->p + texts->n;
  slp_buf_add(texts, s.p, s.n);
  slp_buf_add_char(texts, 0);
  return at;
}

static int by_id(const void *a, const void *b) {
  return strcmp((*(const sloop_shard_t *const *)a)->id, (*(const sloop_shard_t *const *)b)->id);
}

/* Calls the user's callback with the listing. The caller must do nothing afterwards. All texts of the listing
 * are in one block of memory. */
void slp_listing_tell(slp_consumer *c, const slp_fail *f) {
  if (!c->listing.cb) return;
  sloop_list_cb cb = c->listing.cb;
  void *arg = c->listing.cb_arg;
  slp_mem *mem = slp_mem_hold(c->mem);
  size_t n = f->class == SLP_FINE ? c->listing.list.shards_n : 0, bytes = 1;
  c->listing.cb = NULL;
  for (size_t i = 0; i < n; i++) {
    const slp_shard_desc *d = &c->listing.list.shards[i];
    bytes += d->id.n + d->parent.n + d->adjacent_parent.n + d->hash_start.n + d->hash_end.n + d->seq_start.n +
             d->seq_end.n + 7;
  }
  slp_buf texts;
  slp_buf_init(&texts, mem, SIZE_MAX / 2);
  sloop_shard_t *shards = slp_zalloc_n(mem, n ? n : 1, sizeof *shards);
  const sloop_shard_t **sorted = slp_zalloc_n(mem, n ? n : 1, sizeof(const sloop_shard_t *));
  int r = shards && sorted && slp_buf_reserve(&texts, bytes) == 0 ? f->code : SLP_ENOMEM;
  for (size_t i = 0; r == 0 && i < n; i++) {
    const slp_shard_desc *d = &c->listing.list.shards[i];
    shards[i] = (sloop_shard_t){text_or_empty(&texts, d->id),
                                text_or_empty(&texts, d->parent),
                                text_or_empty(&texts, d->adjacent_parent),
                                text_or_empty(&texts, d->hash_start),
                                text_or_empty(&texts, d->hash_end),
                                text_or_empty(&texts, d->seq_start),
                                text_or_empty(&texts, d->seq_end),
                                d->seq_end.p != NULL,
                                c->listing.list.placement};
    sorted[i] = &shards[i];
  }
  if (r == 0 && n) qsort(sorted, n, sizeof(const sloop_shard_t *), by_id);
  sloop_error_t e = {r,
                     0,
                     f->http_status,
                     1,
                     UINT64_MAX,
                     f->aws_code,
                     f->request_id,
                     "",
                     r == SLP_ENOMEM ? "no memory for the list of shards" : f->message};
  cb(c->handle, r, r ? NULL : sorted, r ? 0 : n, r ? &e : NULL, arg);
  slp_free(mem, sorted);
  slp_free(mem, shards);
  slp_buf_free(&texts);
  slp_mem_drop(mem);
}
