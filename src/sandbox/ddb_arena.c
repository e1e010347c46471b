/* ddb_arena.c - memory in blocks of growing size, which are all freed at once. */
#include "base/mem.h"
#include "sandbox/ddb.h"

#define FIRST_BLOCK 256u
#define BLOCK_MAX (64u << 10)
#define ALIGNED(n) (((n) + 15) & ~(size_t)15)

typedef struct slp_arena_block {
  struct slp_arena_block *next;
  size_t n, cap;
  _Alignas(16) char bytes[];
} slp_arena_block;

void *slp_arena_get(slp_arena *a, size_t n) {
  slp_arena_block *b = a->blocks;
  if (n > SIZE_MAX / 4) return NULL;
  n = ALIGNED(n ? n : 1);
  if (!b || b->cap - b->n < n) {
    size_t cap = b ? slp_min_u64(b->cap * 2, BLOCK_MAX) : FIRST_BLOCK;
    if (cap < n) cap = n;
    slp_arena_block *fresh = slp_alloc(a->mem, sizeof *fresh + cap);
    if (!fresh) return NULL;
    *fresh = (slp_arena_block){.next = b, .cap = cap};
    a->blocks = b = fresh;
  }
  void *p = b->bytes + b->n;
  b->n += n;
  a->used += n;
  memset(p, 0, n);
  return p;
}

slp_str slp_arena_copy(slp_arena *a, slp_str s) {
  char *p = slp_arena_get(a, s.n);
  if (p && s.n) memcpy(p, s.p, s.n);
  return (slp_str){p, s.n};
}

void slp_arena_clear(slp_arena *a) {
  for (slp_arena_block *b; (b = a->blocks) != NULL;) {
    a->blocks = b->next;
    slp_free(a->mem, b);
  }
  a->used = 0;
}
