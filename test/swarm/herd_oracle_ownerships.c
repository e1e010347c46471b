/* herd_oracle_ownerships.c - who reads a shard in which epoch, and what became of each record of it. */
#include "swarm/herd_oracle_inside.h"

/* An acknowledgement in the moment in which a lease is given up may count or not. */
#define MOMENT_US 1000

hd_ownership *hd_ownership_of(hd_oracle *o, hd_life *l, hd_part *s, uint64_t epoch) {
  hd_of_shard *of = hd_of(o, l, s);
  /* Epochs come again when a row was removed and is made anew by a worker that had never seen it. */
  int anew = s->excused_ever;
  if (of->now && of->now->epoch == epoch && !(anew && of->now->over)) return of->now;
  for (hd_ownership *t = s->ownerships; t; t = t->before)
    if (t->life == l->number && t->epoch == epoch && !(anew && t->over)) return t;
  hd_ownership *t = SLP_NEW(o->mem, hd_ownership);
  SLP_CHECK(t);
  t->shard = s;
  t->life = l->number;
  t->epoch = epoch;
  t->given_us = HD_NEVER;
  const hd_version *v = hd_row_in(s, epoch);
  t->loose = l->outcast || (s->excused_ever && (!v || v->us <= s->excused_us));
  t->before = s->ownerships;
  s->ownerships = t;
  of->now = t;
  o->ownerships++;
  return t;
}

hd_place *hd_place_of(hd_oracle *o, hd_ownership *t, size_t index) {
  SLP_CHECK(t->began && index >= t->first);
  while (index - t->first >= t->places_cap) {
    size_t was = t->places_cap;
    hd_room(o, &t->places, was, &t->places_cap, sizeof *t->places);
    memset(t->places + was, 0, (t->places_cap - was) * sizeof *t->places);
  }
  return &t->places[index - t->first];
}

void hd_advance(hd_oracle *o, hd_ownership *t) {
  size_t to = t->prefix;
  uint64_t now = hd_now(o);
  while (to < t->next && hd_place_of(o, t, to)->fate >= HD_ACKED) to++;
  if (to == t->prefix) return;
  if (now >= t->prefix_us + MOMENT_US) {
    t->prefix_before = t->prefix;
    t->prefix_us = now;
  }
  t->prefix = to;
}

void hd_settle(hd_oracle *o, hd_ownership *t, size_t index, hd_fate fate) {
  hd_place *p = hd_place_of(o, t, index);
  hd_note *note = &t->shard->notes[index];
  if (p->fate == HD_OUT) t->out_n--;
  if (p->fate == HD_BACK) t->back_n--;
  p->fate = (uint8_t)fate;
  hd_of(o, hd_life_of(o, t->life), t->shard)->moved_us = hd_now(o);
  if (fate == HD_BACK) {
    t->back_n++;
    t->back_us = hd_now(o);
  }
  if (fate != HD_ACKED) return;
  o->acks++;
  if (t->over) return; /* it does not count any more */
  note->acked_us = slp_min_u64(note->acked_us, hd_now(o));
  if (index == t->prefix) hd_advance(o, t);
}

size_t hd_given(const hd_ownership *t) {
  return t->prefix_us + MOMENT_US > t->given_us ? t->prefix_before : t->prefix;
}

void hd_ownership_over(hd_oracle *o, hd_ownership *t, int given) {
  if (given && !t->over) t->given_us = hd_now(o);
  if (!given) t->lost = 1; /* also what was given up, when it was lost before that was written */
  t->over = 1;
}
