/* budget.h - how many bytes a family of consumers may hold: pages being received, pages buffered
 * and what the user holds, tables included. A call reserves before it is sent; what it really
 * brought replaces the reservation. */
#ifndef SLP_CORE_BUDGET_H
#define SLP_CORE_BUDGET_H

#include "base/base.h"

typedef struct slp_budget {
  uint64_t max;
  uint64_t used; /* reserved or held */
  uint64_t peak;
} slp_budget;

static inline uint64_t slp_budget_free(const slp_budget *b) {
  return b->used < b->max ? b->max - b->used : 0;
}
static inline int slp_budget_is_over(const slp_budget *b) { return b->used > b->max; }
static inline uint64_t slp_budget_max(const slp_budget *b) { return b->max; }
static inline uint64_t slp_budget_used(const slp_budget *b) { return b->used; }
static inline uint64_t slp_budget_peak(const slp_budget *b) { return b->peak; }
void slp_budget_init(slp_budget *b, uint64_t max);
/* 1 and taken, or 0. */
int slp_budget_try(slp_budget *b, uint64_t bytes);
/* Taken whatever is free: for the one page that may go beyond, and for tables found larger. */
void slp_budget_force(slp_budget *b, uint64_t bytes);
void slp_budget_give(slp_budget *b, uint64_t bytes);
/* A reservation becomes what it really is. */
void slp_budget_settle(slp_budget *b, uint64_t reserved, uint64_t real);

#endif
