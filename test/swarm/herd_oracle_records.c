/* herd_oracle_records.c - what is handed out and given back: S2, S3, S4, S7, S9, P3 to P6. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

#include "base/num.h"

/* A give-back rests at least so long (sloop.h: 100 ms later, doubling), less what a clock may drift. */
#define BACK_OFF_US_MIN 89000
/* So long after a lease's last write was sent a worker hands out at most, by a clock that drifts. */
#define PROOF_PERCENT 87

/* ---- may this life hand out of this shard at all ------------------------------------------------------- */

static void overlaps(hd_oracle *o, const hd_life *l, const hd_ownership *t, const hd_version *row) {
  o->overlaps++;
  if (o->terms.clocks_beyond) return;
  hd_break(o, HD_S7_OVERLAP, t->shard->id,
           "%s hands out in epoch %" PRIu64 " while the table has epoch %" PRIu64 " of %s", l->what, t->epoch,
           row->epoch, row->owner[0] ? row->owner : "nobody");
}

/* A write of its own under its name, or the one by which the owner before it handed the lease over. */
static int proves(hd_oracle *o, const hd_life *l, const hd_part *s, size_t i) {
  const hd_version *v = &s->versions[i];
  if (!v->owner[0] || !hd_is_instance(o, l, v->owner)) return 0;
  return v->life == l->number || (i && s->versions[i - 1].owner != v->owner);
}

/* Stolen from the living, who learns of it by its next write: but it hands out only as long as its last one
 * proves something. */
static void judge_proof(hd_oracle *o, const hd_life *l, const hd_ownership *t, const hd_version *row,
                        int mine) {
  const hd_part *s = t->shard;
  size_t i = s->versions_n;
  if (!mine) o->overlaps++;
  if (o->terms.clocks_beyond) return;
  while (i > 0 && !proves(o, l, s, i - 1)) i--;
  uint64_t now = hd_now(o), sent = i ? s->versions[i - 1].sent_us : 0;
  if (now - sent > o->terms.lease_us / 100 * PROOF_PERCENT)
    hd_break(o, HD_S7_OVERLAP, s->id, "%s hands out %" PRIu64 " ms after the last write that proves it%s%s",
             l->what, (now - sent) / 1000, mine ? "" : "; the table has ", mine ? "" : row->owner);
}

static int owns_epoch(hd_oracle *o, const hd_life *l, const hd_ownership *t) {
  const hd_version *mine = hd_row_in(t->shard, t->epoch);
  if (mine && hd_is_instance(o, l, mine->owner)) return 1;
  hd_break(o, HD_S5_EXCLUSIVE, t->shard->id, "%s hands out in epoch %" PRIu64 ", which the table has for %s",
           l->what, t->epoch, mine && mine->owner[0] ? mine->owner : "nobody");
  return 0;
}

static void judge_right(hd_oracle *o, hd_life *l, hd_ownership *t) {
  const hd_version *row = hd_row_now(t->shard);
  if (t->loose || (row && row->gone)) return;
  if (!t->owned && !(t->owned = (uint8_t)owns_epoch(o, l, t))) return;
  SLP_CHECK(row);
  int is = hd_is_instance(o, l, row->owner) && row->owner[0];
  if (o->terms.exclusive && !is)
    overlaps(o, l, t, row);
  else if (o->terms.by_counter)
    judge_proof(o, l, t, row, is);
  else if (row->epoch > t->epoch || !is)
    overlaps(o, l, t, row);
}

static void judge_told(hd_oracle *o, hd_life *l, hd_ownership *t) {
  const hd_of_shard *of = hd_of(o, l, t->shard);
  const char *id = t->shard->id;
  if (o->terms.memory_fails) return;
  if (!t->epoch)
    hd_break(o, HD_S12_CONTRACT, id, "%s: a record without an epoch", l->what);
  else if (!of->taken || of->epoch != t->epoch)
    hd_break(o, HD_S12_CONTRACT, id, "%s hands out in epoch %" PRIu64 ", which was not told as taken",
             l->what, t->epoch);
  else if (!of->opened)
    hd_break(o, HD_S12_CONTRACT, id, "%s: records of a shard that is not opened", l->what);
}

/* ---- where a tenancy begins ---------------------------------------------------------------------------- */

static int has_unread(const hd_part *p, size_t from) {
  for (size_t i = slp_max_u64(from, p->trimmed); i < p->notes_n; i++)
    if (p->notes[i].acked_us == HD_NEVER) return 1;
  return 0;
}

/* Both rows are at the latest, and whoever made the child's found none of the parent: that one was made by a
 * worker that listed the stream when the parent was open. It is closed since before the child was there, so
 * nothing is read from its latest, and no record of it can come behind one of the child's. */
static int is_made_too_late(const hd_oracle *o, const hd_part *s, const hd_part *p) {
  return o->terms.by_counter && s->versions_n && s->versions[0].latest && p->versions_n &&
         p->versions[0].latest && !hd_counts_as_parent(o, s, p);
}

/* The stream had forgotten what lies between the child and a shard that is still read, so the child's row was
 * made at the latest, by a worker whose listing led to no shard with a row. When the older shard ends it names its
 * children by itself, and theirs follow: the row of this parent is made, at its oldest, behind the child's.
 * Whoever took the child before that found no row to wait for, which KCL says is a parent that was read, and
 * nothing tells it of one that comes later. Who takes the child afterwards sees the row, and waits. Records of
 * the parent that nobody has finished with are P4's still. */
static int is_taken_too_early_to_see(const hd_oracle *o, const hd_ownership *t, const hd_part *p) {
  const hd_part *s = t->shard;
  const hd_version *taken = hd_row_in(s, t->epoch);
  return o->terms.by_counter && taken && s->versions[0].latest && p->versions_n &&
         p->versions[0].us > taken->us && !hd_counts_as_parent(o, s, p);
}

static void judge_parent(hd_oracle *o, const hd_life *l, const hd_ownership *t, const hd_part *p) {
  const hd_part *s = t->shard;
  const hd_version *row = hd_row_now(p);
  /* Nothing is ever read of a shard that has gone from the stream, though a row may be made of it yet. */
  int gone = p->closed && p->trimmed == p->notes_n && (!row || o->terms.losses_expected);
  if (p->excused_ever || gone) return;
  if (row && (row->at == HD_AT_END || row->gone)) return;
  if (!row && (o->terms.by_counter || o->terms.start != SLOOP_OLDEST)) return; /* nobody's duty: L1 */
  if (has_unread(p, slp_max_u64(row ? hd_row_done(p, row) : 0, hd_floor(o, p))))
    hd_break(o, HD_P4_PARENTS, s->id,
             "%s begins while its parent %s has records that nobody has finished with", l->what, p->id);
  if (is_made_too_late(o, s, p) || is_taken_too_early_to_see(o, t, p)) return;
  hd_break(o, HD_S4_LINEAGE, s->id, "%s begins and the end of its parent %s is not in the table", l->what,
           p->id);
}

static void judge_parents(hd_oracle *o, const hd_life *l, const hd_ownership *t) {
  const hd_part *s = t->shard;
  for (int k = 0; k < 2; k++)
    if (s->parents[k] >= 0 && !s->excused_ever) judge_parent(o, l, t, o->shards[s->parents[k]]);
}

static const hd_ownership *ownership_before(const hd_ownership *t) {
  const hd_ownership *last = NULL;
  for (const hd_ownership *b = t->shard->ownerships; b; b = b->before)
    if (b->epoch < t->epoch && (!last || b->epoch > last->epoch)) last = b;
  return last;
}

/* A worker that has taken its own lease once more (RETAKE) knows more than the table does. The worker may have
 * done that several times, each in the next epoch, before it handed anything out. */
size_t hd_known_from_before(const hd_ownership *t) {
  const hd_ownership *last = ownership_before(t);
  while (last && last->life == t->life && !last->began) {
    uint64_t epoch = last->epoch;
    last = ownership_before(last);
    if (last && last->epoch + 1 != epoch) return 0;
  }
  return last && last->life == t->life && last->began ? last->prefix : 0;
}

void hd_beginning(const hd_oracle *o, const hd_ownership *t, size_t *low, size_t *high) {
  const hd_part *s = t->shard;
  const hd_version *v = hd_row_in(s, t->epoch);
  int latest = o->terms.start == SLOOP_LATEST && !hd_is_child(o, s) && (o->terms.by_counter || !s->commanded);
  *low = *high = v ? hd_row_done(s, v) : 0;
  if (!v || (v->at == HD_AT_TIME && s->unordered_times)) {
    *low = 0;
    *high = s->notes_n;
  } else if (v->at == HD_AT_TIME && latest) { /* the time is the library's idea of the service's clock */
    int anew = o->begun_anew && s->excused_ever;
    if (!o->terms.order_loose && !o->terms.clocks_beyond && !anew) *high = slp_min_u64(*high, s->row_n);
    *low = slp_min_u64(*low, *high); /* what came after the lease was made is not left out */
  } else if (v->at == HD_AT_START && latest && (v->latest || !o->terms.by_counter)) {
    *high = o->terms.by_counter ? s->notes_n : s->row_n;
  }
  *high = slp_max_u64(*high, hd_known_from_before(t));
  *high = slp_max_u64(*high, s->trimmed);
}

static void begin(hd_oracle *o, hd_life *l, hd_ownership *t, size_t i) {
  size_t low, high;
  hd_part *s = t->shard;
  hd_beginning(o, t, &low, &high);
  t->began = 1;
  t->first = t->next = t->prefix = t->prefix_before = i;
  if (t->loose) return;
  judge_parents(o, l, t);
  const hd_version *row = hd_row_in(s, t->epoch);
  if (row && hd_is_behind_record(s, row))
    hd_judge_untold(o, l, t, slp_max_u64(hd_row_done(s, row), hd_known_from_before(t)), i);
  if (i < low)
    hd_break(o, HD_S9_REPEATS, s->id,
             "%s in epoch %" PRIu64 " begins at record %zu, and those before %zu are saved as finished with",
             l->what, t->epoch, i, low);
  if (i > high)
    hd_break(o, HD_S2_ORDER, s->id,
             "%s in epoch %" PRIu64 " begins at record %zu, and those from %zu on are left out", l->what,
             t->epoch, i, high);
}

/* ---- one record ---------------------------------------------------------------------------------------- */

static void judge_late(hd_oracle *o, hd_life *l, const hd_ownership *t, size_t i, uint32_t flags) {
  const hd_note *note = &t->shard->notes[i];
  slp_str seq = hd_seq(t->shard, i);
  int late = (flags & SLOOP_REC_LATE) != 0, place;
  l->late += (uint64_t)late;
  o->late += (uint64_t)late;
  if (o->terms.order != SLOOP_ORDER_TIME) {
    if (late)
      hd_break(o, HD_P3_IN_ORDER, t->shard->id, "%s: record %zu flagged late without an order", l->what, i);
    return;
  }
  if (o->unordered_times || o->terms.order_loose) return;
  place = note->arrived_ms != l->top->ms ? (note->arrived_ms > l->top->ms) - (note->arrived_ms < l->top->ms)
                                         : slp_num_cmp(seq, (slp_str){l->top->seq, l->top->seq_n});
  int earlier = note->arrived_ms < l->top->ms; /* ties may come in any order */
  if (earlier && !late)
    hd_break(o, HD_P3_IN_ORDER, t->shard->id,
             "%s: record %zu of %" PRId64 " comes after one of %" PRId64 " and is not flagged late", l->what,
             i, note->arrived_ms, l->top->ms);
  if (!earlier && late)
    hd_break(o, HD_P3_IN_ORDER, t->shard->id, "%s: record %zu is flagged late and is not", l->what, i);
  if (place <= 0) return;
  l->top->ms = note->arrived_ms;
  l->top->seq_n = seq.n < sizeof l->top->seq ? (uint32_t)seq.n : 0;
  memcpy(l->top->seq, seq.p, l->top->seq_n);
}

static void skip_trimmed(hd_oracle *o, hd_ownership *t, size_t i) {
  while (t->next < i && t->next < t->shard->trimmed) {
    hd_place_of(o, t, t->next++)->fate = HD_SKIPPED;
    hd_advance(o, t);
  }
}

static void fresh(hd_oracle *o, hd_life *l, hd_ownership *t, size_t i, const hd_seen *r) {
  const char *id = t->shard->id;
  skip_trimmed(o, t, i);
  if (i < t->next)
    hd_break(o, hd_place_of(o, t, i)->fate == HD_ACKED ? HD_S9_REPEATS : HD_S2_ORDER, id,
             "%s in epoch %" PRIu64 ": record %zu again, and it was not given back; %zu is next", l->what,
             t->epoch, i, t->next);
  else if (i > t->next)
    hd_break(o, HD_S2_ORDER, id, "%s in epoch %" PRIu64 ": record %zu comes and %zu is left out", l->what,
             t->epoch, i, t->next);
  if (r->flags & SLOOP_REC_REDELIVERED)
    hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu is flagged again and is not", l->what, i);
  if (r->attempt != 1)
    hd_break(o, HD_P3_IN_ORDER, id, "%s: attempt %u of record %zu, which is fresh", l->what, r->attempt, i);
  if (t->back_n)
    hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu comes before the %zu given back", l->what, i, t->back_n);
  judge_late(o, l, t, i, r->flags);
  hd_of(o, l, t->shard)->fresh_us = hd_now(o);
  if (t->shard->notes[i].handed) o->repeats++;
  if (i >= t->next) t->next = i + 1;
}

static void again(hd_oracle *o, hd_life *l, hd_ownership *t, size_t i, const hd_seen *r) {
  const char *id = t->shard->id;
  uint32_t was = hd_place_of(o, t, i)->attempts, least = o->terms.memory_fails ? 2 : was + 1;
  uint64_t now = hd_now(o);
  if (!(r->flags & SLOOP_REC_REDELIVERED))
    hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu again without the flag", l->what, i);
  if (r->attempt < least || r->attempt > was + 1)
    hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu, attempt %u after %u", l->what, i, r->attempt, was);
  for (size_t k = t->prefix; k < i; k++)
    if (hd_place_of(o, t, k)->fate == HD_BACK)
      hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu comes again before %zu", l->what, i, k);
  if (now - t->back_us < BACK_OFF_US_MIN && !t->out_n && !o->terms.clocks_beyond)
    hd_break(o, HD_P3_IN_ORDER, id, "%s: record %zu again only %" PRIu64 " us after it was given back",
             l->what, i, now - t->back_us);
  l->again++;
  o->again++;
}

/* Finds its tenancy and its place. 0: it is not to be looked at further. */
static int find(hd_oracle *o, hd_life *l, const hd_seen *r, hd_ownership **ret_t, size_t *ret_i) {
  hd_part *s = hd_find_shard(o, r->shard);
  if (!s) {
    hd_break(o, HD_S3_INTEGRITY, r->shard, "%s: a record of a shard that there is not", l->what);
    return 0;
  }
  hd_ownership *t = hd_ownership_of(o, l, s, r->epoch);
  size_t i = hd_find_note(s, slp_str_of(r->seq), r->sub, t->began ? t->next : 0);
  if (i == SIZE_MAX) {
    hd_break(o, HD_S3_INTEGRITY, s->id, "%s: record %s sub %u was never put", l->what, r->seq, r->sub);
    return 0;
  }
  if (s->notes[i].content != r->content)
    hd_break(o, HD_S3_INTEGRITY, s->id, "%s: record %zu is not what was put", l->what, i);
  *ret_t = t;
  *ret_i = i;
  return 1;
}

static void judge_shard(hd_oracle *o, hd_life *l, hd_ownership *t) {
  if (hd_of(o, l, t->shard)->paused)
    hd_break(o, HD_P6_PAUSED, t->shard->id, "%s: records while it is paused", l->what);
  judge_told(o, l, t);
  judge_right(o, l, t);
}

static void one(hd_oracle *o, hd_life *l, hd_ownership *t, size_t i, const hd_seen *r) {
  if (!t->began) begin(o, l, t, i);
  if (i < t->first) {
    hd_break(o, HD_S2_ORDER, t->shard->id, "%s in epoch %" PRIu64 ": record %zu, and it began at %zu",
             l->what, t->epoch, i, t->first);
    return;
  }
  hd_place *p = hd_place_of(o, t, i);
  if (p->fate == HD_BACK)
    again(o, l, t, i, r);
  else
    fresh(o, l, t, i, r);
  p = hd_place_of(o, t, i);
  if (p->fate != HD_OUT) {
    hd_settle(o, t, i, HD_OUT);
    t->out_n++;
  }
  p->attempts = (uint16_t)r->attempt;
  t->shard->notes[i].handed = 1;
  o->records++;
}

/* ---- batches ------------------------------------------------------------------------------------------- */

static hd_held *take_held(hd_oracle *o, hd_life *l, const void *batch, size_t n) {
  hd_held *h = o->spare;
  if (h)
    o->spare = h->next;
  else
    h = SLP_NEW(o->mem, hd_held);
  SLP_CHECK(h);
  if (h->cap < n) {
    slp_free(o->mem, h->records);
    h->cap = n;
    h->records = slp_zalloc_n(o->mem, n, sizeof *h->records);
    SLP_CHECK(h->records);
  }
  h->batch = batch;
  h->n = n;
  h->ownerships = NULL;
  h->next = l->held;
  l->held = h;
  return h;
}

static void note_in_batch(hd_oracle *o, hd_life *l, hd_held *h, hd_ownership *t, size_t i) {
  if (t->batch != o->batches_ever) {
    t->batch = o->batches_ever;
    t->batch_n = 0;
    t->batch_from = i;
    t->next_in_batch = h->ownerships;
    h->ownerships = t;
    judge_shard(o, l, t);
  }
  t->batch_n++;
  t->batch_to = i;
}

static void judge_batch(hd_oracle *o, hd_life *l, const hd_held *h, uint64_t bytes) {
  const hd_terms *a = &o->terms;
  uint32_t out = l->batches_out;
  if (h->n > a->batch_records_max)
    hd_break(o, HD_P5_BUDGET, NULL, "%s: a batch of %zu records", l->what, h->n);
  if (h->n > 1 && bytes > a->batch_bytes_max)
    hd_break(o, HD_P5_BUDGET, NULL, "%s: a batch of %" PRIu64 " bytes", l->what, bytes);
  if (a->order == SLOOP_ORDER_SHARD) {
    const hd_ownership *t = h->ownerships;
    if (t && t->next_in_batch)
      hd_break(o, HD_P3_IN_ORDER, t->shard->id, "%s: a batch mixes shards, which are read each by itself",
               l->what);
    out = t ? t->batches_out : 0;
  }
  if (out > a->batches_out_max) hd_break(o, HD_P5_BUDGET, NULL, "%s: %u batches are out", l->what, out);
}

static void judge_life(hd_oracle *o, const hd_life *l) {
  if (l->stopping) hd_break(o, HD_S12_CONTRACT, NULL, "%s: records after sloop_stop()", l->what);
  if (l->paused_all) hd_break(o, HD_P6_PAUSED, NULL, "%s: records while all is paused", l->what);
  if (l->suspended)
    hd_break(o, HD_S7_OVERLAP, NULL, "%s: records while it can't prove that it lives", l->what);
}

/* S15. Who was evicted by force, or whose clock is beyond what is agreed, may not have heard of it. */
static void judge_drain(hd_oracle *o, const hd_life *l, const hd_seen *records, size_t n) {
  if (!o->drained_us || !n || l->outcast || o->terms.clocks_beyond) return;
  hd_break(o, HD_S15_DRAINED, records[0].shard,
           "%s hands out %zu records %" PRIu64 " ms after it was drained", l->what, n,
           (hd_now(o) + 1 - o->drained_us) / 1000);
}

void hd_on_batch(hd_oracle *o, size_t life, const void *batch, const hd_seen *records, size_t n) {
  hd_life *l = hd_life_of(o, life);
  uint64_t bytes = 0;
  if (!hd_called_back(o, l, "on_batch")) return;
  judge_life(o, l);
  judge_drain(o, l, records, n);
  hd_held *h = take_held(o, l, batch, n);
  o->batches_ever++;
  for (size_t i = 0; i < n; i++) {
    h->records[i].tenancy = NULL;
    h->records[i].acked = 0;
    bytes += records[i].bytes;
    l->records++;
    if (!find(o, l, &records[i], &h->records[i].tenancy, &h->records[i].index)) continue;
    note_in_batch(o, l, h, h->records[i].tenancy, h->records[i].index);
    one(o, l, h->records[i].tenancy, h->records[i].index, &records[i]);
  }
  l->batches++;
  l->batches_out++;
  o->batches++;
  for (hd_ownership *t = h->ownerships; t; t = t->next_in_batch) {
    t->batches_out++;
    hd_tell(o, HD_TOLD_BATCH, life, t->shard->number,
            (hd_told){.epoch = t->epoch, .n = t->batch_n, .a = t->batch_from, .b = t->batch_to});
  }
  judge_batch(o, l, h, bytes);
}

static hd_held **slot_of(hd_life *l, const void *batch) {
  hd_held **p = &l->held;
  while (*p && (*p)->batch != batch) p = &(*p)->next;
  return p;
}

void hd_acked(hd_oracle *o, size_t life, const void *batch, size_t index) {
  hd_life *l = hd_life_of(o, life);
  hd_held *h = *slot_of(l, batch);
  if (l->died || !h) return;
  SLP_CHECK(index < h->n);
  hd_ownership *t = h->records[index].tenancy;
  if (!t || h->records[index].acked) return;
  h->records[index].acked = 1;
  if (hd_place_of(o, t, h->records[index].index)->fate == HD_OUT)
    hd_settle(o, t, h->records[index].index, HD_ACKED);
}

static void give_back(hd_oracle *o, hd_held *h, const uint8_t *acked) {
  for (size_t i = 0; i < h->n; i++) {
    hd_ownership *t = h->records[i].tenancy;
    if (!t) continue;
    if (t->batch_n == 0) {
      t->batches_out--;
      t->batch_from = h->records[i].index;
    }
    t->batch_n++;
    t->batch_to = h->records[i].index;
    if (h->records[i].acked || hd_place_of(o, t, h->records[i].index)->fate != HD_OUT) continue;
    hd_settle(o, t, h->records[i].index, acked[i] ? HD_ACKED : HD_BACK);
  }
}

static void tell_back(hd_oracle *o, const hd_held *h, const uint8_t *acked) {
  for (size_t i = 0; i < h->n; i++) {
    hd_ownership *t = h->records[i].tenancy;
    size_t done = 0;
    if (!t || !t->batch_n) continue;
    for (size_t k = i; k < h->n; k++) done += h->records[k].tenancy == t && (h->records[k].acked || acked[k]);
    hd_tell(o, HD_TOLD_BACK, t->life, t->shard->number,
            (hd_told){.epoch = t->epoch, .n = done, .a = t->batch_from, .b = t->batch_n});
    t->batch_n = 0;
  }
}

void hd_done(hd_oracle *o, size_t life, const void *batch, const uint8_t *acked, size_t n) {
  hd_life *l = hd_life_of(o, life);
  hd_held **slot = slot_of(l, batch), *h = *slot;
  if (!h) {
    if (!l->died) hd_break(o, HD_S12_CONTRACT, NULL, "%s: a batch given back that is not out", l->what);
    return;
  }
  SLP_CHECK(h->n == n);
  for (size_t i = 0; i < n; i++)
    if (h->records[i].tenancy) h->records[i].tenancy->batch_n = 0;
  give_back(o, h, acked);
  tell_back(o, h, acked);
  *slot = h->next;
  h->next = o->spare;
  o->spare = h;
  l->batches_out--;
}

void hd_on_dead_letter(hd_oracle *o, size_t life, const hd_seen *r) {
  hd_life *l = hd_life_of(o, life);
  hd_ownership *t;
  size_t i;
  if (!hd_called_back(o, l, "on_dead_letter")) return;
  judge_life(o, l);
  l->dead_letters++;
  o->dead_letters++;
  if (!find(o, l, r, &t, &i)) return;
  judge_shard(o, l, t);
  hd_tell(o, HD_TOLD_DEAD_LETTER, life, t->shard->number, (hd_told){.epoch = t->epoch, .a = i});
  if (!t->began || i < t->first || hd_place_of(o, t, i)->fate != HD_BACK) {
    hd_break(o, HD_P3_IN_ORDER, t->shard->id, "%s: record %zu is a dead letter and was not given back",
             l->what, i);
    return;
  }
  for (size_t k = t->prefix; k < i; k++)
    if (hd_place_of(o, t, k)->fate == HD_BACK)
      hd_break(o, HD_P3_IN_ORDER, t->shard->id, "%s: record %zu is a dead letter before %zu", l->what, i, k);
  hd_settle(o, t, i, HD_ACKED);
}
