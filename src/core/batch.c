/* batch.c - records out with the user, and the memory they point into. A batch outlives its consumer:
 * it holds its allocator and its pages, and looks at no dead object. */
#include "base/probe.h"
#include "core/core.h"

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

void slp_batch_free(slp_batch *b) {
  if (!b) return;
  slp_mem *mem = b->mem;
  slp_free(mem, b->recs);
  slp_free(mem, b->items);
  slp_free(mem, b->acked);
  slp_free(mem, b);
  slp_mem_drop(mem);
}

void slp_batch_recycle(slp_batch *b) {
  slp_engine *e = b->engine;
  if (!e || e->batches.spare) {
    slp_batch_free(b);
    return;
  }
  b->consumer = NULL;
  b->shard = NULL;
  b->n = 0;
  b->out = b->dead = 0;
  b->payload_bytes = 0;
  if (b->acked) memset(b->acked, 0, (b->cap + 7) / 8);
  e->batches.spare = b;
}

static int grow(slp_batch *b, uint32_t max) {
  uint32_t cap = b->cap ? b->cap * 2 : 16;
  if (cap > max) cap = max;
  void *recs = slp_realloc(b->mem, b->recs, cap * sizeof *b->recs);
  if (recs) b->recs = recs;
  void *items = slp_realloc(b->mem, b->items, cap * sizeof *b->items);
  if (items) b->items = items;
  uint8_t *acked = slp_realloc(b->mem, b->acked, (cap + 7) / 8);
  if (acked) b->acked = acked;
  if (!recs || !items || !acked) return SLP_ENOMEM;
  memset(acked, 0, (cap + 7) / 8);
  b->cap = cap;
  return 0;
}

/* The fields that only records of DynamoDB Streams have. */
static void add_change(sloop_record_t *rec, const slp_page *page, const slp_rec_change *c) {
  const char *body = page->body.p;
  rec->event = (sloop_str_t){body + c->event_at, c->event_n};
  rec->event_id = (sloop_str_t){body + c->id_at, c->id_n};
  rec->user = (sloop_str_t){body + c->user_at, c->user_n};
  rec->whole = (sloop_str_t){body + c->whole_at, c->whole_n};
}

int slp_batch_add(slp_batch *b, slp_shard *s, slp_buffered *buffered, uint32_t i, uint32_t flags) {
  if (b->n == b->cap && grow(b, s->consumer->engine->batch_records_max)) return SLP_ENOMEM;
  const slp_page *page = buffered->page;
  const slp_rec *r = &page->recs[i];
  slp_str seq = slp_rec_seq(page, r), key = slp_rec_key(page, r), data = slp_rec_data(page, r);
  b->items[b->n].buffered = buffered;
  b->items[b->n].i = i;
  b->recs[b->n] = (sloop_record_t){
      .stream = buffered->name->stream,
      .shard = buffered->name->shard,
      .seq = {seq.p, seq.n},
      .sub = r->sub,
      .key = {key.p, key.n},
      .data = {data.p, data.n},
      .arrived_at_ms = r->arrived_ms,
      .epoch = buffered->name->epoch,
      .attempt = flags & SLOOP_REC_REDELIVERED
                     ? 1u + (buffered->attempts && buffered->attempts[i] ? buffered->attempts[i] : 1u)
                     : 1u,
      .flags = flags | (r->flags & SLP_REC_RAW ? SLOOP_REC_RAW : 0) |
               (r->flags & SLP_REC_FOREIGN ? SLOOP_REC_FOREIGN : 0),
      .event = {"", 0}, /* base is never NULL */
      .event_id = {"", 0},
      .user = {"", 0},
      .whole = {"", 0},
  };
  if (page->changes) add_change(&b->recs[b->n], page, &page->changes[i]);
  b->n++;
  b->payload_bytes += r->data_n;
  s->lease.bytes += r->data_n;
  b->behind_ms = buffered->behind_ms;
  return 0;
}

static void count(slp_counts *n, const slp_batch *b) {
  n->batches++;
  n->records += b->n;
  n->payload_bytes += b->payload_bytes;
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t f = b->recs[i].flags;
    if (!f) continue;
    n->late += (f & SLOOP_REC_LATE) != 0;
    n->raw += (f & SLOOP_REC_RAW) != 0;
    n->redelivered += (f & SLOOP_REC_REDELIVERED) != 0;
    n->foreign += (f & SLOOP_REC_FOREIGN) != 0;
  }
}

/* From here on the batch is out. */
static void hand_out(slp_batch *b) {
  slp_consumer *c = b->consumer;
  slp_engine *e = c->engine;
  b->engine = e;
  b->out = 1;
  b->charged = b->cap * (sizeof *b->recs + sizeof *b->items);
  slp_budget_force(&e->budget, b->charged);
  slp_list_add_last(&e->batches.out, &b->link);
  e->batches.out_n++;
  c->sum.batches_out++;
  if (b->shard) b->shard->batches.out_n++;
  c->tip_told = 0;
}

void slp_batch_send(slp_batch *b) {
  slp_consumer *c = b->consumer;
  hand_out(b);
  count(&c->counts, b);
  c->o->on_batch(c->handle, b, c->o->arg); /* b may be back already, and anything may have happened */
}

void slp_batch_bury(slp_batch *b) {
  slp_consumer *c = b->consumer;
  hand_out(b);
  SLP_PROBE("batch: a dead letter");
  c->counts.dead_letters++;
  c->o->on_dead_letter(c->handle, &b->recs[0], c->o->arg); /* c may be gone now; b is not */
  slp_batch_done(b, 1);
}

int slp_batch_owned(slp_batch *b, size_t index) {
  SLP_CHECK(b->out && index < b->n);
  slp_consumer *c = b->consumer;
  if (!c || !b->items[index].buffered->shard) return -1;
  if (c->leases) c->leases->ops->gate(c->leases);
  return !c->suspended;
}

void slp_batch_ack(slp_batch *b, size_t index) {
  SLP_CHECK(b->out && index < b->n);
  slp_buffered *buffered = b->items[index].buffered;
  slp_shard *s = b->consumer ? buffered->shard : NULL;
  int again = b->acked[index / 8] >> (index % 8) & 1;
  b->acked[index / 8] |= (uint8_t)(1u << (index % 8));
  slp_queue_ack(buffered, b->items[index].i);
  /* A batch may be held for long: what is acknowledged of it is saved meanwhile. */
  if (s && !again && s->consumer->leases) s->consumer->leases->ops->settled(s->consumer->leases, s, 1);
}

/* Acknowledges and gives back; afterwards no item may be looked at. Shards to settle go to `touched`. */
static void give_in(slp_batch *b, size_t acked, slp_list *touched) {
  for (uint32_t i = 0; i < b->n; i++) {
    slp_buffered *buffered = b->items[i].buffered;
    slp_shard *s = buffered->shard;
    if (i < acked) slp_queue_ack(buffered, b->items[i].i);
    if (slp_queue_return(buffered, b->items[i].i)) slp_order_come_back(s);
    if (s && !slp_list_linked(&s->batches.touched_link)) slp_list_add_last(touched, &s->batches.touched_link);
  }
}

/* A record came back too often. Nothing behind it may be handed out, since the order and the acknowledged
 * prefix end at it, so the shard is given up. */
static void give_up(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_fail f = {0};
  if (slp_reading_state(s) == SLP_READER_GONE || s->lease.drain) return;
  slp_fail_set(&f, SLP_REFUSED, SLOOP_ESTATE, "a record came back %u times; %s", (unsigned)c->o->retry_max,
               c->o->on_retry == SLOOP_RETRY_PARK ? "the shard is parked"
               : c->leases                        ? "the shard goes to another worker"
                                                  : "the shard is not read any further");
  if (c->leases) {
    slp_report_error(c, &f, s, 0, 1, UINT64_MAX);
    c->leases->ops->hopeless(c->leases, s, c->o->on_retry == SLOOP_RETRY_PARK);
  } else {
    slp_reader_give_up(s, &f);
  }
}

/* After all records of the batch were acknowledged or given back. */
static void settle(slp_shard *s) {
  slp_leases *l = s->consumer->leases;
  int acked;
  if (slp_queue_came_back(s, &acked)) give_up(s);
  slp_queue_settle(s);
  if (slp_queue_all_acked(s)) slp_reader_told_end(s);
  if (s->consumer->o->buffered_records_per_shard_max)
    slp_reading_poke(s); /* it may have waited for just this */
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
    slp_batch_free(b);
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
  while ((it = slp_list_pop(&touched))) settle(SLP_OWNER(it, slp_shard, batches.touched_link));
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
  slp_batch_free(e->batches.spare);
}
