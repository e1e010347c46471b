/* oracle.c - every promise of sloop.h as a check. */
#include "swarm/oracle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

typedef struct held_record {
  slp_judged_shard *shard;
  size_t index;
  uint8_t acked;
} held_record;

typedef struct slp_held_by_user {
  struct slp_held_by_user *next;
  slp_judged *member;
  sloop_batch_t *batch;
  uint64_t serial;
  size_t n;
  held_record *records;
} slp_held_by_user;

/* A give-back rests at least so long (sloop.h: 100 ms later, doubling), less what a clock may drift. */
#define BACK_OFF_US_MIN 89000

slp_oracle *slp_oracle_new(slp_world *w) {
  slp_oracle *o = SLP_NEW(w->mem, slp_oracle);
  SLP_CHECK(o);
  o->world = w;
  o->top_ms = INT64_MIN;
  return o;
}

static void forget_held(slp_oracle *o, slp_held_by_user *h) {
  slp_free(o->world->mem, h->records);
  slp_free(o->world->mem, h);
}

void slp_oracle_free(slp_oracle *o) {
  slp_mem *mem = o->world->mem;
  while (o->held) {
    slp_held_by_user *h = o->held;
    o->held = h->next;
    forget_held(o, h);
  }
  for (size_t i = 0; i < o->members_n; i++) {
    for (size_t k = 0; k < SLP_SHARDS_MAX; k++) {
      slp_free(mem, o->members[i]->shards[k].fates);
      slp_free(mem, o->members[i]->shards[k].attempts);
    }
    slp_free(mem, o->members[i]);
  }
  slp_free(mem, o);
}

void slp_oracle_bad(slp_oracle *o, const char *fmt, ...) {
  char text[360];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  slp_sim_trace(o->world->sim, "BROKEN: %s", text);
  if (o->bad[0]) return;
  uint64_t now = slp_sim_now_us(o->world->sim);
  snprintf(o->bad, sizeof o->bad, "at %" PRIu64 ".%06" PRIu64 " s: %s", now / 1000000, now % 1000000, text);
}

slp_judged *slp_oracle_member(slp_oracle *o, slp_known_stream *s, const sloop_opts_t *opts) {
  SLP_CHECK(o->members_n < SLP_STREAMS_MAX);
  slp_judged *m = SLP_NEW(o->world->mem, slp_judged);
  SLP_CHECK(m);
  m->oracle = o;
  m->stream = s;
  m->opts = opts;
  for (size_t i = 0; i < SLP_SHARDS_MAX; i++) m->shards[i].known = &s->shards[i];
  o->members[o->members_n++] = m;
  return m;
}

static size_t trimmed_of(const slp_known_shard *k) {
  size_t n = 0;
  while (n < k->notes_n && k->notes[n].trimmed) n++;
  return n;
}

/* A new account for every shard; what is out counts for nothing. */
static void begin(slp_judged *m, const slp_begun *from, const slp_saved *saved) {
  m->from = *from;
  m->saved = saved;
  m->any_stopped = 0;
  m->started_us = slp_sim_now_us(m->oracle->world->sim);
  m->listed_us = m->oracle->world->listed_us;
  m->started_ms = slp_world_ms(m->oracle->world);
  for (size_t i = 0; i < m->stream->shards_n; i++) {
    slp_judged_shard *s = &m->shards[i], fresh = {.known = s->known, .paused = s->paused};
    slp_free(m->oracle->world->mem, s->fates);
    slp_free(m->oracle->world->mem, s->attempts);
    *s = fresh;
    s->trimmed_at_start = trimmed_of(s->known);
  }
  for (slp_held_by_user *h = m->oracle->held; h; h = h->next)
    for (size_t i = 0; h->member == m && i < h->n; i++) h->records[i].shard = NULL;
}

static void begin_at(slp_judged *m, const sloop_position_t *to, const slp_saved *saved) {
  slp_begun from = {.kind = to->kind, .at_ms = to->at_ms, .sub = to->sub, .shards_n = m->stream->shards_n};
  if (to->shard) snprintf(from.shard, sizeof from.shard, "%s", to->shard);
  if (to->seq) snprintf(from.seq, sizeof from.seq, "%s", to->seq);
  begin(m, saved ? &saved->from : &from, saved);
}

void slp_oracle_on_start(slp_judged *m) {
  m->started = 1;
  begin_at(m, &m->opts->start, m->saved);
}

void slp_oracle_moved(slp_judged *m, const sloop_position_t *to, const slp_saved *saved) {
  slp_oracle *o = m->oracle;
  slp_sim_trace(o->world->sim, "moved to %d", (int)to->kind);
  m->moved++;
  o->top_ms = INT64_MIN;
  o->top_seq[0] = 0;
  /* A user that asks for the latest now means a later one than before. */
  for (size_t i = 0; i < m->stream->shards_n && to->kind == SLOOP_LATEST; i++) {
    slp_known_shard *k = &m->stream->shards[i];
    k->locates = k->latest_locates = 0;
    k->latest_low = k->by_time_low = SIZE_MAX;
    k->latest_high = 0;
  }
  begin_at(m, to, saved);
}

static int is_acked_singly(const slp_oracle *o, const slp_judged_shard *s, size_t index) {
  for (const slp_held_by_user *h = o->held; h; h = h->next)
    for (size_t i = 0; i < h->n; i++)
      if (h->records[i].shard == s && h->records[i].index == index) return h->records[i].acked;
  return 0;
}

/* ---- callbacks at all ------------------------------------------------------------------------------ */
void slp_oracle_on_callback(slp_judged *m, const char *name) {
  if (m->oracle->inside)
    slp_oracle_bad(m->oracle, "P1 not inside: %s ran inside a call into the library", name);
  if (m->closed) slp_oracle_bad(m->oracle, "P2 closed: %s after the close callback", name);
  if (m->close_called) slp_oracle_bad(m->oracle, "P2 closed: %s after sloop_close()", name);
}

/* ---- where a shard may begin ------------------------------------------------------------------------- */
#define CHANGE_US 50000 /* so long takes a split or a merge: change_ms of the sandbox */

/* "Latest" is when the first shard is found, not when start was called. */
static uint64_t latest_us(const slp_judged *m) {
  uint64_t begun = UINT64_MAX;
  for (size_t i = 0; i < m->stream->shards_n; i++)
    if (m->stream->shards[i].locates) begun = slp_min_u64(begun, m->stream->shards[i].first_locate_us);
  return begun;
}

/* It was listed when the first shard was found, so it begins at its latest as every other does: LATEST is what
 * arrives from then on, whatever had been before its parents went out of retention. */
static int was_listed(const slp_judged *m, const slp_known_shard *k) {
  uint64_t begun = latest_us(m);
  for (size_t i = 0; i < m->stream->shards_n; i++) {
    const slp_known_shard *first = &m->stream->shards[i];
    if (first->locates && first->first_locate_us == begun) return k->made_us + CHANGE_US <= first->listed_us;
  }
  return 0;
}

static int starts_as_child(const slp_judged *m, const slp_judged_shard *s) {
  const slp_known_shard *k = s->known;
  if (k->closed && !k->locates && k->closed_us < latest_us(m)) return 0;
  /* It was there at the start; but one that the service was still making, or that was made while the listing was
   * on its way, was found as its parents' child. */
  int making = (m->started_us < k->made_us + CHANGE_US || !was_listed(m, k)) && !k->latest_locates &&
               k->parents[0] >= 0;
  if ((size_t)(k - m->stream->shards) < m->from.shards_n && !making) return 0;
  for (int i = 0; i < 2; i++) {
    const slp_known_shard *p = k->parents[i] >= 0 ? &m->stream->shards[k->parents[i]] : NULL;
    /* Or it came and went out of retention before anybody heard of it. */
    int unheard = p && p->gone && (size_t)k->parents[i] >= m->from.shards_n && !was_listed(m, k);
    if (p && (p->locates || unheard)) return 1;
    if (p && starts_as_child(m, &m->shards[k->parents[i]])) return 1;
  }
  return 0;
}

/* Whether it descends from a shard that was given up, over shards that were listed or over any. A parent has a lower
 * number. */
static int has_lost_parent(const slp_judged *m, const slp_known_shard *k, int listed_only) {
  uint8_t cut[SLP_SHARDS_MAX] = {0};
  size_t at = (size_t)(k - m->stream->shards);
  for (size_t i = 0; i <= at; i++)
    for (int p = 0; p < 2; p++) {
      int parent = m->stream->shards[i].parents[p];
      if (parent < 0) continue;
      int known = cut[parent] && (!listed_only || m->stream->shards[parent].told_us);
      if (m->shards[parent].stopped || known) cut[i] = 1;
    }
  return cut[at];
}

/* Children of a shard that was given up are not read, nor theirs. A shard that came and went between two listings
 * tells nobody whose child it was. */
static int is_cut_off(const slp_judged *m, const slp_known_shard *k) { return has_lost_parent(m, k, 1); }

static int place_range(const slp_judged *m, const slp_judged_shard *s, size_t *low, size_t *high);

static int has_read_parent(const slp_judged *m, const slp_known_shard *k) {
  size_t low, high;
  for (int i = 0; i < 2; i++)
    if (k->parents[i] >= 0 && place_range(m, &m->shards[k->parents[i]], &low, &high)) return 1;
  return 0;
}

static int time_range(const slp_judged *m, const slp_known_shard *k, size_t *low, size_t *high) {
  size_t i = 0;
  int64_t at_ms = m->from.at_ms - (m->oracle->whole_seconds ? m->from.at_ms % 1000 : 0);
  while (m->from.kind == SLOOP_AT_TIME && i < k->notes_n && k->notes[i].arrived_ms < at_ms) i++;
  *low = slp_max_u64(*low, i);
  *high = slp_max_u64(*high, i);
  return 1;
}

/* The fresh records begin in [low, high], where no shard is given up. 0: this one is not read at all. */
static int place_range(const slp_judged *m, const slp_judged_shard *s, size_t *low, size_t *high) {
  const slp_known_shard *k = s->known;
  *low = s->trimmed_at_start;
  *high = trimmed_of(k);
  size_t number = (size_t)(k - m->stream->shards);
  if (m->saved && number < m->saved->shards_n) {
    *low = slp_max_u64(*low, m->saved->shards[number].low);
    *high = slp_max_u64(*high, m->saved->shards[number].high);
    return m->saved->shards[number].reads;
  }
  if (m->saved || (m->from.kind == SLOOP_AT_SEQ && strcmp(k->id, m->from.shard)))
    return has_read_parent(m, k) ? time_range(m, k, low, high) : 0;
  switch (m->from.kind) {
    case SLOOP_OLDEST: return 1;
    case SLOOP_AT_TIME: return time_range(m, k, low, high);
    case SLOOP_LATEST:
      if (starts_as_child(m, s)) {
        /* Its parent's latest may be told as a time, and what is older is passed over in the child too. */
        while (*high < k->notes_n && k->notes[*high].put_us <= latest_us(m)) ++*high;
        return 1;
      }
      /* Listed, and closed before anything was found. One that closed later, or that the listing did not show, is
       * read by its own latest or as a child. */
      if (k->closed && !k->latest_locates && k->closed_us < latest_us(m) && was_listed(m, k)) return 0;
      if (!k->latest_locates && k->parents[0] < 0 && number < m->from.shards_n) {
        *low = *high = k->notes_n; /* it was there, and nobody asked for its latest */
        return 1;
      }
      if (!k->latest_locates) {
        *low = 0;
        *high = k->notes_n;
        return 1;
      }
      *low = k->by_time_low < k->latest_low ? k->by_time_low : k->latest_low;
      *high = slp_max_u64(s->latest_known ? s->latest_high : k->latest_high,
                          *high); /* what was trimmed since can't be read */
      return 1;
    case SLOOP_AFTER_SEQ:
    case SLOOP_AT_END: return 0;   /* a consumer can't start there */
    case SLOOP_AT_TOKEN: return 0; /* only of a token nobody saved */
    case SLOOP_AT_SEQ: {
      size_t i = 0;
      slp_str from = slp_str_of(m->from.seq);
      while (i < k->notes_n && slp_num_cmp(slp_str_of(k->notes[i].seq), from) < 0) i++;
      while (i < k->notes_n && slp_str_is(from, k->notes[i].seq) && k->notes[i].sub < m->from.sub) i++;
      *low = slp_max_u64(*low, i);
      *high = slp_max_u64(*high, i);
      return 1;
    }
  }
  return 1;
}

int slp_oracle_start_range(const slp_judged *m, const slp_judged_shard *s, size_t *low, size_t *high) {
  return !(m->any_stopped && is_cut_off(m, s->known)) && place_range(m, s, low, high);
}

/* Returns 1 if the consumer may read this shard, though it need not. A token names shards and not their keys. When
 * the stream has forgotten a shard of the token, a shard none of whose parents is kept may descend from it; so
 * the consumer may read that shard and its descendants. */
static int may_be_read(const slp_judged *m, const slp_known_shard *k) {
  size_t low, high;
  int has_lost = 0, is_stranger = k->parents[0] >= 0;
  if (slp_oracle_start_range(m, &m->shards[k - m->stream->shards], &low, &high)) return 1;
  for (int i = 0; i < 2; i++) {
    if (k->parents[i] < 0) continue;
    if (may_be_read(m, &m->stream->shards[k->parents[i]])) return 1;
    if (!m->stream->shards[k->parents[i]].gone) is_stranger = 0;
  }
  for (size_t i = 0; m->saved && i < m->saved->shards_n; i++)
    if (m->saved->shards[i].reads && m->stream->shards[i].gone) has_lost = 1;
  return has_lost && is_stranger && !(m->any_stopped && is_cut_off(m, k));
}

/* ---- what can be known of kin ------------------------------------------------------------------------ */
/* A place in a shard, and a token, leave shards out. What is listed later is read when it descends from what is
 * read, and a shard whose parents came and went between two listings does not show that. It can be known when
 * - nothing is left out; or a parent of it was told, or named by the token, of which it can be known;
 * - it has a key of such a shard that is kept no more and not all of whose children were told: what has come of
 *   that shard has its keys;
 * - the other half of the split that made it has such a key: both name what was split.
 * What was merged with a shard outside and split more than once, all of it unseen, may have neither, and need not
 * be read. */
static int can_be_known(const slp_judged *m, const slp_known_shard *k);

static int was_told(const slp_judged *m, const slp_known_shard *k) {
  if (m->saved && (size_t)(k - m->stream->shards) < m->saved->shards_n) return 1;
  return k->told_us && k->told_us >= m->listed_us;
}

static int is_told_and_read(const slp_judged *m, size_t i) {
  const slp_known_shard *k = &m->stream->shards[i];
  size_t low, high;
  return was_told(m, k) && slp_oracle_start_range(m, &m->shards[i], &low, &high) && can_be_known(m, k);
}

static int has_untold_child(const slp_judged *m, size_t parent) {
  for (size_t i = parent + 1; i < m->stream->shards_n; i++) {
    const slp_known_shard *k = &m->stream->shards[i];
    if (slp_known_is_child(m->stream, k, &m->stream->shards[parent]) && !was_told(m, k)) return 1;
  }
  return 0;
}

static int has_key_of_open_end(const slp_judged *m, const slp_known_shard *k) {
  for (size_t i = 0; &m->stream->shards[i] < k; i++) {
    const slp_known_shard *e = &m->stream->shards[i];
    if (e->gone && e->hash_low <= k->hash_high && k->hash_low <= e->hash_high && has_untold_child(m, i) &&
        is_told_and_read(m, i))
      return 1;
  }
  return 0;
}

static int nothing_left_out(const slp_judged *m) {
  size_t low, high;
  for (size_t i = 0; i < m->stream->shards_n; i++)
    if (was_told(m, &m->stream->shards[i]) && !slp_oracle_start_range(m, &m->shards[i], &low, &high))
      return 0;
  return 1;
}

static int can_be_known(const slp_judged *m, const slp_known_shard *k) {
  size_t number = (size_t)(k - m->stream->shards);
  int named = m->from.kind == SLOOP_AT_SEQ && strcmp(k->id, m->from.shard) == 0;
  if (!m->saved && (named || m->from.kind != SLOOP_AT_SEQ)) return 1;
  if (m->shards[number].opened || m->shards[number].started) return 1;
  if (m->saved && number < m->saved->shards_n) return !m->saved->shards[number].unknown;
  for (int i = 0; i < 2; i++)
    if (k->parents[i] >= 0 && is_told_and_read(m, (size_t)k->parents[i])) return 1;
  if (has_key_of_open_end(m, k) || nothing_left_out(m)) return 1;
  for (size_t i = 0; i < m->stream->shards_n && k->parents[0] >= 0 && k->parents[1] < 0; i++) {
    const slp_known_shard *half = &m->stream->shards[i];
    if (half->parents[0] == k->parents[0] && half->parents[1] < 0 && has_key_of_open_end(m, half)) return 1;
  }
  return 0;
}

/* A record acknowledged by itself counts before its batch is back. */
int slp_oracle_is_done(const slp_judged *m, const slp_judged_shard *s, size_t index) {
  uint8_t fate = s->fates[index];
  return fate == SLP_RECORD_ACKED || fate == SLP_RECORD_SKIPPED ||
         (fate == SLP_RECORD_OUT && is_acked_singly(m->oracle, s, index));
}

/* Up to where all was acknowledged. */
static size_t first_unacked(const slp_judged *m, const slp_judged_shard *s) {
  size_t next = s->first;
  while (next < s->next && slp_oracle_is_done(m, s, next)) next++;
  return next;
}

/* LATEST is saved as a time that it was not before. What is known of that is the Date of an answer, in whole
 * seconds, which was written at some moment of its call: a second and a call is how early it may be, and some
 * milliseconds more by a clock that drifts. Where the service can't locate a time, it is looked for from the
 * oldest record on, in whole seconds: that is one second more. */
#define LATEST_SLACK_MS 1100

static uint64_t latest_slack_us(const slp_judged *m) {
  uint64_t ms = LATEST_SLACK_MS + (m->oracle->whole_seconds ? 1000 : 0);
  return ms * 1000 + slp_sim_longest_call_us(m->oracle->world->sim);
}

static size_t back_to(const slp_judged *m, const slp_known_shard *k, size_t low) {
  int64_t since_ms = m->started_ms - (int64_t)(latest_slack_us(m) / 1000);
  while (low > 0 && k->notes[low - 1].arrived_ms >= since_ms) low--;
  return low;
}

/* It was open when reading began, or at the time that is taken for it, and nobody has asked for its latest: a
 * token says "what came since then", also when it is closed by now. That it is read then is not asked for: a
 * listing may show it closed. */
static int waits_for_latest(const slp_judged *m, const slp_known_shard *k) {
  if (m->saved || k->latest_locates || (size_t)(k - m->stream->shards) >= m->from.shards_n) return 0;
  return !k->closed || k->closed_us + latest_slack_us(m) >= m->started_us;
}

void slp_oracle_save(const slp_judged *m, slp_saved *ret) {
  slp_saved to = {.from = m->from, .shards_n = m->stream->shards_n};
  for (size_t i = 0; i < to.shards_n; i++) {
    const slp_judged_shard *s = &m->shards[i];
    size_t low = 0, high = 0;
    int ranged = place_range(m, s, &low, &high); /* from a token all go on */
    to.shards[i].reads = (uint8_t)(ranged || s->started);
    to.shards[i].unknown = to.shards[i].reads && !can_be_known(m, s->known);
    if (s->started) {
      low = high = first_unacked(m, s);
    } else if (m->from.kind == SLOOP_LATEST && s->known->latest_locates) {
      low = back_to(m, s->known, low); /* it may have children since then */
    } else if (m->from.kind == SLOOP_LATEST && waits_for_latest(m, s->known)) {
      if (!to.shards[i].reads) low = high = s->known->notes_n;
      to.shards[i].reads = 1;
      low = back_to(m, s->known, low);
      /* A child's records from before that are older than what its parents are asked for. */
      while (high < s->known->notes_n && s->known->notes[high].put_us <= latest_us(m)) high++;
    }
    to.shards[i].low = low;
    to.shards[i].high = high;
  }
  *ret = to;
}

/* ---- records ------------------------------------------------------------------------------------------- */
static void make_room(slp_judged *m, slp_judged_shard *s) {
  if (s->known->notes_n <= s->cap) return;
  slp_mem *mem = m->oracle->world->mem;
  size_t cap = s->known->notes_n * 2;
  s->fates = slp_realloc(mem, s->fates, cap);
  s->attempts = slp_realloc(mem, s->attempts, cap * sizeof *s->attempts);
  SLP_CHECK(s->fates && s->attempts);
  memset(s->fates + s->cap, 0, cap - s->cap);
  memset(s->attempts + s->cap, 0, (cap - s->cap) * sizeof *s->attempts);
  s->cap = cap;
}

static int is_note(const slp_note *note, const sloop_record_t *r) {
  return note->sub == r->sub && slp_str_is((slp_str){r->seq.base, r->seq.len}, note->seq);
}

static size_t find_note(const slp_judged_shard *s, const sloop_record_t *r) {
  const slp_known_shard *k = s->known;
  for (size_t i = s->next; i < k->notes_n; i++)
    if (is_note(&k->notes[i], r)) return i;
  for (size_t i = 0; i < s->next && i < k->notes_n; i++)
    if (is_note(&k->notes[i], r)) return i;
  return SIZE_MAX;
}

static void check_content(slp_judged *m, const slp_judged_shard *s, const slp_note *note,
                          const sloop_record_t *r) {
  slp_oracle *o = m->oracle;
  if (!slp_note_holds(note, r->data.base, r->data.len) && !(o->raw_expected && r->flags & SLOOP_REC_RAW))
    slp_oracle_bad(o, "S3 integrity: %s %s: other bytes than were put (%zu, not %u)", s->known->id, note->seq,
                   r->data.len, note->bytes);
  if (r->flags & SLOOP_REC_RAW && !o->raw_expected)
    slp_oracle_bad(o, "S3 integrity: %s %s: flagged raw", s->known->id, note->seq);
  if (r->arrived_at_ms != note->arrived_ms && !o->world->clock_went_back)
    slp_oracle_bad(o, "S3 integrity: %s %s: arrived at %" PRId64 ", not %" PRId64, s->known->id, note->seq,
                   r->arrived_at_ms, note->arrived_ms);
  if (r->key.len != 17 || r->key.base[0] != 'k')
    slp_oracle_bad(o, "S3 integrity: %s %s: another key", s->known->id, note->seq);
  if (!r->epoch != !m->opts->app)
    slp_oracle_bad(o, "S3 integrity: %s %s: epoch %llu", s->known->id, note->seq,
                   (unsigned long long)r->epoch);
  if (strcmp(r->stream, m->stream->name))
    slp_oracle_bad(o, "S3 integrity: %s: of stream %s", s->known->id, r->stream);
}

static void check_parents_first(slp_judged *m, const slp_judged_shard *s) {
  for (int i = 0; i < 2; i++) {
    int at = s->known->parents[i];
    if (at < 0) continue;
    const slp_judged_shard *p = &m->shards[at];
    size_t low, high;
    if (!slp_oracle_start_range(m, p, &low, &high) || p->stopped || !can_be_known(m, p->known)) continue;
    if (m->from.kind == SLOOP_LATEST && !p->known->locates) continue;
    size_t next = p->started ? p->next : high;
    while (next < p->known->notes_n && p->known->notes[next].trimmed) next++;
    if (next < p->known->notes_n)
      slp_oracle_bad(m->oracle, "P4 parents: %s handed over before its parent %s was (%zu of %zu)",
                     s->known->id, p->known->id, next, p->known->notes_n);
  }
}

/* After it was put, a page of a parent showed that one still open: when nothing was behind there, all that is as
 * old as that page could go, and nobody could know that a child had an older record. */
static int was_put_unseen(const slp_judged *m, const slp_known_shard *k, const slp_note *note) {
  for (int i = 0; i < 2; i++)
    if (k->parents[i] >= 0 && m->stream->shards[k->parents[i]].shown_open_us > note->put_us) return 1;
  return 0;
}

/* At the tip a shard that has not answered for order_wait_ms is waited for no longer: a large page over a slow
 * network may take as long, and so may a shard, or its parent, whose pages are refused as too many until one
 * comes. By the consumer's clock, which may run one percent faster. */
static int was_waited_out(const slp_judged *m, const slp_known_shard *k) {
  uint64_t refused_us = k->refused_us;
  for (int i = 0; i < 2; i++)
    if (k->parents[i] >= 0) refused_us = slp_max_u64(refused_us, m->stream->shards[k->parents[i]].refused_us);
  uint64_t us = slp_sim_longest_call_us(m->oracle->world->sim) + refused_us;
  return m->opts->order_wait_ms != UINT32_MAX && us + us / 100 >= m->opts->order_wait_ms * UINT64_C(1000);
}

static void check_order(slp_judged *m, const slp_judged_shard *s, const slp_note *note,
                        const sloop_record_t *r) {
  slp_oracle *o = m->oracle;
  int place = note->arrived_ms != o->top_ms ? (note->arrived_ms > o->top_ms) - (note->arrived_ms < o->top_ms)
                                            : slp_num_cmp(slp_str_of(note->seq), slp_str_of(o->top_seq));
  int late = (r->flags & SLOOP_REC_LATE) != 0;
  int late_forbidden =
      o->late_forbidden && !was_put_unseen(m, s->known, note) && !was_waited_out(m, s->known);
  m->late += (uint64_t)late;
  if (late && late_forbidden)
    slp_oracle_bad(o, "P3 in order: %s %s: late on a plain backlog", s->known->id, note->seq);
  if (m->opts->order == SLOOP_ORDER_TIME && !o->order_unchecked && !o->world->clock_went_back) {
    /* Late is what has an earlier time; ties are in the order of their numbers where all was there before. */
    int earlier = note->arrived_ms < o->top_ms, tie = place < 0 && !earlier;
    if ((earlier && !late) || (tie && late_forbidden))
      slp_oracle_bad(o, "P3 in order: %s %s (%" PRId64 ") after %s (%" PRId64 ") and not flagged late",
                     s->known->id, note->seq, note->arrived_ms, o->top_seq, o->top_ms);
    if (!earlier && late)
      slp_oracle_bad(o, "P3 in order: %s %s: flagged late and is not", s->known->id, note->seq);
  }
  if (m->opts->order == SLOOP_ORDER_SHARD && late)
    slp_oracle_bad(o, "P3 in order: %s %s: flagged late without an order", s->known->id, note->seq);
  if (place <= 0) return;
  o->top_ms = note->arrived_ms;
  memcpy(o->top_seq, note->seq, sizeof o->top_seq);
}

static void first_fresh(slp_judged *m, slp_judged_shard *s, size_t i) {
  size_t low, high;
  int ranged = slp_oracle_start_range(m, s, &low, &high);
  if (!ranged && !may_be_read(m, s->known))
    slp_oracle_bad(m->oracle, "S2 order: %s is read but should not be", s->known->id);
  else if (ranged && (i < low || i > high))
    slp_oracle_bad(m->oracle, "S2 order: %s begins at record %zu of %zu, not within %zu..%zu", s->known->id,
                   i, s->known->notes_n, low, high);
  if (!s->opened && !m->oracle->memory_fails)
    slp_oracle_bad(m->oracle, "S12 contract: %s: records before SLOOP_SHARD_OPENED", s->known->id);
  check_parents_first(m, s);
  s->started = 1;
  s->first = s->next = i;
}

static void fresh_record(slp_judged *m, slp_judged_shard *s, size_t i, const sloop_record_t *r) {
  slp_oracle *o = m->oracle;
  const slp_known_shard *k = s->known;
  if (!s->started) first_fresh(m, s, i);
  while (s->next < i && k->notes[s->next].trimmed && (s->lost || o->silent_trims))
    s->fates[s->next++] = SLP_RECORD_SKIPPED;
  if (i != s->next)
    slp_oracle_bad(o, "S2 order: %s: record %zu came, %zu is next (of %zu)%s", k->id, i, s->next, k->notes_n,
                   s->fates[i] == SLP_RECORD_ACKED ? ", and it was acknowledged before" : "");
  if (r->flags & SLOOP_REC_REDELIVERED)
    slp_oracle_bad(o, "P3 in order: %s %s: flagged again and is not", k->id, k->notes[i].seq);
  if (r->attempt != 1)
    slp_oracle_bad(o, "P3 in order: %s %s: attempt %u of a fresh record", k->id, k->notes[i].seq, r->attempt);
  if (s->back_n)
    slp_oracle_bad(o, "P3 in order: %s: a fresh record before the %zu given back", k->id, s->back_n);
  check_order(m, s, &k->notes[i], r);
  if (i >= s->next) s->next = i + 1;
  m->fresh++;
  m->delay_us_max = slp_max_u64(m->delay_us_max, slp_sim_now_us(o->world->sim) - k->notes[i].put_us);
}

static void again_record(slp_judged *m, slp_judged_shard *s, size_t i, const sloop_record_t *r) {
  slp_oracle *o = m->oracle;
  const slp_known_shard *k = s->known;
  if (!(r->flags & SLOOP_REC_REDELIVERED))
    slp_oracle_bad(o, "P3 in order: %s %s: again without the flag", k->id, k->notes[i].seq);
  uint32_t least = o->memory_fails ? 2 : s->attempts[i] + 1u;
  if (r->attempt < least || r->attempt > s->attempts[i] + 1u)
    slp_oracle_bad(o, "P3 in order: %s %s: attempt %u after %u", k->id, k->notes[i].seq, r->attempt,
                   s->attempts[i]);
  for (size_t e = s->first; e < i; e++)
    if (s->fates[e] == SLP_RECORD_BACK)
      slp_oracle_bad(o, "P3 in order: %s: record %zu comes again before %zu", k->id, i, e);
  uint64_t now = slp_sim_now_us(o->world->sim);
  if (now - s->back_us < BACK_OFF_US_MIN && s->out_n == 0)
    slp_oracle_bad(o, "P3 in order: %s: again only %" PRIu64 " us after it was given back", k->id,
                   now - s->back_us);
  s->back_n--;
  m->again++;
}

static void judge_record(slp_judged *m, held_record *h, const sloop_record_t *r) {
  slp_oracle *o = m->oracle;
  h->shard = NULL;
  size_t at = slp_world_find(m->stream, r->shard);
  if (at == SIZE_MAX) {
    slp_oracle_bad(o, "S3 integrity: a record of unknown shard %s", r->shard);
    return;
  }
  slp_judged_shard *s = &m->shards[at];
  make_room(m, s);
  size_t i = find_note(s, r);
  if (i == SIZE_MAX) {
    slp_oracle_bad(o, "S3 integrity: %s: record %.*s was never put", r->shard, (int)r->seq.len, r->seq.base);
    return;
  }
  if (s->paused || m->paused_all) slp_oracle_bad(o, "P6 paused: %s: a record while paused", r->shard);
  if (s->ended) slp_oracle_bad(o, "P4 parents: %s: a record after its end", r->shard);
  if (s->refused || (m->any_stopped && is_cut_off(m, s->known)))
    slp_oracle_bad(o, "P4 parents: %s: a record after it, or one before it, was given up", r->shard);
  check_content(m, s, &s->known->notes[i], r);
  if (s->fates[i] == SLP_RECORD_BACK)
    again_record(m, s, i, r);
  else
    fresh_record(m, s, i, r);
  s->fates[i] = SLP_RECORD_OUT;
  s->moved_us = slp_sim_now_us(m->oracle->world->sim);
  s->attempts[i] = (uint16_t)r->attempt;
  s->out_n++;
  h->shard = s;
  h->index = i;
  m->records++;
}

/* ---- batches ------------------------------------------------------------------------------------------- */
static void check_batch_limits(slp_judged *m, sloop_batch_t *b, const slp_held_by_user *h) {
  slp_oracle *o = m->oracle;
  size_t bytes = 0;
  int mixed = 0;
  for (size_t i = 0; i < h->n; i++) {
    bytes += sloop_batch_at(b, i)->data.len;
    mixed |= h->records[i].shard != h->records[0].shard;
  }
  if (h->n > m->opts->batch_records_max) slp_oracle_bad(o, "P5 budget: a batch of %zu records", h->n);
  if (h->n > 1 && bytes > m->opts->batch_bytes_max)
    slp_oracle_bad(o, "P5 budget: a batch of %zu bytes", bytes);
  uint32_t out = m->batches_out;
  if (m->opts->order == SLOOP_ORDER_SHARD) {
    if (mixed) slp_oracle_bad(o, "P5 budget: a batch mixes shards in shard order");
    out = h->records[0].shard ? h->records[0].shard->batches_out : 0;
  }
  if (out > m->opts->batches_out_max) slp_oracle_bad(o, "P5 budget: %u batches are out", out);
}

/* Each shard of a batch once. */
static void count_shards(slp_held_by_user *h, int by) {
  for (size_t i = 0; i < h->n; i++) {
    slp_judged_shard *s = h->records[i].shard;
    size_t k = 0;
    if (!s || (i && h->records[i - 1].shard == s)) continue;
    while (k < i && h->records[k].shard != s) k++;
    if (k == i) s->batches_out += (uint32_t)by;
  }
}

void slp_oracle_on_batch(slp_judged *m, sloop_batch_t *b) {
  slp_oracle *o = m->oracle;
  slp_oracle_on_callback(m, "on_batch");
  slp_mem *mem = o->world->mem;
  size_t n = sloop_batch_count(b);
  if (!m->started || n == 0)
    slp_oracle_bad(o, "S12 contract: a batch of %zu records, started %d", n, m->started);
  if (m->stop_pending || m->stopped) slp_oracle_bad(o, "P8 stopped: on_batch after sloop_stop()");
  if (m->paused_all) slp_oracle_bad(o, "P6 paused: on_batch while all is paused");
  slp_held_by_user *h = SLP_NEW(mem, slp_held_by_user);
  SLP_CHECK(h);
  h->member = m;
  h->batch = b;
  h->serial = ++o->serials;
  h->n = n;
  h->records = slp_zalloc_n(mem, n, sizeof *h->records);
  SLP_CHECK(h->records);
  for (size_t i = 0; i < n; i++) judge_record(m, &h->records[i], sloop_batch_at(b, i));
  h->next = o->held;
  o->held = h;
  m->batches_out++;
  m->batches++;
  m->last_record_us = slp_sim_now_us(o->world->sim);
  count_shards(h, 1);
  check_batch_limits(m, b, h);
  const sloop_record_t *first = sloop_batch_at(b, 0);
  slp_sim_trace(o->world->sim, "%s batch of %zu from %s %.*s flags %u", m->stream->name, n, first->shard,
                (int)first->seq.len, first->seq.base, first->flags);
}

static slp_held_by_user **held_slot(slp_oracle *o, const sloop_batch_t *b) {
  slp_held_by_user **p = &o->held;
  while (*p && (*p)->batch != b) p = &(*p)->next;
  SLP_CHECK(*p);
  return p;
}

void slp_oracle_acked(slp_judged *m, sloop_batch_t *b, size_t index) {
  slp_held_by_user *h = *held_slot(m->oracle, b);
  h->records[index].acked = 1;
  if (h->records[index].shard) h->records[index].shard->moved_us = slp_sim_now_us(m->oracle->world->sim);
}

void slp_oracle_done(slp_judged *m, sloop_batch_t *b, size_t acked) {
  slp_oracle *o = m->oracle;
  slp_held_by_user **slot = held_slot(o, b), *h = *slot;
  *slot = h->next;
  slp_judged *owner = h->member;
  slp_sim_trace(o->world->sim, "%s batch back, %zu of %zu", owner->stream->name, acked, h->n);
  for (size_t i = 0; i < h->n; i++) {
    slp_judged_shard *s = h->records[i].shard;
    if (!s) continue;
    s->moved_us = slp_sim_now_us(o->world->sim);
    s->out_n--;
    if (i < acked || h->records[i].acked) {
      s->fates[h->records[i].index] = SLP_RECORD_ACKED;
      s->acked_n++;
    } else {
      s->fates[h->records[i].index] = SLP_RECORD_BACK;
      s->back_n++;
      s->back_us = slp_sim_now_us(o->world->sim);
    }
  }
  owner->batches_out--;
  count_shards(h, -1);
  forget_held(o, h);
}

size_t slp_oracle_held(const slp_oracle *o) {
  size_t n = 0;
  for (const slp_held_by_user *h = o->held; h; h = h->next) n++;
  return n;
}

uint64_t slp_oracle_serial(const slp_oracle *o, const sloop_batch_t *b) {
  for (const slp_held_by_user *h = o->held; h; h = h->next)
    if (h->batch == b) return h->serial;
  return 0;
}

sloop_batch_t *slp_oracle_held_at(const slp_oracle *o, size_t i) {
  const slp_held_by_user *h = o->held;
  while (h && i--) h = h->next;
  return h ? h->batch : NULL;
}

/* ---- the other callbacks ------------------------------------------------------------------------------- */
void slp_oracle_on_shard(slp_judged *m, const char *shard, sloop_shard_event_kind_t what) {
  slp_oracle *o = m->oracle;
  slp_oracle_on_callback(m, "on_shard");
  slp_sim_trace(o->world->sim, "on_shard %s %d", shard, (int)what);
  size_t at = slp_world_find(m->stream, shard);
  if (at == SIZE_MAX) {
    slp_oracle_bad(o, "S12 contract: on_shard of unknown shard %s", shard);
    return;
  }
  slp_judged_shard *s = &m->shards[at];
  if (what == SLOOP_SHARD_OPENED) {
    if (s->opened) slp_oracle_bad(o, "S12 contract: %s opened twice", shard);
    s->opened = 1;
    s->moved_us = slp_sim_now_us(o->world->sim);
    /* It has its place: to ask for the latest once more is to lose what came since. */
    s->latest_known = s->known->latest_locates > 0;
    s->latest_high = s->known->latest_high;
  } else if (what == SLOOP_SHARD_REPOSITIONED) {
    if (!s->opened && !o->memory_fails)
      slp_oracle_bad(o, "S12 contract: %s moved and was never opened", shard);
    s->opened = 0;
  } else if (what == SLOOP_SHARD_LOST || what == SLOOP_SHARD_RELEASED) {
    if (!m->opts->app) slp_oracle_bad(o, "S12 contract: %s: a lease is gone that there never was", shard);
    s->opened = 0;
  } else if (what == SLOOP_SHARD_STOPPED) {
    if (s->stopped || s->ended || !s->opened)
      slp_oracle_bad(o, "S12 contract: %s stopped: again, after its end, or before it was opened", shard);
    if (!s->refused && !s->hopeless && !has_lost_parent(m, s->known, 0))
      slp_oracle_bad(o, "S12 contract: %s stopped, and neither it nor a parent had failed", shard);
    s->stopped = 1;
    m->any_stopped = 1;
    if (!o->stops_expected) slp_oracle_bad(o, "L1 all read: %s was given up: %s", shard, m->last_message);
  } else {
    size_t low, high, n = s->known->notes_n;
    make_room(m, s);
    if (s->ended++) slp_oracle_bad(o, "S12 contract: %s ended twice", shard);
    if (s->stopped) slp_oracle_bad(o, "S12 contract: %s ended after it was given up", shard);
    if (!s->known->closed) slp_oracle_bad(o, "S12 contract: %s told ended and is open", shard);
    if (s->out_n || s->back_n)
      slp_oracle_bad(o, "P4 parents: %s ended with %zu out and %zu given back", shard, s->out_n, s->back_n);
    size_t next = s->started ? s->next : slp_oracle_start_range(m, s, &low, &high) ? high : n;
    while (next < n && (s->lost || o->silent_trims) && s->known->notes[next].trimmed) next++;
    if (next < n) slp_oracle_bad(o, "S1 loss: %s ended with %zu of %zu records handed over", shard, next, n);
    m->ended++;
  }
}

void slp_oracle_on_tip(slp_judged *m) {
  slp_oracle_on_callback(m, "on_tip");
  m->tips++;
  if (m->batches_out) slp_oracle_bad(m->oracle, "S12 contract: on_tip with %u batches out", m->batches_out);
  for (size_t i = 0; i < m->stream->shards_n; i++)
    if (m->shards[i].back_n && !m->shards[i].stopped)
      slp_oracle_bad(m->oracle, "S12 contract: on_tip with records given back");
}

static size_t note_of(const slp_known_shard *k, const char *seq) {
  for (size_t i = 0; *seq && i < k->notes_n; i++)
    if (strcmp(k->notes[i].seq, seq) == 0) return i;
  return SIZE_MAX;
}

/* What is told of a gap is so: what is certain is missing, nothing is missing outside of its times, and reading
 * goes on with a record that was kept when its page was made. A page may be on its way for seconds. What is in
 * it may be trimmed meanwhile, and the consumer has the record all the same. */
static void check_loss(slp_judged *m, const slp_known_shard *k, const sloop_loss_t *loss) {
  size_t from = note_of(k, loss->from_seq), to = note_of(k, loss->to_seq), missing = 0;
  if (from == SIZE_MAX || to == SIZE_MAX) return;
  int was_trimmed = k->notes[to].trimmed && k->notes[to].trimmed_us <= k->paged_us;
  if (from >= to || was_trimmed)
    slp_oracle_bad(m->oracle, "S1 loss: %s: a gap from record %zu to %zu, %s", k->id, from, to,
                   from >= to ? "which is none" : "which is trimmed too");
  for (size_t i = from + 1; i < to; i++) {
    int64_t at_ms = k->notes[i].arrived_ms;
    missing += k->notes[i].trimmed;
    int before = loss->since_ms >= 0 && at_ms < loss->since_ms && at_ms > k->loss_told_ms;
    if (k->notes[i].trimmed && (before || (loss->until_ms >= 0 && at_ms > loss->until_ms)))
      slp_oracle_bad(m->oracle, "S1 loss: %s: record %zu is missing, and the gap is told of other times",
                     k->id, i);
  }
  if (loss->certain && !missing)
    slp_oracle_bad(m->oracle, "S1 loss: %s: certain, and no record is missing between %zu and %zu", k->id,
                   from, to);
}

void slp_oracle_on_loss(slp_judged *m, const sloop_loss_t *loss) {
  slp_oracle_on_callback(m, "on_loss");
  m->losses++;
  m->loss_since_ms = loss->since_ms;
  m->loss_certain = loss->certain;
  slp_sim_trace(m->oracle->world->sim, "on_loss %s from %s to %s certain %d: %s", loss->shard, loss->from_seq,
                loss->to_seq, loss->certain, loss->message);
  if (!m->oracle->losses_expected) slp_oracle_bad(m->oracle, "S1 loss: on_loss: %s", loss->message);
  size_t at = slp_world_find(m->stream, loss->shard);
  if (at == SIZE_MAX) return;
  slp_known_shard *k = &m->stream->shards[at];
  m->shards[at].lost = 1;
  check_loss(m, k, loss);
  k->loss_told_ms = loss->until_ms >= 0 ? loss->until_ms : slp_world_ms(m->oracle->world);
}

static int came_back_too_often(const slp_judged *m, const slp_judged_shard *s) {
  for (size_t i = 0; i < s->next; i++)
    if (s->fates[i] == SLP_RECORD_BACK && s->attempts[i] >= m->opts->retry_max) return 1;
  return 0;
}

void slp_oracle_on_error(slp_judged *m, const sloop_error_t *e) {
  slp_oracle_on_callback(m, "on_error");
  m->errors++;
  m->last_error = e->code;
  m->failed |= e->fatal != 0;
  snprintf(m->last_aws_code, sizeof m->last_aws_code, "%s", e->aws_code);
  snprintf(m->last_message, sizeof m->last_message, "%s", e->message);
  slp_sim_trace(m->oracle->world->sim, "on_error %d fatal %d %s %s attempt %u: %s", e->code, e->fatal,
                e->aws_code, e->shard, e->attempt, e->message);
  size_t at = e->shard ? slp_world_find(m->stream, e->shard) : SIZE_MAX;
  if (at != SIZE_MAX && e->code == SLOOP_ESTATE && m->opts->on_retry == SLOOP_RETRY_STOP) {
    m->shards[at].refused = 1;
    if (!came_back_too_often(m, &m->shards[at]))
      slp_oracle_bad(m->oracle, "S12 contract: %s: no record came back so often: %s", e->shard, e->message);
  } else if (at != SIZE_MAX && e->retry_in_ms == UINT64_MAX && e->code != SLOOP_EBEHIND) {
    m->shards[at].hopeless = 1;
  }
  if (m->oracle->keys_good && strcmp(e->aws_code, "InvalidSignatureException") == 0)
    slp_oracle_bad(m->oracle, "S12 contract: a wrong clock was not put right: %s", e->message);
  if (strchr(e->message, '\n')) slp_oracle_bad(m->oracle, "S12 contract: an error of more than one line");
}

int slp_oracle_gave_up(const slp_judged *m, const char *shard) {
  size_t at = slp_world_find(m->stream, shard);
  return at != SIZE_MAX && m->shards[at].stopped;
}

void slp_oracle_on_stopped(slp_judged *m, int status) {
  slp_oracle *o = m->oracle;
  if (o->inside) slp_oracle_bad(o, "P1 not inside: the stop callback ran inside a call");
  if (m->closed) slp_oracle_bad(o, "P2 closed: the stop callback after the close callback");
  if (m->close_called && status != SLP_ECANCELED)
    slp_oracle_bad(o, "P2 closed: stop told %d after sloop_close()", status);
  if (!m->stop_pending) slp_oracle_bad(o, "P8 stopped: the stop callback twice");
  if (status == 0 && m->batches_out)
    slp_oracle_bad(o, "P8 stopped: stop told 0 with %u batches out", m->batches_out);
  int unwritten = m->opts->app && o->memory_fails; /* the leases could not be given back */
  if (status == SLP_ETIMEDOUT && !m->batches_out && !unwritten)
    slp_oracle_bad(o, "P8 stopped: stop timed out with no batch out");
  if (status == SLP_ETIMEDOUT && slp_sim_now_us(o->world->sim) < m->stop_by_us && !m->opts->app)
    slp_oracle_bad(o, "P8 stopped: stop timed out before its time");
  m->stop_pending = 0;
  m->stopped = 1;
  slp_sim_trace(o->world->sim, "stopped %d", status);
}

void slp_oracle_on_closed(slp_judged *m) {
  if (m->oracle->inside) slp_oracle_bad(m->oracle, "P1 not inside: the close callback ran inside a call");
  if (!m->close_called) slp_oracle_bad(m->oracle, "P2 closed: a close callback nobody asked for");
  if (m->closed) slp_oracle_bad(m->oracle, "P2 closed: the close callback twice");
  if (m->stop_pending) slp_oracle_bad(m->oracle, "P2 closed: closed and the stop callback never came");
  m->closed = 1;
  slp_sim_trace(m->oracle->world->sim, "closed");
}

void slp_oracle_paused(slp_judged *m, const char *shard, int on) {
  m->resumed_us = slp_sim_now_us(m->oracle->world->sim);
  if (!shard) {
    m->paused_all = (uint8_t)on;
    for (size_t i = 0; i < SLP_SHARDS_MAX; i++) m->shards[i].paused = 0;
    return;
  }
  size_t at = slp_world_find(m->stream, shard);
  if (at != SIZE_MAX) m->shards[at].paused = (uint8_t)on;
}

/* ---- at the end ---------------------------------------------------------------------------------------- */
int slp_oracle_all_read(slp_judged *m, char *why, size_t why_n) {
  for (size_t i = 0; i < m->stream->shards_n; i++) {
    slp_judged_shard *s = &m->shards[i];
    const slp_known_shard *k = s->known;
    size_t low, high;
    if (s->stopped || !slp_oracle_start_range(m, s, &low, &high) || !can_be_known(m, k)) continue;
    make_room(m, s);
    size_t next = s->started ? s->next : high, n = k->notes_n;
    while (n > next && k->notes[n - 1].trimmed) n--; /* gone before it could be read */
    if (next < n || s->out_n || s->back_n) {
      if (why)
        snprintf(why, why_n, "%s: %zu of %zu records handed over, %zu out, %zu given back, %d polls", k->id,
                 next, n, s->out_n, s->back_n, (int)k->polls);
      return 0;
    }
  }
  return 1;
}
