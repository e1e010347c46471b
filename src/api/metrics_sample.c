/* metrics_sample.c - builds a sample. */
#include "api/metrics_sample.h"

#include "aws/classify.h"
#include "base/buf.h"
#include "base/mem.h"

#include <sloop.h>

#define TEXTS_MAX (64u * 1024 * 1024)

void slp_sample_init(slp_sample *s, slp_mem *mem) {
  *s = (slp_sample){.mem = mem};
  slp_buf_init(&s->texts, mem, TEXTS_MAX);
}

void slp_sample_free(slp_sample *s) {
  slp_free(s->mem, s->consumers);
  slp_free(s->mem, s->shards);
  slp_buf_free(&s->texts);
  slp_sample_init(s, s->mem);
}

static size_t add_text(slp_sample *s, const char *z) {
  size_t at = s->texts.n;
  slp_buf_add(&s->texts, z ? z : "", z ? strlen(z) + 1 : 1);
  return at;
}

/* Returns the number that distinguishes c from other consumers with the same stream and application. Without
 * it, two series of values would have the same name. */
static uint32_t twin_of(const slp_sample *s, const slp_sample_consumer *c) {
  uint32_t same = 0;
  for (size_t i = 0; i < s->consumers_n; i++) {
    const slp_sample_consumer *o = &s->consumers[i];
    same += strcmp(slp_sample_text(s, o->stream), slp_sample_text(s, c->stream)) == 0 &&
            strcmp(slp_sample_text(s, o->app), slp_sample_text(s, c->app)) == 0;
  }
  return same ? same + 1 : 0;
}

int slp_sample_add(slp_sample *s, const char *app, const char *stream, const char *worker,
                   slp_reading reading, const sloop_stats_t *stats) {
  slp_sample_consumer c = {.reading = reading, .stats = *stats, .shards_end = s->shards_n};
  if (s->consumers_n == s->consumers_cap) {
    void *more = slp_doubled(s->mem, s->consumers, &s->consumers_cap, 4, sizeof *s->consumers);
    if (!more) return SLP_ENOMEM;
    s->consumers = more;
  }
  c.app = add_text(s, app);
  c.stream = add_text(s, stream);
  c.worker = add_text(s, worker);
  c.stuck = add_text(s, "");
  if (slp_buf_failed(&s->texts)) return slp_buf_failed(&s->texts);
  c.twin = twin_of(s, &c);
  s->consumers[s->consumers_n++] = c;
  return 0;
}

int slp_sample_add_table(slp_sample *s, const char *app, const char *stream, int64_t behind_ms,
                         int64_t unknown_ms, const char *stuck, const slp_sample_table *table) {
  sloop_stats_t stats;
  memset(&stats, 0xff, sizeof stats); /* all bits 1: the value is not known */
  if (behind_ms >= 0) stats.behind_ms_now = (uint64_t)behind_ms;
  if (unknown_ms >= 0) stats.behind_unknown_ms_now = (uint64_t)unknown_ms;
  int r = slp_sample_add(s, app, stream, NULL, SLP_READING_RUNNING, &stats);
  if (r) return r;
  s->of_tables = 1;
  s->consumers[s->consumers_n - 1].table = *table;
  s->consumers[s->consumers_n - 1].table.there = 1;
  return *stuck ? slp_sample_set_stuck(s, stuck) : 0;
}

static int add_row(slp_sample *s, slp_sample_shard row, const char *id) {
  if (s->shards_n == s->shards_cap) {
    void *more = slp_doubled(s->mem, s->shards, &s->shards_cap, 64, sizeof *s->shards);
    if (!more) return SLP_ENOMEM;
    s->shards = more;
  }
  row.id = add_text(s, id);
  if (slp_buf_failed(&s->texts)) return slp_buf_failed(&s->texts);
  s->shards[s->shards_n++] = row;
  s->consumers[s->consumers_n - 1].shards_end = s->shards_n;
  return 0;
}

int slp_sample_add_lease(slp_sample *s, const char *shard, uint64_t epoch, int64_t behind_ms) {
  slp_sample_shard row = {
      .epoch = epoch, .behind_ms = behind_ms, .of_table = 1, .state_ms = -1, .acked_age_ms = -1};
  return add_row(s, row, shard);
}

int slp_sample_add_shard(slp_sample *s, const sloop_shard_stats_t *shard) {
  slp_sample_shard row = {.epoch = shard->epoch,
                          .unacked = shard->unacked,
                          .behind_ms = shard->behind_ms,
                          .paused = shard->paused != 0,
                          .at_tip = shard->at_tip != 0,
                          .state = shard->state,
                          .state_ms = shard->state_ms,
                          .acked_age_ms = shard->acked_age_ms};
  return add_row(s, row, shard->shard);
}

int slp_sample_set_stuck(slp_sample *s, const char *why) {
  s->consumers[s->consumers_n - 1].stuck = add_text(s, why);
  return slp_buf_failed(&s->texts);
}

void slp_sample_set_failures(slp_sample *s, const uint64_t failed_as[SLP_FAILURES]) {
  slp_sample_consumer *c = &s->consumers[s->consumers_n - 1];
  memcpy(c->failed_as, failed_as, sizeof c->failed_as);
}
