/* budget.h - counts the bytes that joined consumers hold: pages being received, pages in memory, and the
 * batches that the user holds with their arrays. A call reserves bytes before it is sent. When the call ends,
 * the real size of the page replaces the reservation. */
#ifndef SLP_CORE_BUDGET_H
#define SLP_CORE_BUDGET_H

#include <stdint.h>

typedef struct slp_budget {
  uint64_t max;  /* the limit, in bytes: sloop_opts_t.buffered_bytes_max */
  uint64_t used; /* bytes reserved or held */
  uint64_t peak; /* the greatest value that `used` has had */
  uint64_t out;  /* of `used`: bytes of pages of which every record was handed out */
} slp_budget;

static inline uint64_t slp_budget_free(const slp_budget *b) {
  return b->used < b->max ? b->max - b->used : 0;
}
static inline int slp_budget_is_over(const slp_budget *b) { return b->used > b->max; }
static inline uint64_t slp_budget_max(const slp_budget *b) { return b->max; }
static inline uint64_t slp_budget_used(const slp_budget *b) { return b->used; }
static inline uint64_t slp_budget_out(const slp_budget *b) { return b->out; }
static inline uint64_t slp_budget_peak(const slp_budget *b) { return b->peak; }
void slp_budget_init(slp_budget *b, uint64_t max);
/* Takes the bytes and returns 1. Returns 0, and takes none, if they would exceed the limit. */
int slp_budget_try(slp_budget *b, uint64_t bytes);
/* Takes the bytes even if they exceed the limit. Used for the one page that may exceed the budget, and for a
 * page whose table of records turns out larger than what was reserved. */
void slp_budget_force(slp_budget *b, uint64_t bytes);
/* Gives back bytes that were taken. */
void slp_budget_give(slp_budget *b, uint64_t bytes);
/* Counts bytes, which were taken before, as handed out. */
void slp_budget_hand_out(slp_budget *b, uint64_t bytes);
/* Counts bytes no longer as handed out. To be called before they are given back. */
void slp_budget_take_in(slp_budget *b, uint64_t bytes);
/* Gives back `reserved` bytes and takes `real` bytes instead, even if these exceed the limit. */
void slp_budget_settle(slp_budget *b, uint64_t reserved, uint64_t real);

#endif
