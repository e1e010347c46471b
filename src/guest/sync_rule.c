/* sync_rule.c - decides which leases a stream's shards need, by the rules of Amazon's KCL. Each shard
 * without children needs a lease. So do its ancestors, up to the first ancestor that already has a lease.
 * The search begins at shards without children, and goes up to their ancestors.
 *
 *   - The KCL also begins its search at open shards. But a server may list a shard with children as open,
 *     although such a shard is closed, and even after its row was removed. So here the search does not begin
 *     at a shard with children, unless it is in a cycle (slp_sync_shards).
 *   - If an operator has removed the row of a child, the child's ancestors would get leases again,
 *     although they were read. They get none if the row of another descendant shows that they were read. */
#include "base/mem.h"
#include "guest/guest_rules.h"

/* NEW: not visited yet. ON_STACK: its ancestors are being visited. NOTHING: the shard needs no lease. COMES:
 * it has a lease, or gets one now or when its parents have ended. DONE: it was read to its end. */
typedef enum { NEW, ON_STACK, NOTHING, COMES, DONE } state;

typedef struct walk {
  slp_sync_shard *shards;
  state *states;
  size_t *stack, depth;
  uint8_t *removed; /* removed[i] 1: the row of shard i is missing and must be created again */
  uint8_t *read;    /* read[i] 1: the row of a descendant shows that shard i was read to its end */
  int latest;
} walk;

/* Returns a parent of shard i that is in state s, or SLP_NO_SHARD. */
static size_t parent_in(const walk *w, size_t i, state s) {
  for (int k = 0; k < 2; k++) {
    size_t p = w->shards[i].parents[k];
    if (p != SLP_NO_SHARD && w->states[p] == s) return p;
  }
  return SLP_NO_SHARD;
}

static void mark_lease_to_make(walk *w, size_t i, slp_sync_make how) {
  w->shards[i].ret = (uint8_t)how;
  w->states[i] = COMES;
}

/* Decides whether shard i, which has no row, gets a lease. To be called when this is decided for its
 * parents. */
static void decide_shard_lease(walk *w, size_t i) {
  int comes = parent_in(w, i, COMES) != SLP_NO_SHARD, done = parent_in(w, i, DONE) != SLP_NO_SHARD;
  if (comes || done) {
    /* One parent has a lease or gets one. So the other parent is read too, and this shard after both. */
    for (size_t p; (p = parent_in(w, i, NOTHING)) != SLP_NO_SHARD; comes = 1)
      mark_lease_to_make(w, p, SLP_SYNC_AT_START);
    if (comes)
      w->states[i] = COMES;
    else
      mark_lease_to_make(
          w, i, SLP_SYNC_AT_OLDEST); /* both parents were read, so this shard is the next to be read */
  } else if (!w->read[i] && (!w->latest || w->shards[i].open)) {
    mark_lease_to_make(w, i, SLP_SYNC_AT_START);
  } else {
    w->states[i] = NOTHING;
  }
}

/* Visits the shard `from` and its ancestors, up to the nearest ancestors with rows, and decides which of
 * these shards get leases. */
static void visit_with_ancestors(walk *w, size_t from) {
  w->stack[w->depth++] = from;
  w->states[from] = ON_STACK; /* ends a walk through shards that are their own ancestors */
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
      decide_shard_lease(w, i);
  }
}

/* ---- merges whose other parent lost its row ----------------------------------------------------------
 * The end of one parent waits until the other parent has a row (steal.c). Before the merged child is read
 * in part, only an operator removes the row of a parent. The walk above stops at the child's row, so such
 * a row would be missing for ever unless it is created here. With the row the parent's position is lost,
 * so the parent is read from its oldest record again. */

static int is_read_now(const walk *w, size_t i) {
  return w->shards[i].row == SLP_SYNC_UNREAD || w->shards[i].row == SLP_SYNC_UNFINISHED;
}

/* If one parent of shard i has a row and is not finished, and the other parent has no row, returns the other
 * parent. Otherwise returns SLP_NO_SHARD. */
static size_t other_without_row(const walk *w, size_t i) {
  const size_t *p = w->shards[i].parents;
  for (int k = 0; k < 2 && p[0] != SLP_NO_SHARD && p[1] != SLP_NO_SHARD; k++)
    if (is_read_now(w, p[k]) && !w->shards[p[1 - k]].row) return p[1 - k];
  return SLP_NO_SHARD;
}

static void make_removed(walk *w, size_t n) {
  for (size_t i = 0, p; i < n; i++) {
    if ((p = other_without_row(w, i)) == SLP_NO_SHARD) continue;
    if (!w->shards[i].row && w->states[i] == NEW)
      visit_with_ancestors(w, i);
    else if (w->shards[i].row == SLP_SYNC_UNREAD)
      w->removed[p] = 1;
  }
  for (size_t i = 0; i < n; i++) {
    int later = !w->removed[i];
    for (int k = 0; k < 2 && !later; k++) {
      size_t p = w->shards[i].parents[k];
      later = p != SLP_NO_SHARD && (w->removed[p] || w->states[p] == COMES || is_read_now(w, p));
    }
    /* 1: the lease of shard i is created when a parent ends */
    int comes = w->states[i] == COMES && !w->shards[i].ret;
    if (!later && !comes) mark_lease_to_make(w, i, SLP_SYNC_AT_OLDEST);
  }
}

/* Marks all ancestors of the shard `from`. */
static void mark_ancestors(walk *w, uint8_t *ancestors, size_t from) {
  w->stack[w->depth++] = from;
  while (w->depth) {
    const size_t *parents = w->shards[w->stack[--w->depth]].parents;
    for (int k = 0; k < 2; k++) {
      if (parents[k] == SLP_NO_SHARD || ancestors[parents[k]]) continue;
      ancestors[parents[k]] = 1;
      w->stack[w->depth++] = parents[k];
    }
  }
}

/* Marks shards that were read to their end, because a descendant was read in part: a descendant is read only
 * after the end of its ancestors. The parents of a merge are not marked: the end of one parent waits for the
 * row of the other parent, and the two have no other child that could bring that row back. */
static void mark_read(walk *w, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (w->shards[i].row >= SLP_SYNC_UNFINISHED) mark_ancestors(w, w->read, i);
  for (size_t i = 0; i < n; i++) {
    const size_t *parents = w->shards[i].parents;
    if (parents[0] == SLP_NO_SHARD || parents[1] == SLP_NO_SHARD) continue;
    w->read[parents[0]] = w->read[parents[1]] = 0;
  }
}

int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem) {
  state *states = slp_zalloc_n(mem, n + 1, sizeof *states);
  size_t *stack = slp_zalloc_n(mem, n + 1, sizeof *stack);
  uint8_t *followed = slp_zalloc_n(mem, n + 1, 1), *removed = slp_zalloc_n(mem, n + 1, 1);
  uint8_t *ancestors = slp_zalloc_n(mem, n + 1, 1), *read = slp_zalloc_n(mem, n + 1, 1);
  walk w = {shards, states, stack, 0, removed, read, latest};
  int r = states && stack && followed && removed && ancestors && read ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < n && !r; i++) {
    shards[i].ret = SLP_SYNC_NOT;
    for (int k = 0; k < 2; k++)
      if (shards[i].parents[k] != SLP_NO_SHARD) followed[shards[i].parents[k]] = 1;
  }
  for (size_t i = 0; i < n && !r; i++)
    if (!followed[i]) mark_ancestors(&w, ancestors, i);
  if (!r) mark_read(&w, n);
  /* In a damaged listing, shards may be their own ancestors. A search from shards without children may not
   * reach such a cycle, so the search also begins at the open shards of the cycle. */
  for (size_t i = 0; i < n && !r; i++)
    if (states[i] == NEW && (!followed[i] || (shards[i].open && !ancestors[i]))) visit_with_ancestors(&w, i);
  if (!r) make_removed(&w, n);
  slp_free(mem, states);
  slp_free(mem, stack);
  slp_free(mem, followed);
  slp_free(mem, removed);
  slp_free(mem, ancestors);
  slp_free(mem, read);
  return r;
}

/* ---- a lease for each shard: slp_sync_every ------------------------------------------------------------ */

/* Marks shard i as known if some ancestor has a row: then the shard was created after the application began.
 * Returns 1 if it was not marked before. */
static int mark_known_by_ancestor(const slp_sync_shard *shards, uint8_t *known, size_t i) {
  if (known[i]) return 0;
  for (int k = 0; k < 2; k++) {
    size_t p = shards[i].parents[k];
    if (p != SLP_NO_SHARD && p != i && (shards[p].row || known[p])) known[i] = 1;
  }
  return known[i];
}

int slp_sync_every(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem) {
  uint8_t *known = slp_zalloc_n(mem, n + 1, 1);
  if (!known) return SLP_ENOMEM;
  /* parents are mostly listed before their children, so one pass is usually enough */
  for (int learned = 1; learned;) {
    learned = 0;
    for (size_t i = 0; i < n; i++) learned |= mark_known_by_ancestor(shards, known, i);
  }
  for (size_t i = 0; i < n; i++) {
    slp_sync_make start = latest && !shards[i].open ? SLP_SYNC_AT_END : SLP_SYNC_AT_START;
    shards[i].ret = (uint8_t)(shards[i].row ? SLP_SYNC_NOT : known[i] ? SLP_SYNC_AT_OLDEST : start);
  }
  slp_free(mem, known);
  return 0;
}
