/* changes_records.c - finds the stored changes of a shard, and removes old ones. */
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"

const slp_change *slp_change_at(const slp_change_shard *sh, uint64_t place) {
  SLP_CHECK(place >= sh->first && place < sh->next);
  return &sh->recs[sh->head + (size_t)(place - sh->first)];
}

int64_t slp_change_stamp_ms(const slp_change *r) { return r->at_ms / 1000 * 1000; }

/* A linear search, not a binary one: a test may set the sandbox's clock back, so the stamps may not
 * ascend. */
uint64_t slp_change_first_at(const slp_change_shard *sh, int64_t at_ms) {
  uint64_t place = sh->first;
  while (place < sh->next && slp_change_stamp_ms(slp_change_at(sh, place)) < at_ms) place++;
  return place;
}

void slp_change_records_free(slp_box *box, slp_change_shard *sh) {
  for (size_t i = sh->head; i < sh->recs_n; i++) slp_free(box->mem, sh->recs[i].bytes);
  slp_free(box->mem, sh->recs);
  sh->recs = NULL;
  sh->head = sh->recs_n = sh->recs_cap = 0;
}

void slp_change_drop_before(slp_box *box, slp_change_shard *sh, int64_t horizon_ms) {
  while (sh->first < sh->next && sh->recs[sh->head].at_ms < horizon_ms) {
    slp_free(box->mem, sh->recs[sh->head++].bytes);
    sh->first++;
  }
  if (sh->head > 64 && sh->head > sh->recs_n / 2) {
    memmove(sh->recs, sh->recs + sh->head, (sh->recs_n - sh->head) * sizeof *sh->recs);
    sh->recs_n -= sh->head;
    sh->head = 0;
  }
}
