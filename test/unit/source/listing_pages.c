/* listing_pages.c - many pages, many shards: each id once, found again, and limits kept. */
#include "source/listing_pages.h"

#include "check.h"

static slp_mem *mem;

static void take(slp_listing *l, size_t from, size_t to, int closed, int want) {
  slp_op_list_shards op;
  slp_op_list_init(&op, mem);
  op.shards = slp_zalloc_n(mem, to - from + 1, sizeof *op.shards);
  CHECK(op.shards != NULL);
  CHECK_INT(slp_buf_reserve(&op.body, (to - from) * 10), 0); /* rows point into it */
  for (size_t i = from; i < to; i++) {
    size_t at = op.body.n;
    slp_buf_addf(&op.body, "s-%zu", i);
    op.shards[op.shards_n++] = (slp_shard_desc){.id = {op.body.p + at, op.body.n - at},
                                                .seq_end = closed ? SLP_STR("1") : (slp_str){NULL, 0}};
  }
  op.stream_ended = closed != 0;
  CHECK_INT(slp_listing_take_page(l, &op), want);
  slp_op_list_free(&op);
}

TEST(each_shard_once_whatever_pages_repeat) {
  mem = slp_mem_new(NULL, NULL);
  slp_listing *l = slp_listing_new(mem);
  take(l, 0, 2000, 0, 0);
  take(l, 1000, 3000, 0, 0);
  CHECK_INT(l->shards_n, 3000);
  CHECK_INT(l->stream_ended, 0);
  take(l, 2999, 3001, 1, 0);
  CHECK_INT(l->shards_n, 3001);
  CHECK_INT(l->stream_ended, 1);
  for (size_t i = 0; i < 3001; i++) {
    char id[20];
    snprintf(id, sizeof id, "s-%zu", i);
    slp_shard_desc *d = slp_listing_find(l, slp_str_of(id));
    CHECK(d && slp_str_is(d->id, id));
    CHECK_INT(d->seq_end.p != NULL, i >= 2999); /* what a later page knew was added */
  }
  CHECK(slp_listing_find(l, SLP_STR("s-3001")) == NULL);
  slp_listing_clear(l);
  CHECK_INT(l->shards_n, 0);
  CHECK(slp_listing_find(l, SLP_STR("s-1")) == NULL);
  take(l, 0, 1, 0, 0);
  CHECK_INT(l->shards_n, 1);
  slp_listing_free(l);
  slp_listing_free(NULL);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(limits) {
  mem = slp_mem_new(NULL, NULL);
  slp_listing *l = slp_listing_new(mem);
  take(l, 0, SLP_LISTING_SHARDS_MAX, 0, 0);
  take(l, 5, 6, 0, 0); /* known */
  take(l, SLP_LISTING_SHARDS_MAX, SLP_LISTING_SHARDS_MAX + 1, 0, SLP_ELIMIT);
  slp_listing_clear(l);
  for (size_t i = 0; i < 3000; i++) take(l, 0, 1, 0, 0); /* source/poll.c counts pages */
  slp_listing_free(l);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* Of a page only its rows' texts are kept, and these have a limit. */
TEST(bytes_are_kept_of_rows_and_not_of_pages) {
  mem = slp_mem_new(NULL, NULL);
  slp_listing *l = slp_listing_new(mem);
  for (size_t i = 0; i < 100; i++) {
    slp_op_list_shards op;
    char id[20];
    slp_op_list_init(&op, mem);
    CHECK_INT(slp_buf_reserve(&op.body, 15 << 20), 0);
    op.shards = slp_zalloc_n(mem, 1, sizeof *op.shards);
    snprintf(id, sizeof id, "s-%zu", i);
    op.shards[0] = (slp_shard_desc){.id = slp_str_of(id)};
    op.shards_n = 1;
    CHECK_INT(slp_listing_take_page(l, &op), 0);
    slp_op_list_free(&op);
  }
  CHECK_INT(l->shards_n, 100);
  CHECK(mem->live_bytes < 200000);
  static char text[1 << 20];
  memset(text, '7', sizeof text);
  int r = 0;
  for (size_t i = 0; i < 100 && !r; i++) {
    slp_op_list_shards op;
    char id[20];
    slp_op_list_init(&op, mem);
    op.shards = slp_zalloc_n(mem, 1, sizeof *op.shards);
    snprintf(id, sizeof id, "t-%zu", i);
    op.shards[0] = (slp_shard_desc){.id = slp_str_of(id), .seq_start = {text, sizeof text}};
    op.shards_n = 1;
    r = slp_listing_take_page(l, &op);
    slp_op_list_free(&op);
  }
  CHECK_INT(r, SLP_ELIMIT);
  CHECK(mem->peak_bytes < (2 * SLP_LISTING_BYTES_MAX));
  slp_listing_free(l);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
