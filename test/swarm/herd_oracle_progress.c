/* herd_oracle_progress.c - what must be so when all is healed: L1 and L2. */
#include "swarm/herd_oracle_inside.h"

#include <stdio.h>

static int no(char *why, size_t why_n, const hd_part *s, const char *text) {
  if (why) snprintf(why, why_n, "%s%s%s", s ? s->id : "", s ? ": " : "", text);
  return 0;
}

/* The shard is parked, or one that it descends from is. */
static int is_parked(const hd_oracle *o, const hd_part *s) {
  const hd_version *row = hd_row_now(s);
  if (row) return row->parked && !row->gone;
  for (int k = 0; k < 2; k++)
    if (s->parents[k] >= 0 && is_parked(o, o->shards[s->parents[k]])) return 1;
  return 0;
}

/* It has no lease, and needs none. */
static int is_nothing(const hd_oracle *o, const hd_part *s) {
  if (s->closed && s->trimmed == s->notes_n) return 1;
  if (!s->closed || o->terms.start != SLOOP_LATEST) return 0;
  /* No shard before it had a row while it was open: by KCL's rules it belongs to what was there before the
   * beginning. */
  if (o->terms.by_counter && !hd_is_child(o, s)) return 1;
  return s->closed_us <= o->first_row_us;
}

/* An operator has removed the row of what is closed by now: whoever has the leases of its children looks for
 * nothing before them, and "latest" is what is open. */
static int is_left_out(const hd_oracle *o, const hd_part *s) {
  return s->closed && (o->terms.by_counter || o->terms.start == SLOOP_LATEST);
}

static int is_read(const hd_oracle *o, const hd_part *s, char *why, size_t why_n) {
  const hd_version *row = hd_row_now(s);
  char text[120];
  if (!row) return is_nothing(o, s) || no(why, why_n, s, "it has no lease");
  if (row->at == HD_AT_END) return 1;
  if (row->gone && s->excused_ever && (is_left_out(o, s) || is_nothing(o, s))) return 1;
  if (row->gone) return no(why, why_n, s, "its lease is gone");
  if (s->closed) return no(why, why_n, s, "its end is not in the table");
  size_t done = slp_max_u64(slp_max_u64(hd_row_done(s, row), hd_floor(o, s)), s->trimmed);
  if (done >= s->notes_n) return 1;
  snprintf(text, sizeof text, "%zu of %zu records are saved as finished with", done, s->notes_n);
  return no(why, why_n, s, text);
}

int hd_all_read(hd_oracle *o, char *why, size_t why_n) {
  for (size_t i = 0; i < o->shards_n; i++)
    if (!is_parked(o, o->shards[i]) && !is_read(o, o->shards[i], why, why_n)) return 0;
  return 1;
}

/* Of this shard: records that no row passes; and 1 for an end that is not in the table. */
static size_t left_of(const hd_oracle *o, const hd_part *s) {
  const hd_version *row = hd_row_now(s);
  if (is_read(o, s, NULL, 0)) return 0;
  size_t done =
      slp_max_u64(row && !row->gone ? hd_row_done(s, row) : 0, slp_max_u64(hd_floor(o, s), s->trimmed));
  return s->notes_n - slp_min_u64(done, s->notes_n) + 1;
}

size_t hd_left_to_read(const hd_oracle *o) {
  size_t n = 0;
  for (size_t i = 0; i < o->shards_n; i++)
    if (!is_parked(o, o->shards[i])) n += left_of(o, o->shards[i]);
  return n;
}

uint64_t hd_readable_us(const hd_oracle *o, size_t shard) {
  const hd_part *s = o->shards[shard];
  uint64_t since = 0;
  for (int k = 0; k < 2; k++) {
    const hd_version *row = s->parents[k] < 0 ? NULL : hd_row_now(o->shards[s->parents[k]]);
    if (row && row->at != HD_AT_END && !row->gone) return HD_NEVER;
    if (row) since = slp_max_u64(since, row->us);
  }
  return since;
}

static size_t owner_of(hd_oracle *o, const char *owner, const size_t *lives, size_t n) {
  for (size_t i = 0; i < n && owner[0]; i++)
    if (hd_is_instance(o, hd_life_of(o, lives[i]), owner)) return i;
  return SIZE_MAX;
}

static int is_owned(hd_oracle *o, const hd_part *s, const size_t *lives, size_t n, size_t *held, char *why,
                    size_t why_n) {
  const hd_version *row = hd_row_now(s);
  if (!row || row->gone || row->at == HD_AT_END || is_parked(o, s)) return 1;
  size_t at = owner_of(o, row->owner, lives, n);
  if (at == SIZE_MAX) return no(why, why_n, s, row->owner[0] ? "its owner is not alive" : "nobody owns it");
  if (s->owner_us && hd_now(o) - s->owner_us < 2 * o->terms.lease_us)
    return no(why, why_n, s, "it went to another owner in the last two leases");
  held[at]++;
  return 1;
}

/* A worker has its share of all leases, up or down to a whole one. */
static int has_its_share(const hd_oracle *o, const hd_life *l, size_t held, size_t all, uint64_t weights,
                         char *why, size_t why_n) {
  uint64_t mine = o->terms.by_counter ? 1 : l->weight, floor = all * mine / weights;
  if (held == floor || (held == floor + 1 && all * mine % weights)) return 1;
  char text[256];
  snprintf(text, sizeof text, "%s has %zu of %zu leases, and its share is %u of %u", l->what, held, all,
           (unsigned)mine, (unsigned)weights);
  return no(why, why_n, NULL, text);
}

int hd_balanced(hd_oracle *o, const size_t *lives, size_t n, char *why, size_t why_n) {
  size_t *held = slp_zalloc_n(o->mem, n + 1, sizeof *held), all = 0;
  uint64_t weights = 0;
  int fine = 1;
  SLP_CHECK(held);
  for (size_t i = 0; i < o->shards_n && fine; i++)
    fine = is_owned(o, o->shards[i], lives, n, held, why, why_n);
  for (size_t i = 0; i < n; i++) {
    all += held[i];
    weights += o->terms.by_counter ? 1 : hd_life_of(o, lives[i])->weight;
  }
  for (size_t i = 0; i < n && fine; i++)
    fine = has_its_share(o, hd_life_of(o, lives[i]), held[i], all, weights, why, why_n);
  slp_free(o->mem, held);
  return fine;
}
