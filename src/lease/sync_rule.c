/* lease_sync.c - which leases a stream's shards need, by the rules of Amazon's KCL: from every shard that is
 * open, or that nothing follows, up to where something is known. */
#include "lease/lease_rules.h"

typedef enum {
  NEW,
  ON_STACK,
  NOTHING,
  COMES,
  DONE
} state; /* COMES: it has a lease, or will when its turn is */

typedef struct walk {
  slp_sync_shard *shards;
  state *states;
  size_t *stack, depth;
  int latest;
} walk;

static size_t parent_in(const walk *w, size_t i, state s) {
  for (int k = 0; k < 2; k++) {
    size_t p = w->shards[i].parents[k];
    if (p != SLP_NO_SHARD && w->states[p] == s) return p;
  }
  return SLP_NO_SHARD;
}

static void make(walk *w, size_t i, slp_sync_make how) {
  w->shards[i].ret = (uint8_t)how;
  w->states[i] = COMES;
}

/* Its parents are resolved, and it has no row. */
static void resolve(walk *w, size_t i) {
  int comes = parent_in(w, i, COMES) != SLP_NO_SHARD, done = parent_in(w, i, DONE) != SLP_NO_SHARD;
  if (comes || done) {
    /* One parent is known, so the other is read as well, and both before this one. */
    for (size_t p; (p = parent_in(w, i, NOTHING)) != SLP_NO_SHARD; comes = 1) make(w, p, SLP_SYNC_AT_START);
    if (comes)
      w->states[i] = COMES;
    else
      make(w, i, SLP_SYNC_AT_OLDEST); /* both were read, so its own turn has come */
  } else if (!w->latest || w->shards[i].open) {
    make(w, i, SLP_SYNC_AT_START);
  } else {
    w->states[i] = NOTHING;
  }
}

static void visit(walk *w, size_t from) {
  w->stack[w->depth++] = from;
  w->states[from] = ON_STACK; /* a circle ends here */
  while (w->depth) {
    size_t i = w->stack[w->depth - 1], p;
    if (!w->shards[i].row && (p = parent_in(w, i, NEW)) != SLP_NO_SHARD) {
      w->states[p] = ON_STACK;
      w->stack[w->depth++] = p;
      continue;
    }
    w->depth--;
    if (w->shards[i].row)
      w->states[i] = w->shards[i].row == SLP_SYNC_ENDED ? DONE : COMES;
    else
      resolve(w, i);
  }
}

int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem) {
  state *states = slp_zalloc_n(mem, n + 1, sizeof *states);
  size_t *stack = slp_zalloc_n(mem, n + 1, sizeof *stack);
  uint8_t *followed = slp_zalloc_n(mem, n + 1, 1);
  walk w = {shards, states, stack, 0, latest};
  int r = states && stack && followed ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < n && !r; i++) {
    shards[i].ret = SLP_SYNC_NOT;
    for (int k = 0; k < 2; k++)
      if (shards[i].parents[k] != SLP_NO_SHARD) followed[shards[i].parents[k]] = 1;
  }
  for (size_t i = 0; i < n && !r; i++)
    if (states[i] == NEW && (shards[i].open || !followed[i])) visit(&w, i);
  slp_free(mem, states);
  slp_free(mem, stack);
  slp_free(mem, followed);
  return r;
}
