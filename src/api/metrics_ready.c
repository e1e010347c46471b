/* metrics_ready.c - what makes a consumer not ready. */
#include "api/metrics_ready.h"

#include <stdio.h>

const char *slp_ready_wrong(const slp_sample *s, const slp_sample_consumer *c) {
  if (c->table.there) return slp_sample_text(s, c->stuck)[0] ? slp_sample_text(s, c->stuck) : NULL;
  switch (c->reading) {
    case SLP_READING_NOT_STARTED: return "not started";
    case SLP_READING_FINDING: return "its shards are not known yet";
    case SLP_READING_STOPPING: return "stopping";
    case SLP_READING_STOPPED: return "stopped";
    case SLP_READING_FAILED: return "it failed and has stopped by itself";
    case SLP_READING_RUNNING: break;
  }
  if (c->stats.holes_now) return "a part of the stream is not going to be read: there is a hole";
  if (slp_sample_text(s, c->app)[0]) {
    if (c->stats.suspended_now && !SLP_MUTANT(suspended_is_ready))
      return "suspended: this worker can't prove that it lives";
    if (!c->stats.joined_now) return "this worker has not joined its application";
  }
  const char *stuck = slp_sample_text(s, c->stuck);
  return stuck[0] ? stuck : NULL;
}

/* What is parked or refused waits for an operator, and is told at once. A shard that is paused waits
 * because it was told to; that a worker is suspended has a line of its own. */
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
      snprintf(why, SLP_READY_WHY, "%.128s is parked: nobody reads it until it is released", shard->shard);
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

/* No time is given it: it is refused for good, and nobody reads the shard meanwhile. */
int slp_ready_is_refused(const char *shard, uint64_t ago_ms, uint32_t unready_ms, char why[SLP_READY_WHY]) {
  if (unready_ms == UINT32_MAX) return 0;
  snprintf(why, SLP_READY_WHY, "the service refused the position of %.128s %llu s ago: --explain says more",
           shard, (unsigned long long)(ago_ms / 1000));
  return 1;
}

const char *slp_ready_state_word(sloop_shard_state_t state) {
  switch (state) {
    case SLOOP_SHARD_IS_READ: return "reading";
    case SLOOP_SHARD_IS_AT_TIP: return "at_tip";
    case SLOOP_SHARD_WAITS_FOR_YOU: return "waiting_for_user";
    case SLOOP_SHARD_WAITS_FOR_ANOTHER: return "waiting_for_shard";
    case SLOOP_SHARD_FAILS: return "failing";
    case SLOOP_SHARD_IS_SUSPENDED: return "suspended";
    case SLOOP_SHARD_IS_PAUSED: return "paused";
    case SLOOP_SHARD_IS_GIVEN_UP: return "given_up";
    case SLOOP_SHARD_IS_PARKED: return "parked";
    case SLOOP_SHARD_IS_REFUSED: return "refused";
    case SLOOP_SHARD_WAITS_FOR_PARENT: return "waiting_for_parent";
  }
  return "unknown";
}

int slp_ready(const slp_sample *s, char why[SLP_READY_WHY]) {
  why[0] = 0;
  for (size_t i = 0; i < s->consumers_n; i++) {
    const slp_sample_consumer *c = &s->consumers[i];
    const char *wrong = slp_ready_wrong(s, c);
    if (!wrong) continue;
    snprintf(why, SLP_READY_WHY, "%.100s: %s", slp_sample_text(s, c->stream), wrong);
    return 0;
  }
  return 1;
}
