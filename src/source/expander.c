/* expander.c - takes the records of aggregates apart (codec/kpl.c), in slices, one in each turn of the event
 * queue. */
#include "source/expander.h"

#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "host/host.h"

/* The limits of one slice. A slice takes about 150 us for MD5 sums, and half of that for everything else.
 * Larger slices would block the event loop for too long. */
#define SLICE_BYTES (64u * 1024)
#define SLICE_RECORDS 2048u

static void on_slice(slp_event *ev) {
  slp_expander *x = SLP_OWNER(ev, slp_expander, slice);
  int r = slp_kpl_step(x->kpl, SLICE_BYTES, SLICE_RECORDS);
  if (r == SLP_MORE)
    slp_post(x->h, ev);
  else
    x->on_done(x, r); /* the last statement, because on_done may free x */
}

slp_expander *slp_expander_new(slp_host *h) {
  slp_expander *x = SLP_NEW(h->mem, slp_expander);
  slp_kpl *kpl = x ? slp_kpl_new(h->mem) : NULL;
  if (!kpl) {
    slp_free(h->mem, x);
    return NULL;
  }
  x->h = h;
  x->kpl = kpl;
  x->slice.run = on_slice;
  return x;
}

void slp_expander_free(slp_expander *x) {
  slp_expander_stop(x);
  slp_kpl_free(x->kpl);
  slp_free(x->h->mem, x);
}

void slp_expander_begin(slp_expander *x, slp_page *page, const slp_hash_range *range) {
  if (range) x->range = *range;
  slp_kpl_begin(x->kpl, page, range ? &x->range : NULL);
  slp_post(x->h, &x->slice);
}

void slp_expander_stop(slp_expander *x) {
  slp_unpost(&x->slice);
  slp_kpl_drop(x->kpl);
}
