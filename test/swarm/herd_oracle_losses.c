/* herd_oracle_losses.c - what is told of records that can't be read any more: S1. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

#define READ_US_MAX \
  60000000 /* an answer is on its way for 30 s at most, and its records may wait for others */
#define TOLD_US_MAX 1000000 /* a loss is told in the turn in which reading goes on behind it */

static size_t note_of(const hd_part *s, const char *seq) {
  size_t n = seq[0] ? hd_notes_up_to(s, slp_str_of(seq), UINT32_MAX) : 0;
  return n && slp_str_is(hd_seq(s, n - 1), seq) ? n - 1 : SIZE_MAX;
}

/* Where reading goes on with an aggregate, the first of its records. */
static size_t first_of(const hd_part *s, size_t i) {
  while (i > 0 && slp_str_eq(hd_seq(s, i), hd_seq(s, i - 1))) i--;
  return i;
}

/* What was read may be trimmed until its loss is told. */
static int is_long_gone(const hd_oracle *o, const hd_part *s, size_t i) {
  return i < s->trimmed && hd_now(o) - s->notes[i].trimmed_us > READ_US_MAX;
}

void hd_judge_loss(hd_oracle *o, const hd_life *l, hd_part *s, const sloop_loss_t *loss) {
  size_t from = note_of(s, loss->from_seq), to = note_of(s, loss->to_seq), missing = 0;
  hd_of_shard *of = hd_of(o, hd_life_of(o, l->number), s);
  of->losses++;
  of->untold_us = 0;
  if (from != SIZE_MAX && to != SIZE_MAX) {
    to = first_of(s, to);
    if (from >= to || is_long_gone(o, s, to))
      hd_break(o, HD_S1_LOSS, s->id, "%s tells a gap from record %zu to %zu, %s", l->what, from, to,
               from >= to ? "which is none" : "which is gone too");
    for (size_t i = from; i < to; i++) missing += i < s->trimmed;
    if (loss->certain && !missing)
      hd_break(o, HD_S1_LOSS, s->id,
               "%s tells for certain that records between %zu and %zu are missing, and "
               "none is",
               l->what, from, to);
  }
  int64_t until_ms = to != SIZE_MAX ? s->notes[to].arrived_ms : INT64_MAX;
  s->loss_told_ms = slp_max_i64(s->loss_told_ms, until_ms);
}

void hd_judge_untold(hd_oracle *o, hd_life *l, const hd_ownership *t, size_t from, size_t to) {
  const hd_part *s = t->shard;
  hd_of_shard *of = hd_of(o, l, s);
  /* What is told is kept with the position as accounted for. Behind that the stream keeps all for its retention;
   * what is removed before, as here, nobody can know. */
  int told = s->loss_told_ms != INT64_MIN;
  if (t->loose || told || of->losses || !of->taken || of->epoch != t->epoch) return;
  for (size_t i = from; i < slp_min_u64(to, s->trimmed); i++) {
    const hd_note *note = &s->notes[i];
    if (note->acked_us != HD_NEVER || note->trimmed_us >= of->taken_us) continue;
    of->untold_us = hd_now(o);
    of->untold = i;
    return;
  }
}

void hd_judge_owed(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of) {
  if (!of->untold_us || hd_now(o) < of->untold_us + TOLD_US_MAX) return;
  hd_break(
      o, HD_S1_LOSS, s->id,
      "%s goes on behind record %zu, which nobody has read and was gone when it began, and tells no loss",
      l->what, of->untold);
}
