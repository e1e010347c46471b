/* herd_oracle_contract.c - the callbacks that are not records: S11, S12, P1, P2, P8, P10. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

/* ---- callbacks at all ---------------------------------------------------------------------------------- */

int hd_called_back(hd_oracle *o, hd_life *l, const char *name) {
  if (l->died)
    hd_break(o, HD_P2_CLOSED, NULL, "%s: %s, and it is dead", l->what, name);
  else if (l->inside)
    hd_break(o, HD_P1_NOT_INSIDE, NULL, "%s: %s runs inside a call", l->what, name);
  else if (l->closed)
    hd_break(o, HD_P2_CLOSED, NULL, "%s: %s after the close callback", l->what, name);
  else if (l->closing)
    hd_break(o, HD_P2_CLOSED, NULL, "%s: %s after sloop_close()", l->what, name);
  return !l->died && !l->closing;
}

void hd_on_any(hd_oracle *o, size_t life, const char *callback) {
  (void)hd_called_back(o, hd_life_of(o, life), callback);
}

void hd_on_answer(hd_oracle *o, size_t life, const char *callback, int status) {
  hd_life *l = hd_life_of(o, life);
  int canceled = l->closing && !l->closed && !l->died && !l->inside && status == SLP_ECANCELED;
  if (!canceled) (void)hd_called_back(o, l, callback);
}

static hd_part *shard_of(hd_oracle *o, const hd_life *l, const char *id, const char *name) {
  hd_part *s = hd_find_shard(o, id);
  if (!s) hd_break(o, HD_S12_CONTRACT, id, "%s: %s of a shard that there is not", l->what, name);
  return s;
}

static void over(hd_oracle *o, hd_of_shard *of, int given) {
  if (of->now) hd_ownership_over(o, of->now, given);
  of->paused = 0; /* a single shard's pause ends when its lease goes */
}

/* ---- shards -------------------------------------------------------------------------------------------- */

static void judge_end(hd_oracle *o, const hd_life *l, hd_part *s, const hd_ownership *t) {
  const hd_version *row = hd_row_now(s);
  if (!s->closed) hd_break(o, HD_S12_CONTRACT, s->id, "%s tells its end, and it is open", l->what);
  if (s->ended_told && !s->excused_ever)
    hd_break(o, HD_S12_CONTRACT, s->id, "its end is told twice, now by %s", l->what);
  s->ended_told = 1;
  if ((!row || row->at != HD_AT_END) && !s->excused_ever)
    hd_break(o, HD_S12_CONTRACT, s->id, "%s tells its end, and the table has not got it", l->what);
  if (t && (t->out_n || t->back_n))
    hd_break(o, HD_S12_CONTRACT, s->id, "%s tells its end with %zu records out and %zu given back", l->what,
             t->out_n, t->back_n);
}

void hd_on_shard(hd_oracle *o, size_t life, const char *shard, sloop_shard_event_kind_t what) {
  hd_life *l = hd_life_of(o, life);
  if (!hd_called_back(o, l, "on_shard")) return;
  hd_part *s = shard_of(o, l, shard, "on_shard");
  if (!s) return;
  hd_of_shard *of = hd_of(o, l, s);
  hd_tell(o, HD_TOLD_SHARD, life, s->number, (hd_told){.n = (size_t)what});
  if (what == SLOOP_SHARD_OPENED) {
    if (of->opened && !o->terms.memory_fails)
      hd_break(o, HD_S12_CONTRACT, shard, "%s: opened twice", l->what);
    of->opened = 1;
    return;
  }
  if (!of->opened && what != SLOOP_SHARD_ENDED && !o->terms.memory_fails)
    hd_break(o, HD_S12_CONTRACT, shard, "%s: its end is told (%d), and it is not opened", l->what, (int)what);
  if (what == SLOOP_SHARD_ENDED) judge_end(o, l, s, of->now);
  of->opened = 0;
  over(o, of, what != SLOOP_SHARD_LOST);
}

/* ---- silence ------------------------------------------------------------------------------------------- */

void hd_stands(hd_oracle *o, size_t life, uint64_t us) {
  hd_life *l = hd_life_of(o, life);
  uint64_t now = hd_now(o);
  if (us < o->terms.lease_us / 2) return;
  if (l->stood_until_us <= now) l->stood_us = now;
  l->stood_until_us = slp_max_u64(l->stood_until_us, now + us);
}

void hd_goes_on(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  l->stood_until_us = slp_min_u64(l->stood_until_us, hd_now(o));
  if (l->stood_until_us - l->stood_us < o->terms.lease_us / 2) l->stood_us = l->stood_until_us = 0;
}

/* A whole lease of silence by its own clock, none of it from before it stood: nine tenths by a clock that is
 * ahead. */
void hd_evicts(hd_oracle *o, size_t life, uint64_t sent_us, const char *row) {
  const hd_life *l = hd_life_of(o, life);
  int stood =
      l->stood_until_us && l->stood_us < sent_us && sent_us < l->stood_until_us + o->terms.lease_us / 10 * 9;
  if (stood && !o->terms.clocks_beyond)
    hd_break(o, HD_S14_SILENCE, NULL, "%s evicts %s %" PRIu64 " ms after it stood itself", l->what, row,
             (sent_us - slp_min_u64(sent_us, l->stood_until_us)) / 1000);
}

/* ---- leases -------------------------------------------------------------------------------------------- */

static void taken(hd_oracle *o, hd_life *l, hd_part *s, uint64_t epoch) {
  hd_of_shard *of = hd_of(o, l, s);
  if (!o->terms.memory_fails) {
    if (of->taken)
      hd_break(o, HD_S12_CONTRACT, s->id, "%s: taken in epoch %" PRIu64 ", and %" PRIu64 " has not ended",
               l->what, epoch, of->epoch);
    if (epoch <= of->epoch && !s->excused_ever)
      hd_break(o, HD_S12_CONTRACT, s->id, "%s: taken in epoch %" PRIu64 " after %" PRIu64, l->what, epoch,
               of->epoch);
  }
  of->taken = 1;
  of->epoch = epoch;
  of->taken_us = hd_now(o);
  of->losses = 0;
  of->untold_us = 0;
  (void)hd_ownership_of(o, l, s, epoch);
}

/* A lease that waited for its parents was never told as taken, and may be told as gone. */
static void parted(hd_oracle *o, hd_life *l, hd_part *s, const sloop_lease_event_t *e) {
  hd_of_shard *of = hd_of(o, l, s);
  int twice = !of->taken && e->epoch == of->epoch && of->now && !s->excused_ever;
  /* Parked, with KCL's rows: kept unread and given up at the end. */
  if (o->terms.by_counter && e->kind == SLOOP_LEASE_RELEASED) twice = 0;
  if (!o->terms.memory_fails) {
    if (twice)
      hd_break(o, HD_S12_CONTRACT, s->id, "%s: the end of epoch %" PRIu64 " is told twice", l->what,
               e->epoch);
    if (of->taken && e->epoch != of->epoch)
      hd_break(o, HD_S12_CONTRACT, s->id,
               "%s: the end of epoch %" PRIu64 " is told, and %" PRIu64 " was taken", l->what, e->epoch,
               of->epoch);
  }
  of->taken = 0;
  over(o, of, e->kind != SLOOP_LEASE_LOST);
}

static void judge_pair(hd_oracle *o, const hd_life *l, int is, int becomes, const char *name) {
  if (is == becomes && !o->terms.memory_fails)
    hd_break(o, HD_S12_CONTRACT, NULL, "%s: %s, which it was already", l->what, name);
}

static void of_worker(hd_oracle *o, hd_life *l, const sloop_lease_event_t *e) {
  if (e->kind == SLOOP_LEASE_JOINED || e->kind == SLOOP_LEASE_EVICTED) l->joined_us = hd_now(o);
  if (e->kind == SLOOP_LEASE_SUSPENDED || e->kind == SLOOP_LEASE_RESUMED || e->kind == SLOOP_LEASE_JOINED)
    l->suspended_us = hd_now(o);
  switch (e->kind) {
    case SLOOP_LEASE_JOINED:
      judge_pair(o, l, l->joined, 1, "joined");
      l->joined = 1;
      l->outcast = 0;
      l->suspended = 0;
      hd_learn_instance(o, l, e->worker);
      l->instance = hd_intern(o, e->worker);
      return;
    case SLOOP_LEASE_EVICTED:
      judge_pair(o, l, l->joined, 0, "evicted");
      l->joined = l->suspended = 0;
      l->instance = NULL; /* others took it for dead, so what it had is free */
      return;
    case SLOOP_LEASE_SUSPENDED:
      judge_pair(o, l, l->suspended, 1, "suspended");
      l->suspended = 1;
      return;
    case SLOOP_LEASE_RESUMED:
      judge_pair(o, l, l->suspended, 0, "resumed");
      l->suspended = 0;
      return;
    case SLOOP_LEASE_LEFT: l->left_told = 1; return;
    default: return;
  }
}

void hd_on_lease(hd_oracle *o, size_t life, const sloop_lease_event_t *e) {
  hd_life *l = hd_life_of(o, life);
  if (!hd_called_back(o, l, "on_lease")) return;
  if (l->left_told) hd_break(o, HD_S12_CONTRACT, NULL, "%s: a lease event after the last one", l->what);
  int of_shard = e->kind >= SLOOP_LEASE_TAKEN && e->kind <= SLOOP_LEASE_ENDED;
  hd_part *s = of_shard ? shard_of(o, l, e->shard, "on_lease") : NULL;
  hd_tell(o, HD_TOLD_LEASE, life, s ? s->number : SIZE_MAX,
          (hd_told){.epoch = e->epoch, .n = (size_t)e->kind});
  if (!of_shard)
    of_worker(o, l, e);
  else if (s && e->kind == SLOOP_LEASE_TAKEN)
    taken(o, l, s, e->epoch);
  else if (s)
    parted(o, l, s, e);
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

void hd_on_loss(hd_oracle *o, size_t life, const sloop_loss_t *loss) {
  hd_life *l = hd_life_of(o, life);
  if (!hd_called_back(o, l, "on_loss")) return;
  o->losses++;
  hd_part *s = shard_of(o, l, loss->shard, "on_loss");
  hd_tell(o, HD_TOLD_LOSS, life, s ? s->number : SIZE_MAX, (hd_told){.n = (size_t)loss->certain});
  if (!o->terms.losses_expected)
    hd_break(o, HD_S12_CONTRACT, loss->shard, "%s: a loss is told, and nothing was trimmed: %s", l->what,
             loss->message);
  if (s) hd_judge_loss(o, l, s, loss);
}

void hd_on_error(hd_oracle *o, size_t life, const sloop_error_t *e) {
  hd_life *l = hd_life_of(o, life);
  if (!hd_called_back(o, l, "on_error")) return;
  l->failed |= e->fatal != 0;
  if (strchr(e->message, '\n'))
    hd_break(o, HD_S12_CONTRACT, NULL, "%s: an error of more than one line", l->what);
}

void hd_on_tip(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  if (!hd_called_back(o, l, "on_tip")) return;
  if (l->batches_out)
    hd_break(o, HD_S12_CONTRACT, NULL, "%s: on_tip with %u batches out", l->what, l->batches_out);
  for (size_t i = 0; i < l->shards_cap; i++) {
    const hd_ownership *t = l->shards[i].now;
    if (t && !t->over && t->back_n && !o->terms.gives_up)
      hd_break(o, HD_S12_CONTRACT, t->shard->id, "%s: on_tip with %zu records given back", l->what,
               t->back_n);
  }
}

void hd_paused(hd_oracle *o, size_t life, const char *shard, int on) {
  hd_life *l = hd_life_of(o, life);
  hd_part *s = shard ? hd_find_shard(o, shard) : NULL;
  l->unpaused_us = hd_now(o);
  if (!shard) {
    l->paused_all = (uint8_t)on;
    for (size_t i = 0; i < l->shards_cap; i++) l->shards[i].paused = 0;
  } else if (s) {
    hd_of(o, l, s)->paused = (uint8_t)on;
  }
  hd_tell(o, HD_TOLD_PAUSE, life, s ? s->number : SIZE_MAX, (hd_told){.n = (size_t)on});
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void hd_stopping(hd_oracle *o, size_t life) {
  hd_life_of(o, life)->stopping = 1;
  hd_tell(o, HD_TOLD_DEED, life, SIZE_MAX, (hd_told){.what = "is told to stop"});
}

void hd_left(hd_oracle *o, size_t life) {
  hd_life_of(o, life)->left = 1;
  hd_tell(o, HD_TOLD_DEED, life, SIZE_MAX, (hd_told){.what = "has left, says its row"});
}

/* The position in its last row, or what it made of it; NULL: others took it, who began from what was saved. */
static const hd_version *last_word(hd_oracle *o, const hd_life *l, const hd_part *s) {
  size_t i = s->versions_n;
  while (i > 0 && !(s->versions[i - 1].owner[0] && hd_is_instance(o, l, s->versions[i - 1].owner))) i--;
  if (i == 0) return NULL;
  if (i == s->versions_n) return &s->versions[i - 1];
  return s->versions[i].life == l->number ? &s->versions[i] : NULL;
}

/* It has the row from another, who answered a copy of what it had asked for: a network may carry a write out once
 * more, long after it was taken back, and nobody tells who sent it. */
static int was_given_for_a_copy(const hd_life *l, const hd_part *s) {
  const hd_version *asked = NULL;
  for (size_t i = s->versions_n - 1; i > 0 && !asked; i--)
    if (s->versions[i - 1].life == l->number) asked = &s->versions[i - 1];
  if (!asked || s->versions[s->versions_n - 1].life == l->number) return 0;
  for (const hd_version *v = s->versions; v < asked; v++)
    if (v->life == asked->life && v->sent_us == asked->sent_us) return 1;
  return 0;
}

static void judge_stopped(hd_oracle *o, hd_life *l, hd_part *s) {
  const hd_ownership *t = hd_of(o, l, s)->now;
  const hd_version *row = hd_row_now(s), *word;
  if (!row || s->excused_ever) return;
  if (row->owner == l->instance && !l->left && row->at != HD_AT_END && !was_given_for_a_copy(l, s))
    hd_break(o, HD_P8_STOPPED, s->id, "%s has stopped, and the table has it as the owner", l->what);
  if (!t || !t->began || t->lost || !(word = last_word(o, l, s))) return;
  size_t saved = slp_max_u64(hd_row_done(s, word), hd_floor(o, s));
  size_t given = hd_can_hold(o, s, hd_given(t));
  if (saved < given && given > s->trimmed) /* what is trimmed can't come again */
    hd_break(o, HD_P8_STOPPED, s->id, "%s has stopped and finished with %zu records, and the table has %zu",
             l->what, given, hd_row_done(s, word));
}

void hd_on_stopped(hd_oracle *o, size_t life, int status) {
  hd_life *l = hd_life_of(o, life);
  hd_tell(o, HD_TOLD_DEED, life, SIZE_MAX, (hd_told){.what = status ? "has stopped in part" : "has stopped"});
  if (l->inside) hd_break(o, HD_P1_NOT_INSIDE, NULL, "%s: the stop callback runs inside a call", l->what);
  if (l->died || l->closed) hd_break(o, HD_P2_CLOSED, NULL, "%s: the stop callback after its end", l->what);
  if (l->closing && status != SLP_ECANCELED)
    hd_break(o, HD_P2_CLOSED, NULL, "%s: stop told %d after sloop_close()", l->what, status);
  if (!l->stopping || l->stop_told)
    hd_break(o, HD_S12_CONTRACT, NULL, "%s: a stop callback that nobody waits for", l->what);
  l->stop_told = 1;
  if (status) return;
  if (l->batches_out)
    hd_break(o, HD_P8_STOPPED, NULL, "%s has stopped with %u batches out", l->what, l->batches_out);
  for (size_t i = 0; i < o->shards_n && !l->failed; i++) judge_stopped(o, l, o->shards[i]);
}

void hd_closing(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  l->closing = 1;
  for (size_t i = 0; i < l->shards_cap; i++)
    if (l->shards[i].now) hd_ownership_over(o, l->shards[i].now, 0);
  hd_tell(o, HD_TOLD_DEED, life, SIZE_MAX, (hd_told){.what = "is closed"});
}

void hd_on_closed(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  if (l->inside) hd_break(o, HD_P1_NOT_INSIDE, NULL, "%s: the close callback runs inside a call", l->what);
  if (!l->closing || l->closed || l->died)
    hd_break(o, HD_P2_CLOSED, NULL, "%s: a close callback that nobody waits for", l->what);
  if (l->stopping && !l->stop_told)
    hd_break(o, HD_S12_CONTRACT, NULL, "%s is closed, and the stop callback never came", l->what);
  l->closed = 1;
}

void hd_memory_back(hd_oracle *o, size_t life, uint64_t bytes_live) {
  if (bytes_live)
    hd_break(o, HD_P10_MEMORY, NULL, "%s has ended, and %" PRIu64 " bytes are not back",
             hd_life_of(o, life)->what, bytes_live);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static void same(hd_oracle *o, const hd_life *l, const char *name, uint64_t told, uint64_t seen) {
  if (told != seen)
    hd_break(o, HD_S12_CONTRACT, NULL, "%s: statistics say %s %" PRIu64 ", not %" PRIu64, l->what, name, told,
             seen);
}

void hd_stats(hd_oracle *o, size_t life, const sloop_stats_t *st) {
  const hd_life *l = hd_life_of(o, life);
  const hd_terms *a = &o->terms;
  same(o, l, "records", st->records, l->records);
  same(o, l, "batches", st->batches, l->batches);
  same(o, l, "again", st->redelivered, l->again);
  same(o, l, "late", st->late, l->late);
  same(o, l, "dead_letters", st->dead_letters, l->dead_letters);
  same(o, l, "batches_now", st->batches_now, l->batches_out);
  if (st->buffered_bytes_peak > a->buffered_bytes_max + a->page_bytes_max)
    hd_break(o, HD_S11_BOUNDS, NULL,
             "%s: %" PRIu64 " bytes held, %" PRIu64 " agreed and one page of %" PRIu64, l->what,
             st->buffered_bytes_peak, a->buffered_bytes_max, a->page_bytes_max);
}
