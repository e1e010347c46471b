/* budget.c - counts the bytes that joined consumers hold, against the limit
 * sloop_opts_t.buffered_bytes_max. */
#include "core/budget.h"

#include "base/base.h"

void slp_budget_init(slp_budget *b, uint64_t max) { *b = (slp_budget){.max = max}; }

void slp_budget_force(slp_budget *b, uint64_t bytes) {
  b->used += bytes;
  if (b->used > b->peak) b->peak = b->used;
}

int slp_budget_try(slp_budget *b, uint64_t bytes) {
  if (bytes > slp_budget_free(b)) return 0;
  slp_budget_force(b, bytes);
  return 1;
}

void slp_budget_give(slp_budget *b, uint64_t bytes) {
  SLP_CHECK(b->used >= bytes);
  b->used -= bytes;
}

void slp_budget_hand_out(slp_budget *b, uint64_t bytes) { b->out += bytes; }

void slp_budget_take_in(slp_budget *b, uint64_t bytes) {
  SLP_CHECK(b->out >= bytes);
  b->out -= bytes;
}

void slp_budget_settle(slp_budget *b, uint64_t reserved, uint64_t real) {
  if (real >= reserved) {
    slp_budget_force(b, real - reserved);
  } else {
    slp_budget_give(b, reserved - real);
  }
}
