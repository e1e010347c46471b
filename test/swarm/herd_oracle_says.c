/* herd_oracle_says.c - what a worker says of itself, held against the truth: T1 to T5. A rule allows for how
 * late a worker can know: an answer on its way, a call that nobody has answered yet, the clock of a machine. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

/* A lag may be too small by this: the service tells its time in whole seconds, and an answer may be late. */
#define SLACK_MS 4000
/* A shard that is told as read for so long must have had a page lately. */
#define WELL_MS 1000
/* A call that is not answered is told as failing after 3 s; one may have been answered just before. */
#define UNANSWERED_MS 8000
/* A subscription that has brought no event for 10 s is told as failing. */
#define EVENT_MS 10000
/* An event is told to the program in the turn after it happened. */
#define MOMENT_US 1000000
#define HEARD_US_MAX 60000000 /* a worker that looks for nothing else looks at the rows each minute */

static int64_t ms_between(uint64_t from_us, uint64_t to_us) {
  return to_us > from_us ? (int64_t)((to_us - from_us) / 1000) : 0;
}

/* What a clock may add to a span of so many ms, or leave out of it. */
static int64_t by_clock(const hd_oracle *o, int64_t ms) {
  return o->terms.clocks_beyond ? ms / 2 : o->terms.order_loose ? ms / 10 : 0;
}

/* For so long a shard may be told as well without a page. */
static int64_t unanswered_ms(const hd_oracle *o) {
  int64_t ms = UNANSWERED_MS + 2 * (int64_t)o->terms.poll_ms + (int64_t)o->terms.late_ms;
  return ms + (o->terms.pushed ? EVENT_MS : 0);
}

static const char *state_name(sloop_shard_state_t state) {
  static const char *const states[] = {
      "?",         "read",   "at tip",   "waits for you", "waits for another", "fails",
      "suspended", "paused", "given up", "parked",        "refused",           "waits for its parent"};
  return state < SLP_COUNT(states) ? states[state] : "?";
}

static int is_well(sloop_shard_state_t state) {
  return state == SLOOP_SHARD_IS_READ || state == SLOOP_SHARD_IS_AT_TIP;
}

void hd_paged(hd_oracle *o, size_t life, size_t shard) {
  hd_of(o, hd_life_of(o, life), o->shards[shard])->paged_us = hd_now(o);
}

void hd_throttled(hd_oracle *o, size_t life, size_t shard) {
  hd_of(o, hd_life_of(o, life), o->shards[shard])->throttled_us = hd_now(o);
}

/* Only the first one is a sign of life: places may be told for ever, and no page. */
void hd_located(hd_oracle *o, size_t life, size_t shard) {
  hd_of_shard *of = hd_of(o, hd_life_of(o, life), o->shards[shard]);
  if (of->located_us <= of->paged_us) of->located_us = hd_now(o);
}

void hd_asked(hd_oracle *o, size_t life, int stood) {
  hd_life *l = hd_life_of(o, life);
  l->asked_before_us = l->asked_us;
  l->asked_us = hd_now(o);
  if (stood || !l->asked_before_us) l->awake_us = l->asked_us;
  if (stood && l->asked_before_us)
    l->stood_us_max = slp_max_u64(l->stood_us_max, l->asked_us - l->asked_before_us);
}

/* ---- lag ----------------------------------------------------------------------------------------------- */

/* The oldest record that its reader must read and nobody there has finished with; SIZE_MAX: there is none. */
static size_t oldest_unfinished(hd_oracle *o, hd_ownership *t) {
  const hd_part *s = t->shard;
  size_t low, i;
  if (t->began)
    i = t->prefix;
  else
    hd_beginning(o, t, &low, &i);
  while (i < s->notes_n && (i < s->trimmed || (t->began && i < t->next && i >= t->first &&
                                               hd_place_of(o, t, i)->fate >= HD_ACKED)))
    i++;
  return i < s->notes_n ? i : SIZE_MAX;
}

static void judge_unknown(hd_oracle *o, const hd_life *l, const hd_part *s, hd_of_shard *of,
                          const sloop_shard_stats_t *st) {
  /* Without room for what came, pages are dropped and asked for again: until then it is not known. */
  int drops = o->terms.buffered_bytes_max <= (o->terms.pushed ? 4u : 1u) << 20;
  if (st->behind_ms >= 0 || s->closed || o->terms.untold_lags || drops) {
    of->unknown_us = 0;
    return;
  }
  if (!of->unknown_us) of->unknown_us = l->asked_us;
  if (of->fresh_us > of->unknown_us + 5 * MOMENT_US)
    hd_break(o, HD_T1_LAG, s->id,
             "%s does not know how far behind it is, and records came %" PRId64 " ms later", l->what,
             ms_between(of->unknown_us, of->fresh_us));
}

static void judge_lag(hd_oracle *o, const hd_life *l, const hd_part *s, hd_of_shard *of,
                      const sloop_shard_stats_t *st, int64_t oldest_ms) {
  int64_t quiet_ms = ms_between(of->paged_us, l->asked_us);
  int64_t slack_ms = SLACK_MS + o->terms.poll_ms + (o->terms.pushed ? EVENT_MS : 0);
  /* An answer that is late, or was read after a stand, tells the service's time by so much too low. By clocks that agree the
   * answers before it tell more. */
  int64_t stood_ms = o->terms.order_loose ? (int64_t)(l->stood_us_max / 1000) + o->terms.late_ms : 0;
  int too_small =
      st->behind_ms >= 0 && oldest_ms > st->behind_ms + slack_ms + stood_ms + by_clock(o, oldest_ms);
  if (!too_small) of->small_us = 0;
  if (too_small && !of->small_us) of->small_us = l->asked_us;
  if (st->behind_ms < 0) return;
  /* By a clock that runs too unevenly what is known of the service's time begins anew now and then. */
  int64_t most_ms = o->terms.order_loose ? 2 * slack_ms : 0;
  if (too_small && !o->terms.pages_lie && ms_between(of->small_us, l->asked_us) >= most_ms)
    hd_break(o, HD_T1_LAG, s->id,
             "%s tells %" PRId64 " ms behind (%s, %" PRIu64 " unacked), and has a record of %" PRId64 " ms",
             l->what, st->behind_ms, state_name(st->state), st->unacked, oldest_ms);
  if (!of->paged_us)
    hd_break(o, HD_T1_LAG, s->id, "%s tells %" PRId64 " ms behind, and nobody ever answered", l->what,
             st->behind_ms);
  else if (quiet_ms > st->behind_ms + slack_ms + by_clock(o, quiet_ms))
    hd_break(o, HD_T1_LAG, s->id,
             "%s tells %" PRId64 " ms behind (%s), and its last page was %" PRId64 " ms ago", l->what,
             st->behind_ms, state_name(st->state), quiet_ms);
}

/* ---- state --------------------------------------------------------------------------------------------- */

static void judge_state(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of,
                        const sloop_shard_stats_t *st, int64_t oldest_ms) {
  uint64_t since_us =
      slp_max_u64(slp_max_u64(of->paged_us, of->taken_us), slp_max_u64(of->rested_us, l->awake_us));
  since_us = slp_max_u64(since_us, of->located_us);
  int64_t quiet_ms = ms_between(since_us, l->asked_us);
  int64_t most_ms = unanswered_ms(o);
  if (st->state == SLOOP_SHARD_IS_AT_TIP && !st->at_tip)
    hd_break(o, HD_T2_STATE, s->id, "%s: at_tip is %d, and its state: %s", l->what, st->at_tip,
             state_name(st->state));
  if (st->at_tip && st->behind_ms)
    hd_break(o, HD_T2_STATE, s->id, "%s tells it at its tip and %" PRId64 " ms behind", l->what,
             st->behind_ms);
  /* The first answer behind a stand may be as old as the stand was long: the shard is read again then, and
   * its next page follows within WELL_MS. */
  int64_t well_ms = of->well_us ? ms_between(of->well_us, l->asked_us) : 0;
  if (is_well(st->state) && oldest_ms < 0 && !st->unacked && !s->closed && well_ms >= WELL_MS &&
      quiet_ms > most_ms + by_clock(o, quiet_ms))
    hd_break(o, HD_T2_STATE, s->id, "%s: %s, and its last page was %" PRId64 " ms ago", l->what,
             state_name(st->state), quiet_ms);
  if (st->state == SLOOP_SHARD_FAILS && !st->error[0])
    hd_break(o, HD_T2_STATE, s->id, "%s: it fails, and no error is named", l->what);
}

/* ---- leases -------------------------------------------------------------------------------------------- */

/* The row has it for another, or in a later epoch, or nobody told that it was taken. */
static int is_strange(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of, uint64_t epoch,
                      uint64_t *ret_most_us) {
  const hd_version *row = hd_row_now(s);
  *ret_most_us = MOMENT_US;
  if (!of->taken || of->epoch != epoch) return 1;
  *ret_most_us = o->terms.lease_us + MOMENT_US;
  /* Read to its end, and that is not in the table yet: nothing of it is read any more. */
  if (s->closed && of->now && of->now->began && of->now->prefix == s->notes_n) return 0;
  if (!row || row->gone || row->at == HD_AT_END || s->excused || (of->now && of->now->loose)) return 0;
  return !row->owner[0] || !hd_is_instance(o, l, row->owner) || (!o->terms.by_counter && row->epoch != epoch);
}

static void judge_lease(hd_oracle *o, const hd_life *l, const hd_part *s, hd_of_shard *of,
                        const sloop_shard_stats_t *st) {
  uint64_t most_us, now = l->asked_us;
  int told = st->state != SLOOP_SHARD_IS_SUSPENDED && st->state != SLOOP_SHARD_IS_GIVEN_UP;
  if (!told || !is_strange(o, l, s, of, st->epoch, &most_us)) {
    of->strange_us = 0;
    return;
  }
  of->strange_us = of->strange_us ? slp_max_u64(of->strange_us, l->awake_us) : now;
  int64_t ms = ms_between(of->strange_us, now);
  if (ms <= (int64_t)(most_us / 1000) + by_clock(o, ms)) return;
  const hd_version *row = hd_row_now(s);
  hd_break(o, HD_T5_LEASE, s->id,
           "%s tells it as its own in epoch %" PRIu64 " (%s), for %" PRId64
           " ms %s; the table has %s in epoch %" PRIu64,
           l->what, st->epoch, state_name(st->state), ms, of->taken ? "wrongly" : "and it is not taken",
           row && row->owner[0] ? row->owner : "nobody", row ? row->epoch : 0);
}

/* ---- not read ------------------------------------------------------------------------------------------ */

static int is_unread(sloop_shard_state_t state) {
  return state == SLOOP_SHARD_IS_PARKED || state == SLOOP_SHARD_IS_REFUSED ||
         state == SLOOP_SHARD_WAITS_FOR_PARENT;
}

/* It is told without an epoch and a lag, and waits for a parent that it has, until its worker has looked. */
static void judge_unread(hd_oracle *o, const hd_life *l, const hd_part *s, hd_of_shard *of,
                         const sloop_shard_stats_t *st) {
  if (st->epoch || st->behind_ms != -1)
    hd_break(o, HD_T2_STATE, s->id, "%s: %s, in epoch %" PRIu64 " and %" PRId64 " ms behind", l->what,
             state_name(st->state), st->epoch, st->behind_ms);
  if (st->state != SLOOP_SHARD_WAITS_FOR_PARENT) return;
  if (s->parents[0] < 0 && s->parents[1] < 0)
    hd_break(o, HD_T2_STATE, s->id, "%s: waits for %s, and it has no parent", l->what, st->other);
  uint64_t readable_us = hd_readable_us(o, s->number);
  if (!of->waits_us) of->waits_us = l->asked_us;
  if (!readable_us || readable_us == HD_NEVER) return;
  int64_t ms = ms_between(slp_max_u64(readable_us, slp_max_u64(of->waits_us, l->awake_us)), l->asked_us);
  if (ms > HEARD_US_MAX / 1000 + by_clock(o, ms))
    hd_break(o, HD_T2_STATE, s->id, "%s: waits for %s, and its parents ended %" PRId64 " ms ago", l->what,
             st->other, ms);
}

/* ---- at rest ------------------------------------------------------------------------------------------- */

static void judge_rest(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of,
                       const sloop_shard_stats_t *st) {
  /* Between two subscriptions the age of the last event is all that is known. */
  int64_t late_ms = SLACK_MS + (int64_t)o->terms.poll_ms + (o->terms.pushed ? EVENT_MS : 0);
  int is_near = !st->unacked && st->behind_ms >= 0 && st->behind_ms < late_ms;
  int well = st->state == SLOOP_SHARD_IS_AT_TIP && st->behind_ms == 0 && st->at_tip && !st->unacked;
  well |= st->state == SLOOP_SHARD_IS_READ && is_near;
  /* The last call was refused as one too many, because the network held the calls before it up. */
  well |= st->state == SLOOP_SHARD_FAILS && is_near && of->throttled_us > of->paged_us &&
          ms_between(of->throttled_us, l->asked_us) < late_ms;
  /* Between two subscriptions the service may keep the shard for the one before. */
  well |=
      o->terms.pushed && st->state == SLOOP_SHARD_FAILS && strcmp(st->error, "ResourceInUseException") == 0;
  if (!well && !s->closed)
    hd_break(o, HD_T3_REST, s->id, "%s: %s, %" PRId64 " ms behind, at tip %d, %" PRIu64 " unacked: %s",
             l->what, state_name(st->state), st->behind_ms, st->at_tip, st->unacked, st->error);
}

void hd_said(hd_oracle *o, size_t life, int at_rest) {
  hd_life *l = hd_life_of(o, life);
  for (size_t i = 0; at_rest && i < o->shards_n; i++) {
    const hd_part *s = o->shards[i];
    const hd_version *row = hd_row_now(s);
    if (!row || row->gone || row->parked || s->closed || !row->owner[0] || !hd_is_instance(o, l, row->owner))
      continue;
    uint64_t readable_us = hd_readable_us(o, i); /* the parents have ended, and the owner hears of that */
    if (readable_us && (readable_us == HD_NEVER || l->asked_us < readable_us + HEARD_US_MAX)) continue;
    if (hd_of(o, l, s)->told_us != l->asked_us)
      hd_break(o, HD_T3_REST, s->id, "%s owns it, and does not tell it", l->what);
  }
}

/* ---- all of a shard ------------------------------------------------------------------------------------ */

void hd_says(hd_oracle *o, size_t life, const sloop_shard_stats_t *st, int at_rest) {
  hd_life *l = hd_life_of(o, life);
  hd_part *s = hd_find_shard(o, st->shard);
  if (!s) {
    hd_break(o, HD_S3_INTEGRITY, st->shard, "%s tells a shard that there is not", l->what);
    return;
  }
  hd_of_shard *of = hd_of(o, l, s);
  hd_ownership *t = of->taken && of->epoch == st->epoch ? of->now : NULL;
  int is_new = !of->told_us || of->told_us != l->asked_before_us;
  of->told_us = l->asked_us;
  of->state = st->state;
  of->state_ms = st->state_ms;
  if (st->behind_ms >= 0) of->unknown_us = 0;
  if (is_new) of->unknown_us = of->strange_us = of->small_us = of->waits_us = 0;
  if (is_unread(st->state)) {
    of->unknown_us = of->strange_us = of->small_us = 0;
    judge_unread(o, l, s, of, st);
    return;
  }
  of->waits_us = 0;
  if (!is_well(st->state)) of->well_us = 0;
  if (is_well(st->state) && (is_new || !of->well_us)) of->well_us = l->asked_us;
  if (is_new || (!is_well(st->state) && st->state != SLOOP_SHARD_FAILS)) of->rested_us = l->asked_us;
  judge_lease(o, l, s, of, st);
  if (!t || t->over || t->loose) return;
  hd_judge_owed(o, l, s, of);
  size_t oldest = oldest_unfinished(o, t);
  int64_t oldest_ms = oldest == SIZE_MAX ? -1 : ms_between(s->notes[oldest].put_us, l->asked_us);
  judge_unknown(o, l, s, of, st);
  judge_lag(o, l, s, of, st, oldest_ms);
  judge_state(o, l, s, of, st, oldest_ms);
  if (at_rest) judge_rest(o, l, s, of, st);
}

/* ---- readiness ----------------------------------------------------------------------------------------- */

/* Since when nothing has come of this shard that its worker has to read; HD_NEVER: it has not to, or it goes on. */
static uint64_t stands_since_us(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of) {
  hd_ownership *t = of->now;
  if (!of->taken || !of->opened || of->paused || l->paused_all || !t || t->over || t->loose) return HD_NEVER;
  if (s->closed && oldest_unfinished(o, t) == SIZE_MAX) return HD_NEVER;
  uint64_t since_us = slp_max_u64(of->taken_us, slp_max_u64(of->paged_us, of->moved_us));
  since_us = slp_max_u64(since_us, of->located_us);
  since_us =
      slp_max_u64(since_us, l->unready_us); /* what it said then was true; a new reason may have begun */
  return slp_max_u64(slp_max_u64(since_us, l->unpaused_us), slp_max_u64(l->awake_us, l->suspended_us));
}

void hd_says_ready(hd_oracle *o, size_t life, const char *why_not, int at_rest) {
  hd_life *l = hd_life_of(o, life);
  uint64_t now = hd_now(o);
  /* A shard may have stood for one reason, and then for another: /ready counts each by itself. */
  int64_t most_ms = 2 * (int64_t)o->terms.unready_ms + unanswered_ms(o);
  if (why_not[0]) {
    l->unready_us = now;
    /* Between two subscriptions the service may keep a shard for the one before. */
    if (at_rest && !(o->terms.pushed && strstr(why_not, ": ResourceInUse")))
      hd_break(o, HD_T4_READY, NULL, "%s is not ready, and all is well: %s", l->what, why_not);
    return;
  }
  if (l->suspended && now > l->suspended_us + MOMENT_US)
    hd_break(o, HD_T4_READY, NULL, "%s is ready, and suspended for %" PRId64 " ms", l->what,
             ms_between(l->suspended_us, now));
  if (!l->joined && now > slp_max_u64(l->joined_us, l->born_us) + MOMENT_US)
    hd_break(o, HD_T4_READY, NULL, "%s is ready, and has not joined", l->what);
  for (size_t i = 0; i < o->shards_n; i++) {
    uint64_t since_us = stands_since_us(o, l, o->shards[i], hd_of(o, l, o->shards[i]));
    int64_t ms = since_us == HD_NEVER ? 0 : ms_between(since_us, now);
    if (ms > most_ms + by_clock(o, ms))
      hd_break(
          o, HD_T4_READY, o->shards[i]->id,
          "%s is ready, and nothing has come of a shard for %" PRId64 " ms: told as: %s, for %" PRId64 " ms",
          l->what, ms, state_name(hd_of(o, l, o->shards[i])->state), hd_of(o, l, o->shards[i])->state_ms);
  }
}
