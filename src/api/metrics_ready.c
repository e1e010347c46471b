/* metrics_ready.c - finds out why a consumer is not ready. */
#include "api/metrics_ready.h"

#include "api/metrics_sample.h"
#include "base/buf.h"
#include "base/mutant.h"

#include <sloop.h>
#include <stdio.h>

/* Appends `why` to the reasons of a consumer. `why` NULL or "": appends nothing. */
static void add_reason(slp_buf *b, size_t *n, const char *why) {
  if (!why || !*why) return;
  if (b) slp_buf_addf(b, "%s%s", *n ? "; " : "", why);
  ++*n;
}

static const char *why_not_running(slp_reading reading) {
  switch (reading) {
    case SLP_READING_NOT_STARTED: return "not started";
    case SLP_READING_FINDING: return "its shards are not known yet";
    case SLP_READING_STOPPING: return "stopping";
    case SLP_READING_STOPPED: return "stopped";
    case SLP_READING_FAILED: return "it failed and has stopped by itself";
    case SLP_READING_RUNNING: break;
  }
  return NULL;
}

/* Appends all reasons why this consumer is not ready, and returns how many there are. b NULL: only counts
 * them. If the consumer is not running, that is the only reason. */
static size_t add_reasons(const slp_sample *s, const slp_sample_consumer *c, slp_buf *b) {
  size_t n = 0;
  const char *idle = c->table.there ? NULL : why_not_running(c->reading);
  add_reason(b, &n, idle);
  if (idle) return n;
  if (!c->table.there) {
    int leases = slp_sample_text(s, c->app)[0] != 0;
    int suspended = leases && c->stats.suspended_now && !SLP_MUTANT(suspended_is_ready);
    if (c->stats.holes_now)
      add_reason(b, &n, "a part of the stream will not be read: there is a gap in the hash-key ranges");
    if (suspended) add_reason(b, &n, "suspended: this worker can't renew its leases");
    if (leases && !c->stats.joined_now) add_reason(b, &n, "this worker has not joined its application");
  }
  add_reason(b, &n, slp_sample_text(s, c->stuck));
  return n;
}

int slp_ready_is(const slp_sample *s, const slp_sample_consumer *c) { return !add_reasons(s, c, NULL); }

/* A shard that is parked or whose position is refused needs an operator, so it counts as stuck at once. A
 * paused shard is not stuck, because the application asked for the pause. A suspended shard is not stuck
 * either, because add_reasons appends the suspension of the worker as a separate reason. */
int slp_ready_is_stuck(const sloop_shard_stats_t *shard, uint32_t unready_ms, char why[SLP_READY_WHY]) {
  long long s = (long long)(shard->state_ms / 1000);
  int shut = shard->state == SLOOP_SHARD_IS_PARKED || shard->state == SLOOP_SHARD_IS_REFUSED;
  why[0] = 0;
  if (unready_ms == UINT32_MAX || (!shut && shard->state_ms < (int64_t)unready_ms)) return 0;
  if (SLP_MUTANT(stuck_is_ready)) return 0;
  switch (shard->state) {
    case SLOOP_SHARD_FAILS:
      snprintf(why, SLP_READY_WHY, "%.128s has failed for %lld s: %.50s", shard->shard, s, shard->error);
      break;
    case SLOOP_SHARD_IS_GIVEN_UP:
      snprintf(why, SLP_READY_WHY, "%.128s was given up %lld s ago: %.50s", shard->shard, s, shard->error);
      break;
    case SLOOP_SHARD_WAITS_FOR_YOU:
      snprintf(why, SLP_READY_WHY, "%.128s has waited %lld s for this program to finish with records",
               shard->shard, s);
      break;
    case SLOOP_SHARD_WAITS_FOR_ANOTHER:
      snprintf(why, SLP_READY_WHY, "%.128s has waited %lld s for records of %.128s in the order by time",
               shard->shard, s, shard->other[0] ? shard->other : "another stream");
      break;
    case SLOOP_SHARD_IS_PARKED:
      snprintf(why, SLP_READY_WHY, "%.128s is parked: no worker reads it until it is released", shard->shard);
      break;
    case SLOOP_SHARD_IS_REFUSED:
      return slp_ready_is_refused(shard->shard, (uint64_t)slp_max_i64(shard->state_ms, 0), unready_ms, why);
    case SLOOP_SHARD_IS_READ:
    case SLOOP_SHARD_IS_AT_TIP:
    case SLOOP_SHARD_IS_SUSPENDED:
    case SLOOP_SHARD_IS_PAUSED:
    case SLOOP_SHARD_WAITS_FOR_PARENT: break;
  }
  return why[0] != 0;
}

/* A shard whose position is refused counts as stuck at once, because the refusal is final, and no worker
 * reads the shard. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]) {
  if (unready_ms == UINT32_MAX) return 0;
  snprintf(why, SLP_READY_WHY, "the service refused the position of %.128s %llu s ago: see --explain", shard,
           (unsigned long long)(ago_ms / 1000));
  return 1;
}

static void count_stuck_shard(slp_ready_shards *all, sloop_shard_state_t state, int64_t ms, const char *why) {
  SLP_CHECK((size_t)state < SLP_READY_STATES);
  if (!all->of[state].n++ || ms > all->of[state].ms) {
    all->of[state].ms = ms;
    snprintf(all->of[state].why, SLP_READY_WHY, "%s", why);
  }
}

void slp_ready_count(slp_ready_shards *all, const sloop_shard_stats_t *shard, uint32_t unready_ms) {
  char why[SLP_READY_WHY];
  if (slp_ready_is_stuck(shard, unready_ms, why)) count_stuck_shard(all, shard->state, shard->state_ms, why);
}

void slp_ready_count_refused(slp_ready_shards *all, const char *shard, uint64_t ago_ms, uint32_t unready_ms) {
  char why[SLP_READY_WHY];
  if (slp_ready_is_refused(shard, ago_ms, unready_ms, why))
    count_stuck_shard(all, SLOOP_SHARD_IS_REFUSED, (int64_t)ago_ms, why);
}

int slp_ready_put(const slp_ready_shards *all, slp_buf *b) {
  uint8_t told[SLP_READY_STATES] = {0};
  for (size_t n = 0;;) {
    size_t next = SLP_READY_STATES;
    for (size_t i = 0; i < SLP_READY_STATES; i++)
      if (all->of[i].n && !told[i] && (next == SLP_READY_STATES || all->of[i].ms > all->of[next].ms))
        next = i;
    if (next == SLP_READY_STATES) return slp_buf_failed(b);
    told[next] = 1;
    add_reason(b, &n, all->of[next].why);
    uint32_t more = all->of[next].n - 1;
    if (more) slp_buf_addf(b, " (and %u more shard%s)", (unsigned)more, more > 1 ? "s" : "");
  }
}

int slp_ready(const slp_sample *s, slp_buf *why) {
  size_t lines = 0;
  for (size_t i = 0; i < s->consumers_n; i++) {
    const slp_sample_consumer *c = &s->consumers[i];
    if (slp_ready_is(s, c)) continue;
    size_t from = why->n;
    slp_buf_addf(why, "%s%.100s: ", lines++ ? "\n" : "", slp_sample_text(s, c->stream));
    add_reasons(s, c, why);
    if (slp_buf_failed(why)) slp_buf_cut(why, from);
  }
  return !lines;
}
