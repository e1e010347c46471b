/* batch.c - the records that the user holds, and the memory that these records point into. A batch may
 * outlive its consumer. So it owns references to its allocator and its pages, and its pointers to other
 * objects become NULL when those are freed. */
#include "core/batch.h"

#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/probe.h"
#include "codec/page.h"
#include "core/batch_part.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/core.h"
#include "core/engine_inside.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/order.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/tally.h"

#include <sloop.h>

slp_batch *slp_batch_new(slp_engine *e) {
  slp_batch *b = e->batches.spare;
  if (b) {
    e->batches.spare = NULL;
    return b;
  }
  b = SLP_NEW(e->mem, slp_batch);
  if (!b) return NULL;
  b->mem = slp_mem_hold(e->mem);
  return b;
}

static void free_batch(slp_batch *b) {
  if (!b) return;
  slp_mem *mem = b->mem;
  slp_free(mem, b->recs);
  slp_free(mem, b->items);
  slp_free(mem, b->runs);
  slp_free(mem, b);
  slp_mem_drop(mem);
}

/* The value of the fields event, event_id, user and whole in Kinesis records, which have no such data;
 * records of DynamoDB Streams do. The fields are set to `nothing` when the array of records grows, and not
 * again for every record. */
static const char nothing[] = "";
static void clear_changes(slp_batch *b, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    sloop_record_t *rec = &b->recs[i];
    rec->event = rec->event_id = rec->user = rec->whole = (sloop_str_t){nothing, 0};
  }
}

void slp_batch_recycle(slp_batch *b) {
  slp_engine *e = b->engine;
  if (!e || e->batches.spare) {
    free_batch(b);
    return;
  }
  b->consumer = NULL;
  b->shard = NULL;
  b->user = NULL;
  /* If the records were changes of DynamoDB Streams, their four fields must be set to `nothing` again. All
   * records of a batch are of one stream, so the first record shows that. */
  if (b->n && b->recs[0].whole.base != nothing) clear_changes(b, 0, b->n);
  b->n = b->runs_n = b->flags = 0;
  b->out = b->dead = 0;
  b->payload_bytes = 0;
  e->batches.spare = b;
}

int slp_batch_grow(slp_batch *b) {
  uint32_t max = b->consumer->engine->batch_records_max;
  uint32_t cap = b->cap ? b->cap * 2 : 16;
  if (cap > max) cap = max;
  void *recs = slp_realloc(b->mem, b->recs, cap * sizeof *b->recs);
  if (recs) b->recs = recs;
  void *items = slp_realloc(b->mem, b->items, cap * sizeof *b->items);
  if (items) b->items = items;
  void *runs = slp_realloc(b->mem, b->runs, cap * sizeof *b->runs);
  if (runs) b->runs = runs;
  if (!recs || !items || !runs) return SLP_ENOMEM;
  clear_changes(b, b->cap, cap);
  b->cap = cap;
  return 0;
}

/* Sets the four fields that only records of DynamoDB Streams have. */
static void add_change(sloop_record_t *rec, const slp_page *page, const slp_rec_change *c) {
  const char *body = page->body.p;
  rec->event = (sloop_str_t){body + c->event_at, c->event_n};
  rec->event_id = (sloop_str_t){body + c->id_at, c->id_n};
  rec->user = (sloop_str_t){body + c->user_at, c->user_n};
  rec->whole = (sloop_str_t){body + c->whole_at, c->whole_n};
}

/* Returns the index in b->runs of the run (slp_batch_run) that record i of the page belongs to. If record i
 * follows the page's last run in this batch, that run becomes longer by the record; otherwise the record
 * begins a new run. */
static uint32_t run_with(slp_batch *b, slp_buffered *buffered, uint32_t i) {
  if (buffered->run < b->runs_n) {
    slp_batch_run *run = &b->runs[buffered->run];
    if (run->buffered == buffered && run->first + run->n == i) {
      run->n++;
      return buffered->run;
    }
  }
  b->runs[b->runs_n] = (slp_batch_run){buffered, i, 1};
  buffered->run = b->runs_n++;
  return buffered->run;
}

static uint32_t attempt_of(const slp_buffered *buffered, uint32_t i) {
  return 1u + (buffered->attempts && buffered->attempts[i] ? buffered->attempts[i] : 1u);
}

static uint32_t public_flags(const slp_rec *r) {
  return (r->flags & SLP_REC_RAW ? SLOOP_REC_RAW : 0) | (r->flags & SLP_REC_FOREIGN ? SLOOP_REC_FOREIGN : 0) |
         (r->flags & SLP_REC_KEYLESS ? SLOOP_REC_KEYLESS : 0);
}

void slp_batch_add(slp_batch *b, slp_buffered *buffered, uint32_t i, uint32_t flags) {
  sloop_record_t *rec = &b->recs[b->n];
  b->items[b->n++] = (slp_batch_item){run_with(b, buffered, i), i};
  const slp_page *page = buffered->page;
  const slp_rec *r = &page->recs[i];
  const char *body = page->body.p;
  b->payload_bytes += r->data_n;
  buffered->shard->lease.bytes += r->data_n;
  if (r->flags) flags |= public_flags(r);
  b->flags |= flags;
  rec->stream = buffered->name->stream;
  rec->shard = buffered->name->shard;
  rec->seq = (sloop_str_t){body + r->seq_at, r->seq_n};
  rec->sub = r->sub;
  rec->key = (sloop_str_t){body + r->key_at, r->key_n};
  rec->data = (sloop_str_t){body + r->data_at, r->data_n};
  rec->arrived_at_ms = r->arrived_ms;
  rec->epoch = buffered->name->epoch;
  rec->attempt = flags & SLOOP_REC_REDELIVERED ? attempt_of(buffered, i) : 1;
  rec->flags = flags;
  if (page->changes) add_change(rec, page, &page->changes[i]);
}

static const slp_batch_run *run_of(const slp_batch *b, size_t index) { return &b->runs[b->items[index].run]; }

static void count_batch(slp_counts *n, const slp_batch *b) {
  n->batches++;
  n->records += b->n;
  n->payload_bytes += b->payload_bytes;
  for (uint32_t i = 0; b->flags && i < b->n; i++) {
    uint32_t f = b->recs[i].flags;
    n->late += (f & SLOOP_REC_LATE) != 0;
    n->raw += (f & SLOOP_REC_RAW) != 0;
    n->redelivered += (f & SLOOP_REC_REDELIVERED) != 0;
    n->foreign += (f & SLOOP_REC_FOREIGN) != 0;
  }
}

/* Puts the batch into the list of batches that the user holds, and charges its arrays to the budget. */
static void hand_out(slp_batch *b) {
  slp_consumer *c = b->consumer;
  slp_engine *e = c->engine;
  b->engine = e;
  b->out = 1;
  b->behind_ms = run_of(b, b->n - 1)->buffered->behind_ms;
  b->charged = b->cap * (sizeof *b->recs + sizeof *b->items + sizeof *b->runs);
  slp_budget_force(&e->budget, b->charged);
  slp_list_add_last(&e->batches.out, &b->link);
  e->batches.out_n++;
  c->sum.batches_out++;
  c->sum.queued_n -= b->n;
  if (b->shard) b->shard->batches.out_n++;
  c->tip_told = 0;
}

void slp_batch_send(slp_batch *b) {
  slp_consumer *c = b->consumer;
  hand_out(b);
  count_batch(&c->counts, b);
  c->o->on_batch(c->handle, b, c->o->arg); /* on_batch may have freed b and c, so neither may be used now */
}

void slp_batch_bury(slp_batch *b) {
  slp_consumer *c = b->consumer;
  hand_out(b);
  SLP_PROBE("batch: a dead letter");
  c->counts.dead_letters++;
  c->o->on_dead_letter(c->handle, &b->recs[0], c->o->arg); /* on_dead_letter may have freed c, but not b */
  slp_batch_done(b, 1);
}

int slp_batch_owned(slp_batch *b, size_t index) {
  SLP_CHECK(b->out && index < b->n);
  slp_consumer *c = b->consumer;
  if (!c || c->life == SLP_LIFE_CLOSING || !run_of(b, index)->buffered->shard) return -1;
  /* After a fatal error the worker still has its shards in memory, but writes no more positions. */
  if (c->leases && c->leases->ops->left(c->leases)) return -1;
  if (c->leases) c->leases->ops->gate(c->leases);
  return !c->suspended;
}

void slp_batch_ack(slp_batch *b, size_t index) {
  SLP_CHECK(b->out && index < b->n);
  slp_buffered *buffered = run_of(b, index)->buffered;
  slp_shard *s = b->consumer ? buffered->shard : NULL;
  int fresh = slp_queue_ack(buffered, b->items[index].i, 1) > 0;
  if (s && fresh) slp_queue_note_ack(s);
  /* With leases: reports the acknowledgement to lease/ at once, because the user may hold the batch for
   * long. */
  if (s && fresh && s->consumer->leases) s->consumer->leases->ops->settled(s->consumer->leases, s, 1);
}

/* Acknowledges the first `acked` records of the batch and gives the others back to their queues. Adds each
 * shard of the batch to `touched`; the caller must call settle_shard() for each. Afterwards the caller must
 * not read the batch's items, because their pages may be freed. */
static void give_in(slp_batch *b, size_t acked, slp_list *touched) {
  if (acked < b->n) {
    for (uint32_t i = 0; i < acked; i++) (void)slp_queue_ack(run_of(b, i)->buffered, b->items[i].i, 1);
  }
  for (const slp_batch_run *run = b->runs; run < b->runs + b->runs_n; run++) {
    slp_buffered *buffered = run->buffered;
    slp_shard *s = buffered->shard;
    if (acked == b->n) (void)slp_queue_ack(buffered, run->first, run->n);
    if (slp_queue_return(buffered, run->first, run->n)) slp_order_come_back(s);
    if (s && !slp_list_linked(&s->batches.touched_link)) slp_list_add_last(touched, &s->batches.touched_link);
  }
}

/* Gives the shard up because one of its records came back too often. No later record of the shard may be
 * handed out, because neither the order nor the acknowledged prefix can get past that record. */
static void give_up(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_fail f = {0};
  int gone = slp_reading_state(s) == SLP_READER_GONE;
  /* There is nothing to do if the lease is being given up already, or if reading of the shard has failed for
   * good (`gone`). One exception: a failed shard without a lease may still have fetched records to hand
   * out. */
  if (s->lease.drain || (gone && (c->leases || slp_queue_empty(s)))) return;
  slp_fail_set(&f, SLP_REFUSED, SLOOP_ESTATE, "a record was returned %u times; %s", (unsigned)c->o->retry_max,
               c->o->on_retry == SLOOP_RETRY_PARK ? "the shard is parked"
               : c->leases                        ? "the shard goes to another worker"
                                                  : "the shard is not read any further");
  if (c->leases) {
    slp_report_error(c, &f, s, 0, 1, UINT64_MAX);
    c->leases->ops->hopeless(c->leases, s,
                             c->o->on_retry == SLOOP_RETRY_PARK ? SLP_HOPELESS_PARK : SLP_HOPELESS_HERE);
  } else {
    slp_reader_give_up(s, &f);
  }
}

/* Updates a shard after its records in a batch were acknowledged or given back. */
static void settle_shard(slp_shard *s) {
  slp_leases *l = s->consumer->leases;
  int acked;
  if (slp_queue_came_back(s, &acked)) give_up(s);
  slp_queue_settle(s);
  if (slp_queue_all_acked(s)) slp_reader_told_end(s);
  if (s->consumer->o->buffered_records_per_shard_max)
    slp_reading_poke(s); /* the reader may have waited until fewer records are unacknowledged */
  slp_order_update(s);
  if (l) l->ops->settled(l, s, acked);
}

void slp_batch_done(slp_batch *b, size_t acked) {
  SLP_CHECK(b->out && acked <= b->n);
  slp_list touched;
  slp_list_init(&touched);
  give_in(b, acked, &touched);
  b->out = 0;
  slp_engine *e = b->engine;
  slp_consumer *c = b->consumer;
  if (!c) {
    free_batch(b);
    return;
  }
  slp_list_remove(&b->link);
  slp_budget_give(&e->budget, b->charged);
  SLP_CHECK(e->batches.out_n > 0 && c->sum.batches_out > 0);
  e->batches.out_n--;
  c->sum.batches_out--;
  if (b->shard) b->shard->batches.out_n--;
  slp_batch_recycle(b);
  slp_list *it;
  while ((it = slp_list_pop(&touched))) settle_shard(SLP_OWNER(it, slp_shard, batches.touched_link));
  if (SLP_MUTANT(delivers_inside)) e->deliver_ev.run(&e->deliver_ev);
  slp_deliver_soon(e);
  slp_pump_soon(e);
  slp_consumer_check(c);
}

void slp_batches_forget_shard(slp_shard *s) {
  SLP_LIST_EACH(&s->consumer->engine->batches.out, it) {
    slp_batch *b = SLP_OWNER(it, slp_batch, link);
    if (b->shard == s) b->shard = NULL;
  }
}

void slp_batches_forget_shards(slp_consumer *c) {
  SLP_LIST_EACH(&c->engine->batches.out, it) {
    slp_batch *b = SLP_OWNER(it, slp_batch, link);
    if (b->consumer == c) b->shard = NULL;
  }
}

void slp_batches_orphan(slp_engine *e, slp_consumer *c) {
  slp_list *it = e->batches.out.next;
  while (it != &e->batches.out) {
    slp_batch *b = SLP_OWNER(it, slp_batch, link);
    it = it->next;
    if (b->consumer != c) continue;
    slp_list_remove(&b->link);
    slp_budget_give(&e->budget, b->charged);
    e->batches.out_n--;
    b->consumer = NULL;
    b->engine = NULL;
    b->shard = NULL;
  }
}

uint32_t slp_batches_out(const slp_engine *e) { return e->batches.out_n; }
uint32_t slp_batches_of(const slp_shard *s) { return s->batches.out_n; }
void slp_batches_init(slp_engine *e) { slp_list_init(&e->batches.out); }

void slp_batches_free(slp_engine *e) {
  SLP_CHECK(slp_list_empty(&e->batches.out));
  free_batch(e->batches.spare);
}
