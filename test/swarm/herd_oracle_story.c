/* herd_oracle_story.c - what happened, kept in a ring and told of one shard. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>
#include <stdio.h>

#define TOLD_MAX 32768

static void grow(hd_oracle *o) {
  if (o->told_n < o->told_cap || o->told_cap >= TOLD_MAX) return;
  hd_room(o, &o->told, o->told_n, &o->told_cap, sizeof *o->told);
}

void hd_tell(hd_oracle *o, hd_told_kind kind, size_t life, size_t shard, hd_told more) {
  grow(o);
  size_t at = o->told_n;
  if (o->told_n < o->told_cap) {
    o->told_n++;
  } else {
    at = o->told_first;
    o->told_first = (o->told_first + 1) % o->told_cap;
  }
  more.kind = (uint8_t)kind;
  more.us = hd_now(o);
  more.life = life;
  more.shard = shard;
  o->told[at] = more;
}

/* ---- words --------------------------------------------------------------------------------------------- */

static const char *const shard_whats[] = {
    [SLOOP_SHARD_OPENED] = "opened",      [SLOOP_SHARD_ENDED] = "ended", [SLOOP_SHARD_STOPPED] = "stopped",
    [SLOOP_SHARD_REPOSITIONED] = "moved", [SLOOP_SHARD_LOST] = "lost",   [SLOOP_SHARD_RELEASED] = "given",
};
static const char *const lease_whats[] = {
    [SLOOP_LEASE_JOINED] = "joined",
    [SLOOP_LEASE_EVICTED] = "evicted",
    [SLOOP_LEASE_SUSPENDED] = "suspended",
    [SLOOP_LEASE_RESUMED] = "resumed",
    [SLOOP_LEASE_TAKEN] = "taken",
    [SLOOP_LEASE_LOST] = "lost",
    [SLOOP_LEASE_RELEASED] = "released",
    [SLOOP_LEASE_ENDED] = "ended",
    [SLOOP_LEASE_LEADS] = "leads",
    [SLOOP_LEASE_FOLLOWS] = "follows",
    [SLOOP_LEASE_EVICTED_OTHER] = "evicted_other",
    [SLOOP_LEASE_DRAINED] = "drained",
    [SLOOP_LEASE_UNDRAINED] = "undrained",
    [SLOOP_LEASE_HOLE] = "a hole",
    [SLOOP_LEASE_BAD_ROW] = "a bad row",
    [SLOOP_LEASE_TROUBLE] = "trouble",
    [SLOOP_LEASE_LEFT] = "left",
};

/* The end of a number, which is what tells it from its neighbours. */
static const char *tail(slp_str seq, uint32_t sub, char out[48]) {
  size_t n = seq.n < 12 ? seq.n : 12;
  int at = snprintf(out, 48, "%s%.*s", n < seq.n ? ".." : "", (int)n, seq.n ? seq.p + seq.n - n : "");
  if (sub) snprintf(out + at, 48 - (size_t)at, "/%u", sub);
  return out;
}

static const char *record(const hd_part *s, size_t i, char out[48]) {
  if (!s || i >= s->notes_n) return "?";
  return tail(hd_seq(s, i), s->notes[i].sub, out);
}

static void place(const hd_part *s, const hd_version *v, char out[80]) {
  char seq[48];
  switch (v->at) {
    case HD_AT_START: snprintf(out, 80, "at its start"); return;
    case HD_AT_TIME: snprintf(out, 80, "at the time %" PRId64, v->ms); return;
    case HD_AT_END: snprintf(out, 80, "at its end"); return;
    default:
      tail((slp_str){s->texts + v->seq_at, v->seq_n}, v->whole ? 0 : v->sub, seq);
      snprintf(out, 80, "after record %zu %s", v->done - 1, seq);
  }
}

static int row_text(const hd_oracle *o, const hd_told *t, char *out, size_t n) {
  const hd_part *s = o->shards[t->shard];
  const hd_version *v = &s->versions[t->a];
  char where[80];
  const char *by = t->life == SIZE_MAX ? "an operator" : o->lives[t->life]->what;
  if (v->gone) return snprintf(out, n, "row: gone, by %s", by);
  place(s, v, where);
  return snprintf(out, n, "row: owner %s epoch %" PRIu64 " %s%s, by %s, sent %.3f",
                  v->owner[0] ? v->owner : "nobody", v->epoch, where, v->parked ? ", parked" : "", by,
                  (double)v->sent_us / 1e6);
}

static int told_text(const hd_oracle *o, const hd_told *t, char *out, size_t n) {
  const hd_part *s = t->shard == SIZE_MAX ? NULL : o->shards[t->shard];
  char from[48], to[48];
  switch ((hd_told_kind)t->kind) {
    case HD_TOLD_BATCH:
      return snprintf(out, n, "epoch %" PRIu64 " batch of %zu from %zu %s to %zu %s", t->epoch, t->n, t->a,
                      record(s, t->a, from), t->b, record(s, t->b, to));
    case HD_TOLD_DEAD_LETTER:
      return snprintf(out, n, "epoch %" PRIu64 " dead letter %zu %s", t->epoch, t->a, record(s, t->a, from));
    case HD_TOLD_BACK:
      return snprintf(out, n, "epoch %" PRIu64 " back from %zu %s: %zu of %zu finished with", t->epoch, t->a,
                      record(s, t->a, from), t->n, t->b);
    case HD_TOLD_ROW: return row_text(o, t, out, n);
    case HD_TOLD_LEASE: return snprintf(out, n, "lease %s epoch %" PRIu64, lease_whats[t->n], t->epoch);
    case HD_TOLD_SHARD: return snprintf(out, n, "shard %s", shard_whats[t->n]);
    case HD_TOLD_LOSS: return snprintf(out, n, "a loss, %s", t->n ? "certain" : "perhaps");
    case HD_TOLD_PAUSE: return snprintf(out, n, "%s", t->n ? "pauses" : "resumes");
    case HD_TOLD_DEED: return snprintf(out, n, "%s", t->what);
  }
  return 0;
}

/* A line about the shard, or about a worker as a whole. */
static int concerns(const hd_told *t, size_t shard) { return t->shard == shard || t->shard == SIZE_MAX; }

static void one(const hd_oracle *o, const hd_told *t, void (*line)(void *arg, const char *text), void *arg) {
  char text[400];
  int names = t->life != SIZE_MAX && t->kind != HD_TOLD_ROW;
  int n = snprintf(text, sizeof text, "%.3f %s%s", (double)t->us / 1e6, names ? o->lives[t->life]->what : "",
                   names ? " " : "");
  told_text(o, t, text + n, sizeof text - (size_t)n);
  line(arg, text);
}

void hd_story(const hd_oracle *o, const char *shard, size_t most, void (*line)(void *arg, const char *text),
              void *arg) {
  size_t number = SIZE_MAX, found = 0, i = o->told_n;
  for (size_t k = 0; k < o->shards_n; k++)
    if (strcmp(o->shards[k]->id, shard) == 0) number = k;
  while (i > 0 && found < most)
    found += (size_t)concerns(&o->told[(o->told_first + --i) % o->told_cap], number);
  for (; i < o->told_n; i++) {
    const hd_told *t = &o->told[(o->told_first + i) % o->told_cap];
    if (concerns(t, number)) one(o, t, line, arg);
  }
}
