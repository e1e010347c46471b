/* truth.c - what a consumer tells of its reading, held against what the world knows. */
#include "swarm/truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/metrics.h"
#include "api/metrics_ready.h"
#include "swarm/inside.h"

/* ---- counts ------------------------------------------------------------------------------------------ */

void slp_truth_stats(slp_judged *m, const sloop_stats_t *st) {
  slp_oracle *o = m->oracle;
  /* One page: its body and its table of 40 bytes a record, which grows by doubling; small fixed parts. */
  uint64_t page = o->world->largest_answer + 80 * (UINT64_C(10000) + o->world->aggregated) + 65536;
  if (st->buffered_bytes_peak > m->opts->buffered_bytes_max + page)
    slp_oracle_bad(o, "P5 budget: %" PRIu64 " bytes held, %" PRIu64 " allowed and one page of %" PRIu64,
                   st->buffered_bytes_peak, m->opts->buffered_bytes_max, page);
  if (st->records != m->records)
    slp_oracle_bad(o, "S12 contract: statistics count %" PRIu64 " records, not %" PRIu64, st->records,
                   m->records);
  if (st->redelivered != m->again)
    slp_oracle_bad(o, "S12 contract: statistics count %" PRIu64 " again, not %" PRIu64, st->redelivered,
                   m->again);
  if (st->batches != m->batches)
    slp_oracle_bad(o, "S12 contract: statistics count %" PRIu64 " batches, not %" PRIu64, st->batches,
                   m->batches);
  if (st->batches_now != m->batches_out)
    slp_oracle_bad(o, "S12 contract: statistics say %" PRIu64 " batches are out, not %u", st->batches_now,
                   m->batches_out);
}

/* ---- how far behind, and what is done ---------------------------------------------------------------- */

#define LOOK_US 250000
#define READY_EVERY 4 /* so many looks at the shards go to one at the readiness */
/* What a lag may be too small by: the service tells its time in whole seconds. */
#define SLACK_MS 3000
/* Nothing rests for longer between two calls: the longest back-off. */
#define QUIET_MS 45000

typedef struct look {
  slp_judged *m;
  uint64_t now_us, before_us; /* before_us: when it was asked last */
  uint64_t awake_us;          /* awake_us: its process runs since then */
  int at_rest;
} look;

static int64_t ms_since(const look *l, uint64_t us) { return (int64_t)((l->now_us - us) / 1000); }

/* The age of the oldest record that the consumer must read and the user has not finished with; -1: none. */
static int64_t oldest_age_ms(const look *l, slp_judged_shard *s) {
  const slp_known_shard *k = s->known;
  size_t low, high = 0;
  if (!slp_oracle_start_range(l->m, s, &low, &high)) return -1;
  s->done_n = slp_max_u64(s->done_n, s->started ? s->first : high);
  while (s->started && s->done_n < s->next &&
         (k->notes[s->done_n].trimmed || slp_oracle_is_done(l->m, s, s->done_n)))
    s->done_n++;
  while (s->done_n < k->notes_n && k->notes[s->done_n].trimmed) s->done_n++;
  return s->done_n < k->notes_n ? ms_since(l, k->notes[s->done_n].put_us) : -1;
}

static const char *state_name(sloop_shard_state_t state) {
  static const char *const names[] = {"?",     "read",      "at tip", "waits for you", "waits for another",
                                      "fails", "suspended", "paused", "given up"};
  return state < SLP_COUNT(names) ? names[state] : "?";
}

static void judge_lag(const look *l, const sloop_shard_stats_t *st, const slp_known_shard *k,
                      int64_t oldest_ms) {
  slp_oracle *o = l->m->oracle;
  int64_t slack_ms = SLACK_MS + 1000 + l->m->opts->poll_ms, quiet_ms = ms_since(l, k->paged_us);
  if (st->behind_ms < 0) return;
  if (oldest_ms > st->behind_ms + slack_ms && !o->lags_lie)
    slp_oracle_bad(o,
                   "T1 lag: %s is told %" PRId64 " ms behind (%s, %" PRIu64
                   " unacked), and has a record of %" PRId64 " ms",
                   k->id, st->behind_ms, state_name(st->state), st->unacked, oldest_ms);
  if (!k->paged_us)
    slp_oracle_bad(o, "T1 lag: %s is told %" PRId64 " ms behind, and nobody ever answered", k->id,
                   st->behind_ms);
  else if (quiet_ms > st->behind_ms + slack_ms)
    slp_oracle_bad(o, "T1 lag: %s is told %" PRId64 " ms behind, and its last page was %" PRId64 " ms ago",
                   k->id, st->behind_ms, quiet_ms);
}

static void judge_state(const look *l, const sloop_shard_stats_t *st, const slp_known_shard *k,
                        int64_t oldest_ms, uint64_t rested_us) {
  slp_oracle *o = l->m->oracle;
  int64_t quiet_ms = ms_since(l, slp_max_u64(slp_max_u64(k->paged_us, k->first_locate_us), rested_us));
  int says_well = st->state == SLOOP_SHARD_IS_READ || st->state == SLOOP_SHARD_IS_AT_TIP;
  if (st->state == SLOOP_SHARD_IS_AT_TIP && !st->at_tip)
    slp_oracle_bad(o, "T2 state: %s: at_tip is %d, and its state: %s", k->id, st->at_tip,
                   state_name(st->state));
  if (st->at_tip && st->behind_ms)
    slp_oracle_bad(o, "T2 state: %s is told at its tip and %" PRId64 " ms behind", k->id, st->behind_ms);
  /* Records in its hands may be trimmed meanwhile, and are handed out all the same. */
  if (says_well && oldest_ms < 0 && !st->unacked && quiet_ms > QUIET_MS + 2 * (int64_t)l->m->opts->poll_ms)
    slp_oracle_bad(o, "T2 state: %s: %s, and its last page was %" PRId64 " ms ago", k->id,
                   state_name(st->state), quiet_ms);
  if (st->state == SLOOP_SHARD_FAILS && !st->error[0])
    slp_oracle_bad(o, "T2 state: %s fails, and no error is named", k->id);
}

/* All is acknowledged and nothing is wrong. */
static void judge_rest(const look *l, const sloop_shard_stats_t *st, const slp_known_shard *k) {
  int well = st->state == SLOOP_SHARD_IS_AT_TIP && st->behind_ms == 0 && st->at_tip && !st->unacked;
  int64_t late_ms = SLACK_MS + 1000 + (int64_t)l->m->opts->poll_ms;
  int is_near = !st->unacked && st->behind_ms >= 0 && st->behind_ms < late_ms;
  /* An answer may be late just then. */
  well |= st->state == SLOOP_SHARD_IS_READ && is_near;
  /* Or its turn: of more shards than calls may be out, some wait for a free call. */
  well |= st->state == SLOOP_SHARD_WAITS_FOR_ANOTHER && is_near &&
          l->m->opts->in_flight_max < l->m->stream->shards_n;
  /* Or the service refused the last call as one too many, because the network held the calls before it up. */
  well |= st->state == SLOOP_SHARD_FAILS && is_near && k->refused_last_us &&
          ms_since(l, k->refused_last_us) < late_ms;
  if (!well && !k->closed && st->state != SLOOP_SHARD_IS_GIVEN_UP)
    slp_oracle_bad(l->m->oracle, "T3 rest: %s: %s, %" PRId64 " ms behind, at tip %d, %" PRIu64 " unacked: %s",
                   k->id, state_name(st->state), st->behind_ms, st->at_tip, st->unacked, st->error);
}

static void judge_shard(const sloop_shard_stats_t *st, void *arg) {
  const look *l = arg;
  size_t at = slp_world_find(l->m->stream, st->shard);
  if (at == SIZE_MAX) return;
  slp_judged_shard *s = &l->m->shards[at];
  int64_t oldest_ms = oldest_age_ms(l, s);
  judge_lag(l, st, s->known, oldest_ms);
  /* Nothing is read then, and that is told; or it was not told at all when it was looked at last. */
  int is_new = s->told_us != l->before_us;
  s->told_us = l->now_us;
  if (is_new || (st->state >= SLOOP_SHARD_WAITS_FOR_YOU && st->state != SLOOP_SHARD_FAILS))
    s->rested_us = l->now_us;
  judge_state(l, st, s->known, oldest_ms, slp_max_u64(s->rested_us, l->awake_us));
  if (l->at_rest) judge_rest(l, st, s->known);
}

/* ---- readiness ---------------------------------------------------------------------------------------- */

/* A shard may have failed for one reason, and then for another: /ready counts each by itself. A call without an
 * answer fails after a while. */
static int64_t stands_ms_max(const slp_judged *m) {
  return 2 * (int64_t)m->opts->unready_ms + 8000 + 2 * (int64_t)m->opts->poll_ms;
}

/* For how long nothing has come of a shard that is read; 0: it is paused, not opened, or there is nothing. */
static int64_t stands_ms(const look *l, slp_judged_shard *s) {
  const slp_known_shard *k = s->known;
  if (!s->opened || s->paused || l->m->paused_all || (k->closed && oldest_age_ms(l, s) < 0)) return 0;
  uint64_t since_us = slp_max_u64(slp_max_u64(k->paged_us, s->moved_us), l->awake_us);
  since_us = slp_max_u64(since_us, l->m->unready_us); /* a new reason may have begun since */
  return ms_since(l, slp_max_u64(since_us, l->m->resumed_us));
}

/* As /ready answers. */
static void judge_ready(const look *l, sloop_t *c, slp_host *h) {
  slp_oracle *o = l->m->oracle;
  slp_sample sample;
  char why[SLP_READY_WHY];
  slp_buf text;
  uint64_t now_us = o->world->sim->now_us, seen_us = h->now_us;
  slp_sample_init(&sample, o->world->mem);
  SLP_CHECK(slp_metrics_sample(c, 0, &sample, 0) == 0);
  slp_buf_init(&text, o->world->mem, 1 << 16);
  int ready = slp_ready(&sample, &text);
  snprintf(why, sizeof why, "%s", text.n ? slp_buf_z(&text) : "");
  slp_buf_free(&text);
  slp_sample_free(&sample);
  /* Each look at a clock takes a microsecond of the simulation. */
  o->world->sim->now_us = now_us;
  h->now_us = seen_us;
  if (!ready) l->m->unready_us = l->now_us;
  if (!ready && l->at_rest && !l->m->any_stopped)
    slp_oracle_bad(o, "T4 ready: all is well, and it is not ready: %s", why);
  for (size_t i = 0; ready && i < l->m->stream->shards_n; i++) {
    int64_t ms = stands_ms(l, &l->m->shards[i]);
    if (ms > stands_ms_max(l->m))
      slp_oracle_bad(o, "T4 ready: it is ready, and nothing has come of %s for %" PRId64 " ms",
                     l->m->stream->shards[i].id, ms);
  }
}

static int can_tell(slp_judged *m, const slp_user *u) {
  const slp_world *w = m->oracle->world;
  uint64_t now = slp_sim_now_us(w->sim), thaws_us = slp_sim_frozen_until(u->host);
  /* A frozen process runs again from thaws_us on. The last look that found it frozen may be half a minute
   * older, because looks come with events. A shard fails since the first call that failed after the thaw, so
   * the consumer may truly be ready for unready_ms more. */
  m->frozen_us = slp_max_u64(m->frozen_us, slp_min_u64(thaws_us, now));
  if (thaws_us > now) return 0;
  return u->s && m->started && !m->failed && !m->close_called && !m->stopped && !w->clock_went_back;
}

static void ask(slp_user *u, int at_rest) {
  slp_judged *m = u->judged;
  look l = {m, slp_sim_now_us(m->oracle->world->sim), m->looked_us, slp_max_u64(m->started_us, m->frozen_us),
            at_rest};
  m->looked_us = l.now_us;
  (void)slp_now_refresh_us(u->host); /* as at the begin of a turn */
  SLP_CALL(m->oracle, sloop_shard_stats_each(u->s, judge_shard, &l));
  if (at_rest || m->looks++ % READY_EVERY == 0) SLP_CALL(m->oracle, judge_ready(&l, u->s, u->host));
}

void slp_truth_look(slp_user *u) {
  uint64_t now = slp_sim_now_us(u->world->sim);
  if (now >= u->judged->looked_us + LOOK_US && can_tell(u->judged, u)) ask(u, 0);
}

void slp_truth_rest(slp_user *u) {
  if (can_tell(u->judged, u)) ask(u, 1);
}
