/* acked.c - the low mark against a model that remembers every record, over pages that are acknowledged
 * in any order and dropped in the middle of it. */
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
#include "core/pages.h"
#include "core/queue.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "sloop.h"
#include "check.h"
#include "rnd.h"

enum { PAGES = 6, EACH = 11 };

typedef struct fixture {
  slp_mem *mem;
  slp_engine engine;
  slp_consumer consumer;
  sloop_opts_t opts;
  slp_shard shard;
  slp_buffered *pages[PAGES];
  uint8_t acked[PAGES * EACH], out[PAGES * EACH], freed[PAGES];
} fixture;

/* Records are numbered from 100; three of them in a row are one aggregate. */
static void number_of(uint32_t i, char text[12], uint32_t *sub) {
  snprintf(text, 12, "%u", 100 + i / 3);
  *sub = i % 3;
}

static slp_buffered *page_of(fixture *f, uint32_t p) {
  slp_page *page = slp_page_new(f->mem);
  slp_buffered *buffered = slp_zalloc(f->mem, sizeof *buffered + 2 * ((EACH + 7) / 8));
  CHECK(page && buffered);
  page->recs = slp_zalloc_n(f->mem, EACH, sizeof *page->recs);
  page->recs_cap = page->recs_n = EACH;
  for (uint32_t i = 0; i < EACH; i++) {
    char text[12];
    slp_rec *r = &page->recs[i];
    number_of(p * EACH + i, text, &r->sub);
    r->arrived_ms = p * EACH + i;
    r->seq_at = (uint32_t)page->body.n;
    r->seq_n = (uint8_t)strlen(text);
    CHECK_INT(slp_buf_add_z(&page->body, text), 0);
  }
  buffered->shard = &f->shard;
  buffered->engine = &f->engine;
  buffered->mem = f->mem;
  buffered->name = slp_name_new(f->mem, SLP_STR("s"), SLP_STR("a"));
  buffered->page = page;
  buffered->n = buffered->unacked = EACH;
  buffered->redelivered = buffered->bits + (EACH + 7) / 8;
  if (slp_has_taken(&f->shard.at)) buffered->prev = f->shard.at.last;
  buffered->charged = slp_page_bytes(page) + slp_alloc_size(buffered);
  slp_budget_force(&f->engine.budget, buffered->charged);
  slp_list_add_last(&f->shard.queue.pages, &buffered->link);
  f->shard.queue.unacked_n += EACH;
  slp_mark_rec(&f->shard.at.last, page, &page->recs[EACH - 1]);
  return buffered;
}

/* No place inside an aggregate: the mark is the end of the last whole one, or says that it may not be one, when
 * the aggregate began on an earlier page. */
static void check_whole(const fixture *f, uint32_t low) {
  slp_mark mark;
  uint32_t sub, whole = low - low % 3;
  char text[12];
  int there = slp_acked_prefix(&f->shard, &mark);
  if (there && mark.part) {
    CHECK(low % 3 && whole / EACH < low / EACH);
    return;
  }
  CHECK_INT(there, whole > 0);
  if (!whole) return;
  number_of(whole - 1, text, &sub);
  CHECK_MEM(mark.seq, mark.seq_n, text, strlen(text));
  CHECK_INT(mark.sub, sub);
}

static void check_mark(const fixture *f) {
  slp_mark mark;
  uint32_t low = 0, sub;
  char text[12];
  while (low < PAGES * EACH && f->acked[low]) low++;
  if (f->consumer.whole_records) {
    check_whole(f, low);
    return;
  }
  CHECK_INT(slp_acked_prefix(&f->shard, &mark), low > 0);
  if (low == 0) return;
  number_of(low - 1, text, &sub);
  CHECK_MEM(mark.seq, mark.seq_n, text, strlen(text));
  CHECK_INT(mark.sub, sub);
  CHECK_INT(mark.arrived_ms, low - 1);
}

static void play(int whole) {
  for (uint64_t round = 1; round <= 300; round++) {
    static fixture f;
    memset(&f, 0, sizeof f);
    rnd_state = round * 88172645463325252u;
    f.mem = slp_mem_new(NULL, NULL);
    f.engine.mem = f.mem;
    slp_pages_init(&f.engine);
    f.consumer.engine = &f.engine;
    f.opts.on_retry = SLOOP_RETRY_REDELIVER;
    f.consumer.o = &f.opts;
    f.consumer.whole_records = (uint8_t)whole;
    f.shard.consumer = &f.consumer;
    slp_queue_init(&f.shard);
    for (uint32_t p = 0; p < PAGES; p++) f.pages[p] = page_of(&f, p);
    check_mark(&f);
    /* Some are with the user, in the order of the shard; the others were not handed out yet. */
    uint32_t out_n = rnd32(PAGES * EACH + 1);
    for (uint32_t i = 0; i < out_n; i++) {
      f.out[i] = 1;
      f.pages[i / EACH]->out++;
    }
    int dropped = 0;
    for (uint32_t left = out_n; left > 0; left--) {
      if (!dropped && rnd32(20) == 0) {
        f.shard.queue.queued_n = f.consumer.sum.queued_n = 0;
        slp_queue_drop(&f.shard);
        dropped = 1;
        check_mark(&f);
      }
      uint32_t i = rnd32(out_n);
      while (!f.out[i]) i = (i + 1) % out_n;
      slp_buffered *buffered = f.pages[i / EACH];
      if (rnd32(10)) {
        slp_queue_ack(buffered, i % EACH, 1);
        f.acked[i] = 1;
        check_mark(&f);
      }
      f.out[i] = 0;
      slp_queue_return(buffered, i % EACH, 1);
      if (dropped) slp_queue_settle(&f.shard);
      check_mark(&f);
    }
    slp_queue_orphan(&f.shard);
    CHECK_INT(f.engine.budget.used, 0);
    CHECK_INT(f.mem->live_blocks, 0);
    slp_mem_drop(f.mem);
  }
}

TEST(the_mark_is_the_record_in_front_of_the_first_not_acknowledged) { play(0); }

TEST(where_a_position_names_no_place_in_an_aggregate_the_mark_is_the_last_whole_one) { play(1); }
