/* batch.c, queue.c and deliver.c against a model that remembers every record: batches over pages and shards are
 * acknowledged in part, whole or record by record, given back, taken off the shard they are of, and buried. */
#include "core/consumer.h"
#include "core/batch.h"
#include "core/batch_part.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/merge.h"
#include "core/order.h"
#include "core/order_part.h"
#include "core/queue.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/standing.h"

#include "aws_fake_host.h"
#include "rnd.h"

enum { SHARDS = 3, PAGES = 3, EACH = 19, ALL = SHARDS * PAGES * EACH, BATCHES = 4, TRIES = 3 };

typedef enum state { QUEUED, OUT, BACK, ACKED, GONE } state;

/* The last shard is of another consumer of the same engine, which reads the changes of a table. */
typedef struct fixture {
  fake_host host;
  slp_mem *mem;
  slp_engine *engine;
  slp_consumer consumers[2];
  sloop_opts_t opts;
  slp_shard shards[SHARDS];
  uint8_t detached[SHARDS];
  state is[ALL];
  uint32_t tries[ALL];
  sloop_batch_t *out[BATCHES];
  uint32_t out_n, whole_n, again_n, dead_n, again_max;
  slp_counts told;
} fixture;
static fixture f;

static uint32_t number_of(const sloop_record_t *r) {
  uint32_t n = 0;
  for (size_t i = 0; i < r->seq.len; i++) n = n * 10 + (uint32_t)(r->seq.base[i] - '0');
  CHECK(n >= 1000 && n < 1000 + ALL);
  return n - 1000;
}
static uint32_t shard_of(uint32_t n) { return n / (PAGES * EACH); }
static int is_change(uint32_t n) { return shard_of(n) == SHARDS - 1; }

static uint32_t put(slp_page *page, const char *text) {
  uint32_t at = (uint32_t)page->body.n;
  CHECK_INT(slp_buf_add_z(&page->body, text), 0);
  return at;
}

static void put_record(slp_page *page, uint32_t i, uint32_t n) {
  char text[24];
  slp_rec *r = &page->recs[i];
  snprintf(text, sizeof text, "%u", 1000 + n);
  r->seq_n = (uint8_t)strlen(text);
  r->seq_at = put(page, text);
  r->key_n = (uint16_t)snprintf(text, sizeof text, "key %u", n);
  r->key_at = put(page, text);
  r->data_n = (uint32_t)snprintf(text, sizeof text, "data of %u", n);
  r->data_at = put(page, text);
  r->sub = n % 5;
  r->arrived_ms = n % (PAGES * EACH); /* so shards take turns */
  r->flags = n % 7 == 1 ? SLP_REC_RAW : n % 11 == 1 ? SLP_REC_FOREIGN : 0;
  if (!page->changes) return;
  slp_rec_change *c = &page->changes[i];
  c->whole_at = c->user_at = c->id_at = c->event_at = r->data_at;
  c->whole_n = c->user_n = c->id_n = c->event_n = 4;
}

static void add_page(slp_shard *s, uint32_t first) {
  slp_page *page = slp_page_new(f.mem);
  slp_buffered *buffered = slp_zalloc(f.mem, sizeof *buffered + 2 * ((EACH + 7) / 8));
  CHECK(page && buffered);
  page->recs = slp_zalloc_n(f.mem, EACH, sizeof *page->recs);
  page->recs_cap = page->recs_n = EACH;
  if (is_change(first)) page->changes = slp_zalloc_n(f.mem, EACH, sizeof *page->changes);
  for (uint32_t i = 0; i < EACH; i++) put_record(page, i, first + i);
  buffered->shard = s;
  buffered->engine = f.engine;
  buffered->mem = f.mem;
  buffered->name = slp_name_hold(s->name);
  buffered->page = page;
  buffered->n = buffered->unacked = EACH;
  buffered->redelivered = buffered->bits + (EACH + 7) / 8;
  buffered->service_ms = 1000;
  buffered->behind_ms = first;
  if (slp_has_taken(&s->at)) buffered->prev = s->at.last;
  buffered->charged = slp_page_bytes(page) + slp_alloc_size(buffered);
  slp_budget_force(&f.engine->budget, buffered->charged);
  slp_list_add_last(&s->queue.pages, &buffered->link);
  if (!s->queue.next_page) s->queue.next_page = buffered;
  s->queue.unacked_n += EACH;
  s->queue.queued_n += EACH;
  s->consumer->sum.queued_n += EACH;
  slp_mark_rec(&s->at.last, page, &page->recs[EACH - 1]);
}

static int is_text(sloop_str_t is, const char *format, uint32_t n) {
  char text[24];
  int length = snprintf(text, sizeof text, format, n);
  return is.len == (size_t)length && memcmp(is.base, text, is.len) == 0;
}

/* What the user sees of a record, and that it is the one whose turn it is in its shard. */
static void check_record(const sloop_record_t *r) {
  uint32_t n = number_of(r), first = shard_of(n) * PAGES * EACH, again = f.is[n] == BACK;
  CHECK(f.is[n] == QUEUED || again);
  for (uint32_t i = first; i < n; i++) CHECK(f.is[i] != BACK && (again || f.is[i] != QUEUED));
  for (uint32_t i = n + 1; !again && i < first + PAGES * EACH; i++) CHECK(f.is[i] == QUEUED);
  CHECK_STR(r->shard, f.shards[shard_of(n)].name->shard);
  CHECK(is_text(r->key, "key %u", n) && is_text(r->data, "data of %u", n));
  CHECK_INT(r->sub, n % 5);
  CHECK_INT(r->arrived_at_ms, n % (PAGES * EACH));
  CHECK_INT(r->attempt, f.tries[n] + 1);
  uint32_t flags = n % 7 == 1 ? SLOOP_REC_RAW : n % 11 == 1 ? SLOOP_REC_FOREIGN : 0;
  CHECK_INT(r->flags & ~SLOOP_REC_LATE, flags | (again ? SLOOP_REC_REDELIVERED : 0));
  const sloop_str_t *changes[] = {&r->event, &r->event_id, &r->user, &r->whole};
  for (int i = 0; i < 4; i++) {
    CHECK_INT(changes[i]->len, is_change(n) ? 4 : 0);
    CHECK(changes[i]->base && memcmp(changes[i]->base, "data", changes[i]->len) == 0);
  }
  f.again_n += again;
}

static void count(const sloop_record_t *r) {
  f.told.records++;
  f.told.payload_bytes += r->data.len;
  f.told.late += r->flags & SLOOP_REC_LATE ? 1 : 0;
  f.told.raw += r->flags & SLOOP_REC_RAW ? 1 : 0;
  f.told.redelivered += r->flags & SLOOP_REC_REDELIVERED ? 1 : 0;
  f.told.foreign += r->flags & SLOOP_REC_FOREIGN ? 1 : 0;
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  CHECK(f.out_n < BATCHES);
  for (uint32_t i = 0; i < b->n; i++) {
    check_record(&b->recs[i]);
    count(&b->recs[i]);
    f.is[number_of(&b->recs[i])] = OUT;
  }
  uint32_t last = number_of(&b->recs[b->n - 1]);
  CHECK_INT(b->behind_ms, last / EACH * EACH);
  f.told.batches++;
  f.out[f.out_n++] = b;
}

static void on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  (void)s, (void)arg;
  uint32_t n = number_of(r), first = shard_of(n) * PAGES * EACH;
  check_record(r);
  for (uint32_t i = first; i < n; i++) CHECK(f.is[i] == ACKED);
  CHECK(f.tries[n] >= TRIES);
  f.is[n] = ACKED;
  f.dead_n++;
}

static void nothing(slp_event *ev) { (void)ev; }

static void begin_shard(uint32_t i) {
  slp_shard *s = &f.shards[i];
  s->consumer = &f.consumers[i == SHARDS - 1];
  char id[] = "shard-0";
  id[6] = (char)('0' + i);
  s->name = slp_name_new(f.mem, SLP_STR("s"), slp_str_of(id));
  slp_queue_init(s);
  slp_list_init(&s->lineage.children);
  slp_reading_init(s);
  for (uint32_t p = 0; p < PAGES; p++) add_page(s, (i * PAGES + p) * EACH);
  slp_reading_move(s, SLP_READER_GONE); /* nobody waits for it when its pages are out */
  s->order.state = SLP_ORDER_IN;
  slp_order_update(s);
}

static void begin(uint64_t round) {
  memset(&f, 0, sizeof f);
  rnd_state = round * 88172645463325252u;
  f.mem = slp_mem_new(NULL, NULL);
  fake_init(&f.host, f.mem);
  f.opts.order_wait_ms = 1000;
  f.opts.in_flight_max = 1;
  f.opts.buffered_bytes_max = 64 << 20;
  f.opts.order = round % 4 == 3 ? SLOOP_ORDER_SHARD : SLOOP_ORDER_TIME;
  f.opts.batches_out_max = 1 + rnd32(f.opts.order == SLOOP_ORDER_SHARD ? 1 : BATCHES);
  f.opts.batch_records_max = 1 + rnd32(60);
  f.opts.batch_bytes_max = rnd32(2) ? 200 + rnd32(500) : 1 << 20;
  f.opts.on_retry = round % 2 ? SLOOP_RETRY_SKIP : SLOOP_RETRY_REDELIVER;
  f.opts.retry_max = TRIES;
  f.opts.on_batch = on_batch;
  f.opts.on_dead_letter = on_dead_letter;
  CHECK_INT(slp_engine_new(&f.engine, &f.host.h, f.mem, &f.opts), 0);
  f.engine->pump_ev.run = nothing;
  CHECK_INT(slp_merge_reserve(&f.engine->merge, SHARDS), 0);
  for (int i = 0; i < 2; i++) {
    slp_consumer *c = &f.consumers[i];
    *c = (slp_consumer){.engine = f.engine, .mem = f.mem, .o = &f.opts};
    CHECK_INT(slp_report_init(c), 0);
    slp_list_init(&c->detached);
    slp_list_add_last(&f.engine->consumers, &c->link);
  }
  for (uint32_t i = 0; i < SHARDS; i++) begin_shard(i);
}

static int some_out(uint32_t shard) {
  for (uint32_t k = 0; k < f.out_n; k++) {
    for (uint32_t i = 0; i < f.out[k]->n; i++)
      if (shard_of(number_of(&f.out[k]->recs[i])) == shard) return 1;
  }
  return 0;
}

/* What the model knows of a shard, against its queue. */
static void check_shard(uint32_t i) {
  const slp_shard *s = &f.shards[i];
  uint32_t first = i * PAGES * EACH, low = first, count[GONE + 1] = {0};
  for (uint32_t n = first; n < first + PAGES * EACH; n++) count[f.is[n]]++;
  CHECK_INT(s->queue.queued_n, count[QUEUED]);
  CHECK_INT(s->queue.redelivered_n, count[BACK]);
  CHECK_INT(s->queue.unacked_n, count[QUEUED] + count[BACK] + count[OUT]);
  CHECK_INT(slp_queue_is_out(s), !f.detached[i] && some_out(i));
  if (f.detached[i]) return;
  while (low < first + PAGES * EACH && f.is[low] == ACKED) low++;
  slp_mark mark;
  CHECK_INT(slp_acked_prefix(s, &mark), low > first);
  char text[12];
  snprintf(text, sizeof text, "%u", 1000 + low - 1);
  if (low > first) CHECK_MEM(mark.seq, mark.seq_n, text, strlen(text));
}

static void check_all(void) {
  uint64_t queued = 0;
  for (uint32_t i = 0; i < SHARDS; i++) check_shard(i);
  for (uint32_t n = 0; n < ALL; n++) queued += f.is[n] == QUEUED || f.is[n] == BACK;
  CHECK_INT(f.consumers[0].sum.queued_n + f.consumers[1].sum.queued_n, queued);
  CHECK_INT(slp_batches_out(f.engine), f.out_n);
}

static void check_counts(void) {
  slp_counts all = {0};
  for (int i = 0; i < 2; i++) {
    const uint64_t *of = (const uint64_t *)&f.consumers[i].counts;
    for (size_t k = 0; k < sizeof all / sizeof *of; k++) ((uint64_t *)&all)[k] += of[k];
  }
  f.told.dead_letters = f.dead_n;
  CHECK_MEM(&all, sizeof all, &f.told, sizeof f.told);
  CHECK_INT(f.told.redelivered + f.dead_n, f.again_n);
}

static void ack_some(sloop_batch_t *b) {
  for (uint32_t times = 1 + rnd32(8); times; times--) {
    uint32_t i = rnd32(b->n), n = number_of(&b->recs[i]);
    CHECK_INT(slp_batch_owned(b, i), f.detached[shard_of(n)] ? -1 : 1);
    slp_batch_ack(b, i);
    if (f.is[n] == OUT) f.is[n] = ACKED;
  }
}

static void give_in(uint32_t which) {
  sloop_batch_t *b = f.out[which];
  uint32_t n = b->n, k = rnd32(2) ? n : rnd32(3) ? rnd32(n + 1) : 0;
  f.whole_n += k == n;
  f.out[which] = f.out[--f.out_n];
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = number_of(&b->recs[i]);
    if (f.is[at] != OUT) continue;
    f.is[at] = i < k ? ACKED : BACK;
    f.tries[at] += f.is[at] == BACK;
    if (f.tries[at] > f.again_max) f.again_max = f.tries[at];
  }
  slp_batch_done(b, k);
}

/* As when its lease is lost: what is out is the batches' alone. */
static void detach(uint32_t i) {
  slp_shard *s = &f.shards[i];
  if (f.detached[i]) return;
  f.detached[i] = 1;
  slp_order_leave(s);
  slp_queue_detach(s, &s->consumer->detached);
  slp_batches_forget_shard(s);
  for (uint32_t n = i * PAGES * EACH; n < (i + 1) * PAGES * EACH; n++) f.is[n] = GONE;
  s->queue.unacked_n = 0; /* the shard goes */
}

static void end(void) {
  while (f.out_n) give_in(0);
  for (uint32_t i = 0; i < SHARDS; i++) detach(i);
  for (int i = 0; i < 2; i++) {
    CHECK(slp_list_empty(&f.consumers[i].detached));
    slp_report_drop(&f.consumers[i]);
    slp_report_free(&f.consumers[i]);
    slp_list_remove(&f.consumers[i].link);
  }
  for (uint32_t i = 0; i < SHARDS; i++) slp_name_drop(f.shards[i].name);
  slp_engine_free(f.engine); /* looks that nothing of the budget is left */
  fake_end(&f.host, f.mem);
}

TEST(what_is_acknowledged_given_back_and_buried_is_what_a_model_says) {
  uint32_t whole = 0, again = 0, dead = 0, most = 0, detached = 0;
  for (uint64_t round = 1; round <= 400; round++) {
    begin(round);
    uint32_t losing = rnd32(SHARDS * 3), losing_at = 5 + rnd32(20);
    for (uint32_t step = 0; step < 60; step++) {
      f.host.mono_us += 40000000; /* what was given back may come again */
      slp_deliver_soon(f.engine);
      fake_run(&f.host, 1);
      check_all();
      if (step == losing_at && losing < SHARDS) detach(losing), detached += f.out_n > 0;
      if (f.out_n && rnd32(2)) ack_some(f.out[rnd32(f.out_n)]);
      check_all();
      if (f.out_n && rnd32(3)) give_in(rnd32(f.out_n));
      check_all();
    }
    check_counts();
    whole += f.whole_n, again += f.again_n, dead += f.dead_n;
    if (f.again_max > most) most = f.again_max;
    end();
  }
  CHECK(whole > 100 && again > 100 && dead > 10 && most > 4 && detached > 10); /* all of it happened */
}
