/* deliver.c - batches out of the merge: which record may leave now, how long a silent shard may hold
 * the others back, and what is late.
 *
 * A record leaves when its key is the least in the merge: every other shard has a later head buffered or
 * a later watermark. When the least entry is a watermark, its shard holds everybody back. That is right
 * while it answers, and in a backlog it is waited for. A shard whose last call failed, or, at the tip, has
 * not answered for order_wait_ms, is set aside; what it brings later is flagged late. */
#include "base/probe.h"
#include "core/core.h"

/* Records younger than this are "at the tip": there, waiting for a silent shard costs the user latency. */
#define YOUNG_MS 10000

static slp_shard *shard_of(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, queue.node); }

void slp_deliver_soon(slp_engine *e) { slp_post(e->host, &e->delivery.ev); }

static void on_timer(slp_timer *t) { slp_deliver_soon(SLP_OWNER(t, slp_engine, delivery.timer)); }

void slp_deliver_init(slp_engine *e) {
  e->delivery.ev.run = slp_deliver_run;
  e->delivery.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
}

void slp_deliver_free(slp_engine *e) {
  slp_unpost(&e->delivery.ev);
  slp_timer_clear(e->host, &e->delivery.timer);
}

void slp_deliver_anew(slp_engine *e) { e->delivery.any_out = 0; }

void slp_deliver_forget(slp_shard *s) {
  slp_delivery *d = &s->consumer->engine->delivery;
  if (d->blocker == s) d->blocker = NULL;
}

/* Wakes us at at_us at the latest. Without memory for the timer the next event does it. */
static void look_again(slp_engine *e, uint64_t at_us) {
  if (at_us == UINT64_MAX || e->delivery.timer.at_us <= at_us) return;
  slp_timer_set_reserved(e->host, &e->delivery.timer, at_us);
}

/* Looks at every shard, so its "no" is believed for a while. */
static int waiting_is_young(slp_engine *e, const slp_shard *blocker) {
  uint64_t now = slp_now_us(e->host);
  if (now < e->delivery.backlog_until_us) return 0;
  slp_merge_node *first = slp_merge_first_ready(&e->merge);
  int64_t now_ms = slp_svctime_low_ms(&blocker->consumer->service, now);
  if (first && now_ms != INT64_MIN && first->key.time > now_ms - YOUNG_MS) return 1;
  e->delivery.backlog_until_us = now + 200000;
  return 0;
}

/* When the shard that holds the merge back stops counting; UINT64_MAX: it is waited for. */
static uint64_t patience(slp_engine *e, const slp_shard *s) {
  if (e->order_wait_ms == UINT32_MAX || e->merge.ready_n == 0) return UINT64_MAX;
  int silent = s->reader.state == SLP_READER_FETCHING || s->reader.state == SLP_READER_LOCATING;
  uint64_t since_us = s->reader.failing_since_us ? s->reader.failing_since_us : s->reader.sent_us;
  if (!s->reader.failing_since_us && (!silent || slp_engine_is_stalled(s) || s->reader.is_behind))
    return UINT64_MAX;
  /* Being throttled is normal while a backlog is read, and its records are the earliest there are. */
  if (s->reader.throttled && s->reader.is_behind) return UINT64_MAX;
  uint64_t until =
      slp_after_us(slp_max_u64(since_us, e->delivery.blocked_since_us), (uint64_t)e->order_wait_ms * 1000);
  if (slp_now_us(e->host) < until) return until;
  if (s->reader.failing_since_us && !s->reader.throttled) return until;
  return waiting_is_young(e, s) ? until : slp_max_u64(until, e->delivery.backlog_until_us);
}

/* The least entry is a drained shard. 1: it was set aside, look again. */
static int wait_or_set_aside(slp_engine *e, slp_shard *s) {
  uint64_t now = slp_now_us(e->host);
  if (e->merge.ready_n == 0) {
    e->delivery.blocker = NULL;
    return 0;
  }
  if (e->delivery.blocker != s) {
    e->delivery.blocker = s;
    e->delivery.blocked_since_us = now;
  }
  /* It is at its tip and would be asked again after poll_ms; but shards with a backlog wait for it, and what
   * they may buffer meanwhile is soon full. */
  if (e->calls.behind_n) slp_reader_hurry(s);
  uint64_t until = patience(e, s);
  if (now < until) {
    look_again(e, until);
    return 0;
  }
  slp_report_log(s->consumer, SLOOP_LOG_INFO, "order: shard set aside, it holds nobody back now shard=%s",
                 s->name->shard);
  slp_queue_set_aside(s);
  e->delivery.blocker = NULL;
  return 1;
}

void slp_deliver_blocked_lift(slp_shard *s) {
  if (!slp_queue_take_back(s)) return;
  SLP_PROBE("deliver: who was set aside is back");
  slp_queue_put_in_order(s);
}

static int batch_full(const slp_engine *e, const slp_batch *b, uint32_t next_bytes) {
  return b->n >= e->batch_records_max ||
         (b->n && b->payload_bytes + (SLP_MUTANT(batch_one_too_many) ? 0 : next_bytes) > e->batch_bytes_max);
}

/* The order is decided by sequence numbers that were read long ago and lie in cold memory: waiting for each
 * costs more than all else of the merge. So those of records to come are touched in time. A load that nobody
 * waits for and not a prefetch, which is dropped when the address is not translated yet (seen in a virtual
 * machine). */
#define NEAR_RECORDS 8
static void bring_near(const slp_buffered *buffered, uint32_t i) {
  const slp_page *page = buffered->page;
  if (buffered->n - i <= NEAR_RECORDS) return;
  const slp_rec *r = &page->recs[i + NEAR_RECORDS];
  const volatile char *text = page->body.p + r->seq_at;
  (void)text[0];
  (void)text[r->seq_n - 1]; /* it may lie across two lines */
}

/* The latest key handed out; NULL stands for "no order across shards". */
typedef struct latest {
  slp_key key;
  int known;
} latest;

static int is_before(const slp_key *key, const latest *out) {
  return out->known && slp_key_cmp(key, &out->key) < 0;
}

/* Moves the shard's head into the batch. 0; 1: it has to wait; SLP_ENOMEM. */
static int move_head(slp_engine *e, slp_batch *b, slp_shard *s, latest *out) {
  slp_buffered *buffered;
  uint32_t i;
  int redelivered;
  if (!slp_queue_head(s, &buffered, &i, &redelivered)) return 1;
  if (redelivered && s->queue.redeliver_at_us > slp_now_us(e->host) && !SLP_MUTANT(no_rest_after_give_back)) {
    look_again(e, s->queue.redeliver_at_us);
    return 1;
  }
  if (batch_full(e, b, buffered->page->recs[i].data_n)) return 1;
  if (redelivered && slp_queue_is_dead(s, buffered, i)) {
    if (b->n) return 1; /* it goes alone */
    b->dead = 1;
  }
  slp_key key = slp_queue_key(s, buffered, i);
  int in_order = out && !redelivered, before = in_order && is_before(&key, out),
      late = before && !SLP_MUTANT(late_not_flagged);
  int r = slp_batch_add(b, s, buffered, i,
                        (late ? SLOOP_REC_LATE : 0) | (redelivered ? SLOOP_REC_REDELIVERED : 0));
  if (r) return r;
  if (in_order && !before)
    *out = (latest){key, 1}; /* of what is in the batch: others may still come before */
  if (b->dead) s->queue.tried.dead = 0;
  bring_near(buffered, i);
  slp_queue_take(s, buffered, i, redelivered, &key);
  slp_queue_put_in_order(s);
  return b->dead;
}

/* As many records as may leave now and fit. */
static int fill_by_time(slp_engine *e, slp_batch *b) {
  latest out = {e->delivery.last_out, e->delivery.any_out};
  int r = 0;
  slp_merge_node *top;
  while (!r && (top = slp_merge_top(&e->merge))) {
    slp_shard *s = shard_of(top);
    if (!top->ready) {
      if (!wait_or_set_aside(e, s)) break;
      continue;
    }
    e->delivery.blocker = NULL;
    if (b->consumer && b->consumer != s->consumer) break; /* a batch is of one consumer */
    b->consumer = s->consumer;
    r = move_head(e, b, s, &out);
  }
  if (out.known && out.key.seq.p != e->delivery.last_out_seq) {
    memcpy(e->delivery.last_out_seq, out.key.seq.p, out.key.seq.n);
    e->delivery.last_out = (slp_key){out.key.time, {e->delivery.last_out_seq, out.key.seq.n}, out.key.sub};
  }
  e->delivery.any_out = (uint8_t)out.known;
  return r < 0 ? r : 0;
}

/* The next shard in turn that may send a batch. */
static slp_shard *next_ready_shard(slp_engine *e) {
  uint64_t now = slp_now_us(e->host);
  SLP_LIST_EACH(&e->ready_shards, it) {
    slp_shard *s = SLP_OWNER(it, slp_shard, queue.ready_link);
    if (s->queue.batches_out >= e->batches_out_max) continue;
    if (s->queue.redelivered_n && s->queue.redeliver_at_us > now) {
      look_again(e, s->queue.redeliver_at_us);
      continue;
    }
    return s;
  }
  return NULL;
}

static int fill_by_shard(slp_engine *e, slp_batch *b) {
  slp_shard *s = next_ready_shard(e);
  int r = 0;
  if (!s) return 0;
  b->consumer = s->consumer;
  b->shard = s;
  while (!r) r = move_head(e, b, s, NULL);
  if (slp_list_linked(&s->queue.ready_link)) { /* to the end of the queue */
    slp_list_remove(&s->queue.ready_link);
    slp_list_add_last(&e->ready_shards, &s->queue.ready_link);
  }
  return r < 0 ? r : 0;
}

/* Callbacks that are due already come first: a loss is told before the records behind its gap. */
static int somebody_is_being_told(const slp_engine *e) {
  SLP_LIST_EACH(&e->consumers, it) {
    if ((SLP_OWNER(it, slp_consumer, link))->notices.n) return 1;
  }
  return 0;
}

void slp_deliver_run(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, delivery.ev);
  if (somebody_is_being_told(e)) {
    slp_deliver_soon(e);
    return;
  }
  int by_time = e->order == SLOOP_ORDER_TIME;
  if (by_time && e->batches_out >= e->batches_out_max + (SLP_MUTANT(one_batch_more) ? 1 : 0)) return;
  slp_batch *b = slp_batch_new(e);
  if (!b) {
    look_again(e, slp_after_us(slp_now_us(e->host), 100000));
    return;
  }
  SLP_LIST_EACH(&e->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    if (c->leases) c->leases->ops->gate(c->leases);
  }
  b->engine = e;
  int r = by_time ? fill_by_time(e, b) : fill_by_shard(e, b);
  if (b->n == 0) {
    slp_batch_recycle(b);
    if (r) look_again(e, slp_after_us(slp_now_us(e->host), 100000));
    slp_engine_pump(e); /* whoever holds us back may need to go beyond the budget */
    SLP_LIST_EACH(&e->consumers, it) slp_consumer_check(SLP_OWNER(it, slp_consumer, link));
    return;
  }
  slp_deliver_soon(e); /* there may be more */
  if (b->dead)
    slp_batch_bury(b);
  else
    slp_batch_send(b);
}
