/* herd_oracle_rows.c - every version a lease's row had: S1, S5, S6, S8, and S9 of what is let go. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

#include "base/num.h"

const hd_version *hd_row_now(const hd_part *s) {
  return s->versions_n ? &s->versions[s->versions_n - 1] : NULL;
}

const hd_version *hd_row_in(const hd_part *s, uint64_t epoch) {
  const hd_version *found = NULL;
  for (size_t i = s->versions_n; i > 0; i--) {
    const hd_version *v = &s->versions[i - 1];
    if (v->epoch == epoch && !v->gone)
      found = v;
    else if (found || (v->epoch < epoch && !s->excused_ever))
      break;
  }
  return found;
}

static slp_str seq_of(const hd_part *s, const hd_version *v) {
  return (slp_str){s->texts + v->seq_at, v->seq_n};
}

/* A number that no record has is the place of an empty event. Nothing can be missing behind it within the retention,
 * but where records are removed before, as here, nobody can know. */
int hd_is_behind_record(const hd_part *s, const hd_version *v) {
  return v->at == HD_AT_SEQ && v->done && slp_str_eq(hd_seq(s, v->done - 1), seq_of(s, v));
}

size_t hd_row_done(const hd_part *s, const hd_version *v) {
  switch (v->at) {
    case HD_AT_START: return 0;
    case HD_AT_TIME: return hd_notes_before_ms(s, v->ms);
    case HD_AT_SEQ: return v->done;
    default: return s->notes_n;
  }
}

/* "Latest" became a time, and a clock beyond what the library allows for made it one to come: what is put before
 * it comes is passed over by whoever reads, though a subscription that stands at an older number may save that. */
static int begins_at_a_time_to_come(const hd_oracle *o, const hd_part *s) {
  return o->terms.start == SLOOP_LATEST && (o->terms.order_loose || o->terms.clocks_beyond) &&
         s->versions_n && s->versions[s->made].at == HD_AT_TIME && !hd_is_child(o, s);
}

/* With KCL's rows "latest" is when a reader asks, and no row says when that was: until a position is saved each
 * next owner asks anew, and what came before it did is not looked for. A row that was made at the oldest record
 * says that all of it is to be read. */
size_t hd_floor(const hd_oracle *o, const hd_part *s) {
  if (begins_at_a_time_to_come(o, s)) return hd_notes_before_ms(s, s->versions[s->made].ms);
  if (o->terms.start != SLOOP_LATEST || !o->terms.by_counter || hd_is_child(o, s)) return 0;
  if (s->versions_n && !s->versions[s->made].latest) return 0;
  return s->latest_asked ? s->latest_n : s->notes_n;
}

/* Of a life, by which it has the shard, or had it last; NULL: by none. */
static hd_ownership *owned_by(hd_part *s, size_t life) {
  hd_ownership *t = s->ownerships;
  while (t && t->life != life) t = t->before;
  return t;
}

void hd_latest(hd_oracle *o, size_t life, size_t shard) {
  hd_part *s = o->shards[shard];
  hd_ownership *t = owned_by(s, life);
  s->latest_asked = 1;
  s->latest_n = s->notes_n;
  if (t) t->latest_asked = 1;
}

/* A subscriber settles what "latest" is when it begins. When its subscription at the latest got lost, the service
 * is asked for that time instead. Only the first question of an owner counts, whenever one of another arrives: a
 * later time excuses nothing, but where clocks drift by more than the library allows for when it takes a time for
 * the service's. */
void hd_latest_was(hd_oracle *o, size_t life, size_t shard, int64_t ms) {
  hd_part *s = o->shards[shard];
  hd_ownership *t = owned_by(s, life);
  size_t n = hd_notes_before_ms(s, ms);
  if (!s->latest_asked) s->latest_n = 0;
  if ((t && !t->latest_asked) || o->terms.order_loose) s->latest_n = slp_max_u64(s->latest_n, n);
  s->latest_asked = 1;
  if (t) t->latest_asked = 1;
}

/* ---- who may write ------------------------------------------------------------------------------------- */

static const char *name(const char *owner) { return owner[0] ? owner : "nobody"; }

/* The writer owns the lease, or takes it, or only claims it, which changes nothing that is seen here. */
static void judge_writer(hd_oracle *o, hd_life *l, const hd_part *s, const hd_version *was,
                         const hd_version *now, int moved) {
  int owned = was->owner[0] && hd_is_instance(o, l, was->owner), changes = was->owner != now->owner;
  int takes = changes && now->owner[0] && hd_is_instance(o, l, now->owner);
  int freed =
      was->parked && !now->parked && !now->owner[0] && !moved; /* by an operator, through any worker */
  if (now->epoch < was->epoch) {
    hd_break(o, HD_S6_FENCED, s->id, "%s writes in epoch %" PRIu64 " after epoch %" PRIu64 " of %s", l->what,
             now->epoch, was->epoch, name(was->owner));
  } else if (changes && now->owner[0] && now->epoch == was->epoch) {
    hd_break(o, HD_S5_EXCLUSIVE, s->id, "%s and %s have the same epoch %" PRIu64, name(was->owner),
             now->owner, now->epoch);
  } else if ((changes || moved || now->epoch != was->epoch) && !owned && !takes && !freed) {
    hd_break(o, HD_S6_FENCED, s->id, "%s writes to the lease of %s in epoch %" PRIu64, l->what,
             name(was->owner), was->epoch);
  }
  if (takes && was->at == HD_AT_END && !o->terms.by_counter)
    hd_break(o, HD_S12_CONTRACT, s->id, "%s takes a lease that has ended", l->what);
}

/* ---- positions ----------------------------------------------------------------------------------------- */

static int rank(const hd_version *v) { return v->at == HD_AT_END ? 2 : v->at == HD_AT_SEQ ? 1 : 0; }

static int cmp(const hd_part *s, const hd_version *a, const hd_version *b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (a->at == HD_AT_SEQ) {
    int c = slp_num_cmp(seq_of(s, a), seq_of(s, b));
    uint64_t x = a->whole ? UINT64_MAX : a->sub, y = b->whole ? UINT64_MAX : b->sub;
    return c ? c : (x > y) - (x < y);
  }
  if (a->at != b->at) return a->at == HD_AT_START ? -1 : 1;
  return a->at == HD_AT_TIME ? (a->ms > b->ms) - (a->ms < b->ms) : 0;
}

/* The first record that is passed though nobody was done with it when the write was sent. */
static size_t passed_by(const hd_part *s, size_t from, size_t to, uint64_t sent_us) {
  for (size_t i = slp_max_u64(from, s->trimmed); i < to; i++)
    if (s->notes[i].acked_us > sent_us) return i;
  return SIZE_MAX;
}

/* How far its writer may move it: what was finished with in its own tenancy. */
static size_t may_reach(hd_oracle *o, hd_life *l, hd_part *s, const hd_version *was) {
  hd_ownership *t = hd_of(o, l, s)->now;
  size_t reach = slp_max_u64(hd_row_done(s, was), s->trimmed);
  while (t && (t->life != l->number || t->epoch > was->epoch)) t = t->before;
  if (!t) return reach;
  return slp_max_u64(reach, t->began ? t->prefix : hd_known_from_before(t));
}

static void judge_move(hd_oracle *o, hd_life *l, hd_part *s, const hd_version *was, const hd_version *now) {
  size_t from = slp_max_u64(hd_row_done(s, was), hd_floor(o, s)), to = hd_row_done(s, now);
  if (cmp(s, now, was) < 0) {
    hd_break(o, HD_S8_BACKWARDS, s->id, "%s sets the position back, from record %zu to record %zu", l->what,
             hd_row_done(s, was), to);
    return;
  }
  if (now->at == HD_AT_END && !s->closed)
    hd_break(o, HD_S8_BACKWARDS, s->id, "%s ends it, and it is open", l->what);
  size_t lost = passed_by(s, from, to, now->sent_us);
  if (lost != SIZE_MAX) {
    int late = s->notes[lost].acked_us != HD_NEVER;
    hd_break(o, HD_S1_LOSS, s->id, "%s saves up to record %zu, and record %zu was %s", l->what, to, lost,
             late                    ? "only finished with after that was sent"
             : s->notes[lost].handed ? "not finished with"
                                     : "never handed out");
    return;
  }
  size_t reach = may_reach(o, l, s, was);
  if (to > reach && to > from)
    hd_break(o, HD_S8_BACKWARDS, s->id,
             "%s saves up to record %zu, and has itself finished with those before %zu only", l->what, to,
             reach);
}

/* Since the row has had the owner that it has: the least epoch. */
static uint64_t owned_since(const hd_part *s, const hd_version *v) {
  while (v > s->versions && v[-1].owner == v->owner && !v[-1].gone) v--;
  return v->epoch;
}

size_t hd_can_hold(const hd_oracle *o, const hd_part *s, size_t given) {
  while (o->terms.whole && given && given < s->notes_n && slp_str_eq(hd_seq(s, given), hd_seq(s, given - 1)))
    given--;
  return given;
}

static int takes(hd_oracle *o, hd_life *l, const hd_version *was, const hd_version *now) {
  return l && now->owner[0] && (!was || was->owner != now->owner) && hd_is_instance(o, l, now->owner);
}

/* Records acknowledged when it released the lease must go along, or they come again though nobody died. A worker
 * that takes the lease from its own former name lets nothing go. The row names it still, so its release never got
 * in; and it has another name, so it was evicted (PROTOCOL.md, "Words"; S12 allows JOINED a second time only after
 * EVICTED). What it had not saved by then comes again, as after any death. */
static void judge_let(hd_oracle *o, hd_life *l, hd_part *s, const hd_version *was, const hd_version *now) {
  const hd_ownership *t = hd_of(o, l, s)->now;
  if (was->owner == now->owner || now->at == HD_AT_END || !hd_is_instance(o, l, was->owner)) return;
  if (takes(o, l, was, now)) return;
  if (!t || t->loose || !t->began || t->given_us == HD_NEVER) return;
  if (t->epoch > was->epoch || t->epoch < owned_since(s, was)) return;
  size_t given = hd_can_hold(o, s, hd_given(t));
  if (slp_max_u64(hd_row_done(s, now), hd_floor(o, s)) < given && given > s->trimmed)
    hd_break(o, HD_S9_REPEATS, s->id,
             "%s lets it go at record %zu, and had finished with those before %zu: they come again", l->what,
             hd_row_done(s, now), given);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

static void place(hd_oracle *o, hd_part *s, hd_version *v, const hd_row *row) {
  slp_str seq = slp_str_of(row->seq ? row->seq : "");
  v->at = (uint8_t)row->at;
  v->latest = row->latest;
  v->sub = row->sub;
  v->whole = row->whole;
  v->ms = row->ms;
  v->parked = row->parked;
  if (row->at == HD_AT_TIME && !row->ms) v->ms = o->terms.start_ms; /* a row that does not say which */
  if (row->at != HD_AT_SEQ) return;
  v->done = hd_notes_up_to(s, seq, row->whole ? UINT32_MAX : row->sub);
  v->seq_n = (uint32_t)seq.n;
  if (v->done && slp_str_eq(hd_seq(s, v->done - 1), seq))
    v->seq_at = s->notes[v->done - 1].seq_at;
  else
    hd_text(o, s, seq, &v->seq_at);
}

static hd_version *add(hd_oracle *o, hd_part *s, size_t life, uint64_t sent_us, const hd_row *row) {
  hd_room(o, &s->versions, s->versions_n, &s->versions_cap, sizeof *s->versions);
  hd_version *v = &s->versions[s->versions_n++], *was = v - 1;
  memset(v, 0, sizeof *v);
  v->us = hd_now(o);
  v->sent_us = sent_us;
  v->life = life;
  v->owner = hd_intern(o, row ? row->owner : "");
  if (row) {
    v->epoch = row->epoch;
    place(o, s, v, row);
  } else { /* its place stays, so that it can't be read again unseen */
    if (s->versions_n > 1) *v = *was;
    v->command = 0;
    v->us = hd_now(o);
    v->life = life;
    v->owner = hd_intern(o, "");
    v->gone = 1;
  }
  return v;
}

static void judge_change(hd_oracle *o, hd_life *l, hd_part *s, const hd_version *was, const hd_version *now) {
  int moved = cmp(s, now, was) != 0;
  if (was->gone) { /* made anew: in an epoch of its own, but never for a shard that was read */
    if (was->at == HD_AT_END && now->at != HD_AT_END)
      hd_break(o, HD_S8_BACKWARDS, s->id, "%s makes the lease anew, and it had ended", l->what);
    return;
  }
  if (now->gone) {
    if (was->at != HD_AT_END)
      hd_break(o, HD_S8_BACKWARDS, s->id, "%s removes a lease that has not ended", l->what);
    return;
  }
  judge_writer(o, l, s, was, now, moved);
  if (moved) judge_move(o, l, s, was, now);
  judge_let(o, l, s, was, now);
}

/* Its row was removed by an operator, and who made it anew did not know how far its counter had come: then it
 * may fit by chance. */
static int fits_by_chance(hd_oracle *o, hd_life *l, const hd_part *s, const hd_row *row) {
  const hd_ownership *t = hd_of(o, l, s)->now;
  const hd_version *was = hd_row_now(s);
  if (!o->terms.by_counter || !row || !t || !t->loose || !was) return 0;
  return strcmp(row->owner, was->owner) == 0 && !hd_is_instance(o, l, was->owner);
}

void hd_reads_table(hd_oracle *o, size_t life, uint64_t sent_us) {
  hd_life *l = hd_life_of(o, life);
  hd_room(o, &l->table_us, l->table_n, &l->table_cap, sizeof *l->table_us);
  l->table_us[l->table_n++] = sent_us;
}

/* The rows that the maker of this one knew are those of its last reading before it sent the write: none is begun
 * while such a write is out. Only one at the latest says that there was no other; any other row is of this very
 * moment. */
static uint64_t knew_us(const hd_life *l, const hd_version *made) {
  uint64_t last = 0;
  if (!l || !made->latest) return made->us;
  for (size_t i = 0; i < l->table_n; i++)
    if (l->table_us[i] <= made->sent_us) last = slp_max_u64(last, l->table_us[i]);
  return last ? last : made->us;
}

void hd_row_is(hd_oracle *o, size_t life, const char *shard, uint64_t sent_us, const hd_row *row) {
  hd_part *s = hd_find_shard(o, shard);
  hd_life *l = life == SIZE_MAX ? NULL : hd_life_of(o, life);
  if (!s) {
    hd_break(o, HD_S3_INTEGRITY, shard, "a lease of a shard that there is not");
    return;
  }
  if (!l || fits_by_chance(o, l, s, row)) hd_excuse(o, shard);
  o->rows++;
  hd_version *now = add(o, s, life, sent_us, row), *was = s->versions_n > 1 ? now - 1 : NULL;
  if (row && s->row_n == SIZE_MAX) {
    s->row_n = s->notes_n;
    s->knew_us = knew_us(l, now);
    o->first_row_us = slp_min_u64(o->first_row_us, now->us);
  } else if (row && was && was->gone) {
    s->knew_us = knew_us(l, now);
    s->made = s->versions_n - 1;
  }
  if (was && was->owner != now->owner) s->owner_us = now->us;
  hd_tell(o, HD_TOLD_ROW, life, s->number, (hd_told){.a = s->versions_n - 1});
  if (was && l && !s->excused) judge_change(o, l, s, was, now);
  if (was && l && !s->excused) hd_judge_kept(o, l, s, was, now);
  if (takes(o, l, was, now)) {
    hd_learn_instance(o, l, now->owner);
    s->excused = 0; /* from here on it is as ever */
  }
}

void hd_excuse(hd_oracle *o, const char *shard) {
  hd_part *s = hd_find_shard(o, shard);
  if (!s) return;
  o->excuses++;
  s->excused = s->excused_ever = 1;
  s->excused_us = hd_now(o);
  for (hd_ownership *t = s->ownerships; t; t = t->before) t->loose = 1;
  hd_tell(o, HD_TOLD_DEED, SIZE_MAX, s->number, (hd_told){.what = "is touched by an operator"});
}

void hd_begun_anew(hd_oracle *o) { o->begun_anew = 1; }
