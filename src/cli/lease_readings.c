/* lease_readings.c - keeps the result of the last reading of a lease table, and adds to its lags the time
 * that has passed since. */
#include "cli/lease_readings.h"

#include "api/metrics_sample.h"
#include "base/mem.h"
#include "cli/lease_words.h"

#include <sloop_admin.h>
#include <stdio.h>

void slp_lease_readings_init(slp_lease_readings *r, slp_mem *mem, const char *app, const char *stream,
                             uint32_t fresh_ms, uint64_t now_us) {
  *r = (slp_lease_readings){
      .mem = mem, .app = app, .stream = stream, .fresh_ms = fresh_ms, .begun_us = now_us, .behind_ms = -1};
  r->unknown_us = now_us;
  slp_sample_init(&r->kept, mem);
}

void slp_lease_readings_free(slp_lease_readings *r) { slp_sample_free(&r->kept); }

void slp_lease_readings_failed(slp_lease_readings *r, const char *why) {
  r->readings++;
  r->failures++;
  r->failed = 1;
  snprintf(r->why, sizeof r->why, "%s", why);
}

/* ---- taking a reading -------------------------------------------------------------------------------- */

/* Adds 1 to the count of `word`. */
static void count_word(slp_sample_count *counts, size_t *n, const char *word) {
  size_t i = 0;
  while (i < *n && strcmp(counts[i].word, word) != 0) i++;
  /* cannot happen: SLP_SAMPLE_WORDS is at least the number of different words */
  if (i == SLP_SAMPLE_WORDS) return;
  if (i == *n) counts[(*n)++] = (slp_sample_count){word, 0};
  counts[i].n++;
}

typedef struct sum {
  /* the largest lag of any shard; 0: all shards were read to their ends; -1: no lag is known */
  int64_t behind_ms;
  size_t unknown; /* number of shards whose lag is not known */
} sum;

static int add_shard(slp_sample *to, slp_sample_table *t, sum *all, const sloop_lease_t *l,
                     const sloop_leases_t *leases, int64_t wall_ms) {
  slp_lease_lag lag = slp_lease_lag_of(l, leases, wall_ms);
  count_word(t->lags, &t->lags_n, slp_lease_lag_word(l, lag));
  all->unknown += lag.ms < 0;
  all->behind_ms = slp_max_i64(all->behind_ms, lag.ms);
  if (slp_lease_mood_of(l) == SLP_LEASE_IS_ENDED) return 0;
  return slp_sample_add_lease(to, l->shard, l->epoch, lag.ms);
}

static int add_shards(slp_sample *to, slp_sample_table *t, sum *all, const sloop_leases_t *l,
                      int64_t wall_ms) {
  int bad = 0;
  for (size_t i = 0; i < l->leases_n && !bad; i++) {
    count_word(t->leases, &t->leases_n, slp_lease_mood_word(slp_lease_mood_in(l->leases[i], l)));
    bad = add_shard(to, t, all, l->leases[i], l, wall_ms);
  }
  for (size_t i = 0; i < l->unleased_n && !bad; i++) {
    count_word(t->leases, &t->leases_n, "unleased");
    bad = add_shard(to, t, all, l->unleased[i], l, wall_ms);
  }
  for (size_t i = 0; i < l->workers_n; i++)
    count_word(t->workers, &t->workers_n, slp_worker_word(l->workers[i], wall_ms));
  all->unknown += l->bad_rows_n + (l->unlisted && *l->unlisted);
  return bad;
}

int slp_lease_readings_take(slp_lease_readings *r, const sloop_leases_t *leases, uint64_t now_us,
                            int64_t wall_ms) {
  static const slp_sample_table none = {0};
  slp_sample kept;
  sum all = {.behind_ms = -1};
  slp_sample_init(&kept, r->mem);
  int bad = slp_sample_add_table(&kept, r->app, r->stream, -1, -1, "", &none);
  if (!bad) bad = add_shards(&kept, &kept.consumers[0].table, &all, leases, wall_ms);
  if (bad) {
    slp_sample_free(&kept);
    slp_lease_readings_failed(r, "no memory for the contents of the lease table");
    return bad;
  }
  slp_sample_free(&r->kept);
  r->kept = kept;
  r->read_us = now_us;
  r->readings++;
  r->failed = 0;
  int unknown = all.unknown || all.behind_ms < 0; /* behind_ms is negative if no shard has a lease */
  r->behind_ms = unknown ? -1 : all.behind_ms;
  if (!unknown) r->unknown_us = 0;
  if (unknown && !r->unknown_us) r->unknown_us = now_us;
  return 0;
}

/* ---- adding the reading to a sample ---------------------------------------------------------------- */

static int64_t since_ms(uint64_t at_us, uint64_t now_us) {
  return now_us > at_us ? (int64_t)((now_us - at_us) / 1000) : 0;
}

/* Returns a lag plus the time since the reading. A lag of 0 stays 0 until the next reading is overdue. */
static int64_t aged_ms(const slp_lease_readings *r, int64_t told_ms, uint64_t now_us) {
  int64_t since = since_ms(r->read_us, now_us);
  if (told_ms < 0) return -1;
  return told_ms == 0 && since <= (int64_t)r->fresh_ms ? 0 : slp_add_i64(told_ms, since);
}

int slp_lease_readings_sample(const slp_lease_readings *r, slp_sample *into, uint64_t now_us,
                              int with_shards) {
  const slp_sample_table none = {0};
  slp_sample_table t = r->read_us ? r->kept.consumers[0].table : none;
  char stuck[SLP_READINGS_WHY + 40] = "";
  t.up = r->read_us && !r->failed;
  t.age_ms = r->read_us ? (uint64_t)since_ms(r->read_us, now_us) : UINT64_MAX;
  t.readings = r->readings;
  t.failures = r->failures;
  if (r->failed)
    snprintf(stuck, sizeof stuck, "the leases of %.80s could not be read: %.300s", r->app, r->why);
  else if (!r->read_us)
    snprintf(stuck, sizeof stuck, "the leases of %.80s have not been read yet", r->app);
  int bad = slp_sample_add_table(into, r->app, r->stream, aged_ms(r, r->behind_ms, now_us),
                                 r->unknown_us ? since_ms(r->unknown_us, now_us) : -1, stuck, &t);
  for (size_t i = 0; with_shards && i < r->kept.shards_n && !bad; i++) {
    const slp_sample_shard *s = &r->kept.shards[i];
    bad = slp_sample_add_lease(into, slp_sample_text(&r->kept, s->id), s->epoch,
                               aged_ms(r, s->behind_ms, now_us));
  }
  return bad;
}
