/* lowmark.c - what of a shard was acknowledged without a gap: where reading has to go on when all is lost but
 * the position.
 *
 * The mark is not kept but found: it is the record in front of the first one that is not acknowledged, and
 * the pages that hold such a one are all in shard->pages. Records that were passed over count as
 * acknowledged. Of pages that are dropped, because reading stops, the first that was not acknowledged in full
 * stays without its body: nothing behind it can count any more, and nothing else remembers that. */
#include "core/core.h"

static slp_held *held_of(slp_list *it) { return SLP_OWNER(it, slp_held, link); }

static slp_held *first_unfinished(const slp_shard *s) {
  SLP_LIST_EACH(&s->pages, it) {
    if (held_of(it)->unacked && !(SLP_MUTANT(4) && held_of(it)->again_n)) return held_of(it);
  }
  return NULL;
}

/* The record in front of the first one of the page that is not acknowledged. */
static void mark_of(const slp_held *held, slp_mark *ret) {
  uint32_t i = 0;
  while (i < held->n && held->bits[i / 8] == 0xff) i += 8;
  while (i < held->n && (held->bits[i / 8] >> (i % 8) & 1)) i++;
  if (held->page && i > 0) {
    slp_mark_rec(ret, held->page, &held->page->recs[i - 1]);
  } else {
    *ret = held->prev;
  }
}

int slp_low_mark(const slp_shard *s, slp_mark *ret) {
  const slp_held *held = first_unfinished(s);
  if (held) {
    mark_of(held, ret);
  } else if (s->taken) {
    *ret = s->last;
  } else {
    ret->seq_n = 0;
  }
  return ret->seq_n > 0;
}

/* The mark is all that is left of it. */
static void strip(slp_held *held) {
  if (!held->page) return;
  mark_of(held, &held->prev);
  uint64_t stays = slp_alloc_size(held);
  slp_budget_settle(&held->engine->budget, held->charged, stays);
  held->charged = stays;
  slp_engine_page_back(held->engine, held->page);
  held->page = NULL;
}

void slp_low_drop(slp_shard *s) {
  int bounded = 0;
  slp_list *it = s->pages.next;
  while (it != &s->pages) {
    slp_held *held = held_of(it);
    it = it->next;
    if (SLP_MUTANT(43) && held->dropped && held->out && held->unacked) bounded = 1;
    if (!held->dropped || held->out) continue;
    if (held->unacked && !bounded) {
      strip(held);
      bounded = 1;
    } else {
      slp_outlet_free(held);
    }
  }
}
