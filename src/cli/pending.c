/* pending.c - keeps batches until their text is written. */
#include "cli/pending.h"

typedef struct held {
  slp_list link;
  sloop_batch_t *batch;
  const void *owner;
  size_t n;
  uint64_t ends[];
} held;

void slp_pending_init(slp_pending *p, slp_mem *mem) {
  p->mem = mem;
  slp_list_init(&p->list);
}

int slp_pending_add(slp_pending *p, sloop_batch_t *batch, const void *owner, const uint64_t *ends, size_t n) {
  held *h = slp_zalloc(p->mem, sizeof *h + n * sizeof *ends);
  if (!h) return SLP_ENOMEM;
  h->batch = batch;
  h->owner = owner;
  h->n = n;
  if (n) memcpy(h->ends, ends, n * sizeof *ends);
  slp_list_add_last(&p->list, &h->link);
  return 0;
}

static void give_back(slp_pending *p, uint64_t bytes, int all) {
  while (!slp_list_empty(&p->list)) {
    held *h = SLP_OWNER(slp_list_first(&p->list), held, link);
    size_t done = h->n;
    while (done > 0 && h->ends[done - 1] > bytes) done--;
    if (done < h->n && !all) return;
    slp_list_remove(&h->link);
    sloop_batch_done(h->batch, done);
    slp_free(p->mem, h);
  }
}

void slp_pending_written(slp_pending *p, uint64_t bytes) { give_back(p, bytes, 0); }
void slp_pending_give_up(slp_pending *p, uint64_t bytes) { give_back(p, bytes, 1); }

int slp_pending_has(const slp_pending *p, const void *owner) {
  SLP_LIST_EACH(&p->list, it)
  if (SLP_OWNER(it, held, link)->owner == owner) return 1;
  return 0;
}
