/* herd_oracle_truth.c - what was put where, and how far into it a position reaches. */
#include "swarm/herd_oracle_inside.h"

#include <stdio.h>

#include "base/num.h"

size_t hd_shard(hd_oracle *o, const char *id, int parent, int other) {
  hd_part *s = SLP_NEW(o->mem, hd_part);
  SLP_CHECK(s);
  hd_room(o, &o->shards, o->shards_n, &o->shards_cap, sizeof(hd_part *));
  s->number = o->shards_n;
  s->parents[0] = parent;
  s->parents[1] = other;
  s->row_n = SIZE_MAX;
  s->closed_us = HD_NEVER;
  s->loss_told_ms = INT64_MIN;
  snprintf(s->id, sizeof s->id, "%s", id);
  SLP_CHECK(slp_map_put(&o->ids, slp_str_of(s->id), s) == 0);
  o->shards[o->shards_n++] = s;
  return s->number;
}

hd_part *hd_find_shard(hd_oracle *o, const char *id) {
  if (o->last_shard && strcmp(o->last_shard->id, id) == 0) return o->last_shard;
  hd_part *s = slp_map_get(&o->ids, slp_str_of(id));
  if (s) o->last_shard = s;
  return s;
}

int hd_text(hd_oracle *o, hd_part *s, slp_str text, size_t *ret_at) {
  while (s->texts_n + text.n > s->texts_cap) hd_room(o, &s->texts, s->texts_cap, &s->texts_cap, 1);
  if (text.n) memcpy(s->texts + s->texts_n, text.p, text.n);
  *ret_at = s->texts_n;
  s->texts_n += text.n;
  return 0;
}

slp_str hd_seq(const hd_part *s, size_t note) {
  return (slp_str){s->texts + s->notes[note].seq_at, s->notes[note].seq_n};
}

void hd_put(hd_oracle *o, size_t shard, const char *seq, uint32_t sub, int64_t arrived_ms, uint64_t content) {
  hd_part *s = o->shards[shard];
  slp_str text = slp_str_of(seq);
  hd_note note = {.put_us = hd_now(o),
                  .content = content,
                  .acked_us = HD_NEVER,
                  .trimmed_us = HD_NEVER,
                  .arrived_ms = arrived_ms,
                  .seq_n = (uint32_t)text.n,
                  .sub = sub};
  size_t last = s->notes_n - 1;
  if (s->notes_n && arrived_ms < s->notes[last].arrived_ms) s->unordered_times = 1;
  if (arrived_ms < o->last_arrived_ms) o->unordered_times = 1;
  o->last_arrived_ms = arrived_ms;
  if (s->notes_n && slp_str_eq(hd_seq(s, last), text))
    note.seq_at = s->notes[last].seq_at;
  else
    hd_text(o, s, text, &note.seq_at);
  hd_room(o, &s->notes, s->notes_n, &s->notes_cap, sizeof *s->notes);
  s->notes[s->notes_n++] = note;
}

void hd_closed(hd_oracle *o, size_t shard) {
  o->shards[shard]->closed = 1;
  o->shards[shard]->closed_us = hd_now(o);
  hd_tell(o, HD_TOLD_DEED, SIZE_MAX, shard, (hd_told){.what = "is closed"});
}

void hd_trimmed(hd_oracle *o, size_t shard, size_t records) {
  hd_part *s = o->shards[shard];
  SLP_CHECK(records <= s->notes_n);
  if (records <= s->trimmed) return;
  while (s->trimmed < records) s->notes[s->trimmed++].trimmed_us = hd_now(o);
  hd_tell(o, HD_TOLD_DEED, SIZE_MAX, shard, (hd_told){.what = "is trimmed"});
}

static int cmp(const hd_part *s, size_t note, slp_str seq, uint32_t sub) {
  int c = slp_num_cmp(hd_seq(s, note), seq);
  return c ? c : (s->notes[note].sub > sub) - (s->notes[note].sub < sub);
}

size_t hd_notes_up_to(const hd_part *s, slp_str seq, uint32_t sub) {
  size_t low = 0, high = s->notes_n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (cmp(s, mid, seq, sub) <= 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

size_t hd_find_note(const hd_part *s, slp_str seq, uint32_t sub, size_t guess) {
  if (guess < s->notes_n && s->notes[guess].sub == sub && slp_str_eq(hd_seq(s, guess), seq)) return guess;
  size_t n = hd_notes_up_to(s, seq, sub);
  return n && cmp(s, n - 1, seq, sub) == 0 ? n - 1 : SIZE_MAX;
}

size_t hd_notes_before_ms(const hd_part *s, int64_t ms) {
  size_t low = 0, high = s->unordered_times ? 0 : s->notes_n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (s->notes[mid].arrived_ms < ms)
      low = mid + 1;
    else
      high = mid;
  }
  while (s->unordered_times && low < s->notes_n && s->notes[low].arrived_ms < ms) low++;
  return low;
}

static int is_gone_by(const hd_part *p, uint64_t us) {
  size_t n = p->versions_n;
  while (n && p->versions[n - 1].us > us) n--;
  return n && p->versions[n - 1].gone;
}

/* With KCL's rows a lease is made at the latest when no shard in front of it has one as far as its maker has
 * read the table: the stream has forgotten it, an operator removed the row, or another worker, that listed the
 * stream before the reshard, makes it meanwhile. When the row of a shard was removed and is made anew, those of
 * its parents may be gone as well, read to their ends. No condition of a write can look at the row of another
 * shard, so of two workers that begin together each goes by what it has read. */
int hd_counts_as_parent(const hd_oracle *o, const hd_part *s, const hd_part *p) {
  if (!p->versions_n || !o->terms.by_counter) return p->versions_n > 0;
  if (p->excused_ever || (s->excused_ever && is_gone_by(p, s->knew_us))) return 0;
  return !s->versions_n || p->versions[0].us <= s->knew_us;
}

int hd_is_child(const hd_oracle *o, const hd_part *s) {
  for (int k = 0; k < 2; k++)
    if (s->parents[k] >= 0 && hd_counts_as_parent(o, s, o->shards[s->parents[k]])) return 1;
  return 0;
}
