/* shorten.c - a shard that forgets the end of what it fetched, against the records it was made of: which stay,
 * where reading goes on, how far the order may go meanwhile, and what the budget says. */
#include "core/core.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/mark.h"
#include "core/merge.h"
#include "core/pages.h"
#include "core/queue.h"
#include "core/shard_inside.h"
#include "sloop.h"
#include "check.h"

enum { PAGES = 2, EACH = 12, DATA = 1000 };

typedef struct fixture {
  slp_mem *mem;
  slp_engine engine;
  slp_consumer consumer;
  sloop_opts_t opts;
  slp_shard shard;
} fixture;

static fixture f;

/* Records are numbered from 100, each with a thousand bytes; so many of them in a row are one aggregate. The
 * second of each page was stamped too early, the third too late. */
static int64_t arrived_of(uint32_t i) { return i % EACH == 1 ? 3 : i % EACH == 2 ? 900 : 10 + i; }
static uint32_t number_of(uint32_t i, uint32_t each) { return 100 + i / each; }

static void add_page(uint32_t p, uint32_t each) {
  slp_page *page = slp_page_new(f.mem);
  slp_buffered *buffered = slp_zalloc(f.mem, sizeof *buffered + 2 * ((EACH + 7) / 8));
  CHECK(page && buffered);
  page->recs = slp_zalloc_n(f.mem, EACH, sizeof *page->recs);
  page->recs_cap = page->recs_n = EACH;
  for (uint32_t i = 0; i < EACH; i++) {
    char text[DATA + 1] = "";
    slp_rec *r = &page->recs[i];
    snprintf(text, sizeof text, "%u", number_of(p * EACH + i, each));
    r->sub = (p * EACH + i) % each;
    r->arrived_ms = arrived_of(p * EACH + i);
    r->seq_at = (uint32_t)page->body.n;
    r->seq_n = (uint8_t)strlen(text);
    r->data_at = r->seq_at;
    r->data_n = DATA;
    CHECK_INT(slp_buf_add(&page->body, text, DATA), 0);
  }
  buffered->shard = &f.shard;
  buffered->engine = &f.engine;
  buffered->mem = f.mem;
  buffered->name = slp_name_new(f.mem, SLP_STR("s"), SLP_STR("a"));
  buffered->page = page;
  buffered->n = buffered->unacked = EACH;
  buffered->redelivered = buffered->bits + (EACH + 7) / 8;
  buffered->service_ms = 100;
  buffered->charged = slp_page_bytes(page) + slp_alloc_size(buffered);
  slp_budget_force(&f.engine.budget, buffered->charged);
  slp_list_add_last(&f.shard.queue.pages, &buffered->link);
  if (!f.shard.queue.next_page) f.shard.queue.next_page = buffered;
  f.shard.queue.unacked_n += EACH;
  f.shard.queue.queued_n += EACH;
  f.consumer.sum.queued_n += EACH;
  slp_mark_rec(&f.shard.at.last, page, &page->recs[EACH - 1]);
}

static void begin(uint32_t pages, uint32_t each) {
  memset(&f, 0, sizeof f);
  f.mem = slp_mem_new(NULL, NULL);
  f.engine.mem = f.mem;
  slp_pages_init(&f.engine);
  f.consumer.engine = &f.engine;
  f.consumer.o = &f.opts;
  f.shard.consumer = &f.consumer;
  slp_queue_init(&f.shard);
  for (uint32_t p = 0; p < pages; p++) add_page(p, each);
}

/* Hands out and acknowledges so many. */
static void hand_out(uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    slp_buffered *buffered;
    uint32_t at;
    int again;
    CHECK(slp_queue_head(&f.shard, &buffered, &at, &again));
    slp_key key = slp_queue_key(&f.shard, buffered, at);
    if (again) {
      slp_queue_take_given_back(&f.shard, buffered, at);
    } else {
      (void)slp_queue_take(&f.shard.queue, key.time);
    }
    f.consumer.sum.queued_n--; /* batch.c does that, when the batch goes */
    (void)slp_queue_ack(buffered, at, 1);
    (void)slp_queue_return(buffered, at, 1);
  }
}

static void check_forgotten(uint32_t kept, uint32_t out, uint32_t each) {
  char last[12], next[12];
  int64_t time = 0;
  for (uint32_t i = 0; i <= kept; i++) {
    int64_t at = arrived_of(i) > time ? arrived_of(i) : time;
    time = at < 100 ? at : 100;
    if (i + 1 == kept) CHECK_INT(f.shard.at.tail_time, time);
  }
  snprintf(last, sizeof last, "%u", number_of(kept - 1, each));
  snprintf(next, sizeof next, "%u", number_of(kept, each));
  CHECK_MEM(f.shard.at.last.seq, f.shard.at.last.seq_n, last, strlen(last));
  CHECK_INT(f.shard.at.last.part, strcmp(last, next) == 0);
  const slp_key *mark = slp_queue_watermark(&f.shard);
  CHECK_INT(mark->time, time);
  CHECK_MEM(mark->seq.p, mark->seq.n, next, strlen(next));
  CHECK_INT(f.shard.queue.queued_n, kept - out);
  CHECK_INT(f.shard.queue.unacked_n, kept - out);
  CHECK_INT(f.consumer.sum.queued_n, kept - out);
}

static void finish(uint32_t out, uint32_t each) {
  slp_buffered *buffered;
  uint32_t at;
  int again;
  while (slp_queue_head(&f.shard, &buffered, &at, &again)) { /* what stays is as it was */
    char text[12];
    snprintf(text, sizeof text, "%u", number_of(out++, each));
    CHECK_MEM(slp_rec_seq(buffered->page, &buffered->page->recs[at]).p, buffered->page->recs[at].seq_n, text,
              strlen(text));
    hand_out(1);
  }
  slp_queue_settle(&f.shard);
  CHECK(slp_queue_all_acked(&f.shard));
  slp_pages_drop(&f.engine);
  CHECK_INT(f.engine.budget.used, 0);
  CHECK_INT(f.mem->live_blocks, 0);
  slp_mem_drop(f.mem);
}

TEST(the_first_records_stay_and_reading_goes_on_behind_them) {
  for (uint32_t pages = 1; pages <= PAGES; pages++) {
    for (uint32_t out = 0; out < EACH - 1; out++) {
      for (uint32_t most = 0; most < EACH + 2; most++) {
        begin(pages, 1);
        hand_out(out);
        uint64_t before = slp_budget_used(&f.engine.budget);
        uint32_t kept = out + (most ? most : 1);
        int can = kept < EACH || pages > 1;
        CHECK_INT(slp_queue_shorten(&f.shard, most * (DATA + sizeof(slp_rec))), can);
        if (can) check_forgotten(kept < EACH ? kept : EACH, out, 1);
        if (can) CHECK(slp_budget_used(&f.engine.budget) + DATA <= before);
        CHECK_INT(slp_queue_can_shorten(&f.shard, most * (DATA + sizeof(slp_rec))), 0); /* it ends */
        finish(out, 1);
      }
    }
  }
}

TEST(no_aggregate_is_parted) {
  begin(1, 4);
  hand_out(1);
  CHECK_INT(slp_queue_shorten(&f.shard, 1), 1);
  check_forgotten(4, 1, 4);
  finish(1, 4);
  begin(1, EACH);
  CHECK_INT(slp_queue_shorten(&f.shard, 1), 0);
  finish(0, EACH);
}

/* The user's pointers lie in the page, and what was given back keeps its place. */
TEST(not_while_records_are_out_or_given_back) {
  slp_buffered *buffered;
  uint32_t at;
  int again;
  begin(1, 1);
  CHECK(slp_queue_head(&f.shard, &buffered, &at, &again));
  slp_key key = slp_queue_key(&f.shard, buffered, at);
  (void)slp_queue_take(&f.shard.queue, key.time);
  CHECK_INT(slp_queue_shorten(&f.shard, 1), 0);
  CHECK_INT(slp_queue_return(buffered, at, 1), 1);
  CHECK_INT(slp_queue_shorten(&f.shard, 1), 0);
  finish(0, 1);
}
