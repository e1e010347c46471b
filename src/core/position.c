/* position.c - the order of positions in a shard. */
#include "core/position.h"

static int rank(const slp_position *s) {
  switch (s->kind) {
    case SLP_POSITION_NONE: return 0;
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_LATEST:
    case SLP_POSITION_TIME: return 1;
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER: return 2;
    case SLP_POSITION_END: return 3;
  }
  return 0;
}

int slp_position_cmp(const slp_position *a, const slp_position *b) {
  int c = rank(a) - rank(b);
  if (c || rank(a) != 2) return c;
  c = slp_num_cmp(slp_mark_seq(&a->mark), slp_mark_seq(&b->mark));
  if (c) return c;
  /* At sub-record 2 is just behind sub-record 1. */
  uint64_t left = (uint64_t)a->mark.sub + (a->kind == SLP_POSITION_AFTER);
  uint64_t right = (uint64_t)b->mark.sub + (b->kind == SLP_POSITION_AFTER);
  return left < right ? -1 : left > right;
}
