/* api/metrics_sample.c: a sample stays readable while it grows; consumers of the same name are numbered. */
#include "api/metrics_sample.h"

#include "check.h"
#include "scarce.h"

TEST(consumers_and_their_shards) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_sample s;
  slp_sample_init(&s, mem);
  sloop_stats_t stats = {.records = 7};
  for (size_t i = 0; i < 20; i++) {
    char stream[20];
    snprintf(stream, sizeof stream, "stream-%zu", i);
    stats.records = i;
    CHECK_INT(slp_sample_add(&s, i % 2 ? "app" : NULL, stream, "", SLP_READING_RUNNING, &stats), 0);
    for (size_t k = 0; k < i * 10; k++) { /* the first one has none */
      char shard[40];
      snprintf(shard, sizeof shard, "shard-%zu-%zu", i, k);
      CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){shard, i, -1, k, 5, 0}), 0);
    }
  }
  CHECK_INT(s.consumers_n, 20);
  for (size_t i = 0; i < 20; i++) {
    const slp_sample_consumer *c = &s.consumers[i];
    size_t begin = slp_sample_shards_begin(&s, i);
    char want[40];
    snprintf(want, sizeof want, "stream-%zu", i);
    CHECK_STR(slp_sample_text(&s, c->stream), want);
    CHECK_STR(slp_sample_text(&s, c->app), i % 2 ? "app" : "");
    CHECK_STR(slp_sample_text(&s, c->worker), "");
    CHECK_INT(c->stats.records, i);
    CHECK_INT(c->twin, 0);
    CHECK_INT(c->shards_end - begin, i * 10);
    for (size_t k = 0; k < i * 10; k++) {
      const slp_sample_shard *row = &s.shards[begin + k];
      snprintf(want, sizeof want, "shard-%zu-%zu", i, k);
      CHECK_STR(slp_sample_text(&s, row->id), want);
      CHECK_INT(row->unacked, k);
      CHECK_INT(row->epoch, i);
      CHECK_INT(row->behind_ms, -1);
      CHECK_INT(row->paused, 1);
      CHECK_INT(row->at_tip, 0);
    }
  }
  slp_sample_free(&s);
  CHECK_INT(s.consumers_n, 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(twins) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_sample s;
  static const struct {
    const char *app, *stream;
    uint32_t twin;
  } rows[] = {{"", "a", 0}, {"", "b", 0}, {"", "a", 2}, {"x", "a", 0}, {"", "a", 3}, {"x", "a", 2}};
  slp_sample_init(&s, mem);
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    CHECK_INT(slp_sample_add(&s, rows[i].app, rows[i].stream, "w", SLP_READING_RUNNING, &(sloop_stats_t){0}),
              0);
    CHECK_INT(s.consumers[i].twin, rows[i].twin);
  }
  slp_sample_free(&s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(no_memory) {
  for (size_t n = 0;; n++) {
    slp_sample s;
    scarce memory = {.left = 1};
    slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
    slp_sample_init(&s, mem);
    memory.left = (int64_t)n;
    int r = slp_sample_add(&s, "app", "stream", "w", SLP_READING_RUNNING, &(sloop_stats_t){0});
    for (int i = 0; i < 200 && !r; i++)
      r = slp_sample_add_shard(&s, &(sloop_shard_stats_t){.shard = "shard"});
    CHECK(r == 0 || r == SLP_ENOMEM);
    slp_sample_free(&s);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
    if (!r) {
      CHECK(n > 4);
      return;
    }
  }
}
