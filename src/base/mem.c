/* mem.c - allocates memory through one function, which the user may supply, and counts blocks and bytes. */
#include "base/mem.h"

#include <stdlib.h>

/* The header in front of every block. slp_free() finds the block's size in it. 16 bytes keep malloc's
 * alignment. */
typedef struct block {
  size_t n;
  char unused[16 -
              sizeof(size_t)]; /* makes the header 16 bytes long, so that the block behind it stays aligned */
} block;
_Static_assert(sizeof(block) == 16, "the header must keep 16-byte alignment");

static void *libc_alloc(void *ctx, void *p, size_t was, size_t want) {
  (void)ctx;
  (void)was;
  if (want == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, want);
}

slp_mem *slp_mem_new(slp_alloc_fn fn, void *ctx) {
  if (!fn) fn = libc_alloc;
  slp_mem *mem = fn(ctx, NULL, 0, sizeof *mem);
  if (!mem) return NULL;
  *mem = (slp_mem){.fn = fn, .ctx = ctx, .holds = 1};
  return mem;
}

slp_mem *slp_mem_hold(slp_mem *mem) {
  SLP_CHECK(mem->holds > 0);
  mem->holds++;
  return mem;
}

void slp_mem_drop(slp_mem *mem) {
  if (!mem) return;
  SLP_CHECK(mem->holds > 0);
  if (--mem->holds > 0) return;
  SLP_CHECK(mem->live_blocks == 0);
  mem->fn(mem->ctx, mem, sizeof *mem, 0);
}

static void count_allocated_bytes(slp_mem *mem, size_t bytes) {
  mem->live_bytes += bytes;
  if (mem->live_bytes > mem->peak_bytes) mem->peak_bytes = mem->live_bytes;
}

void *slp_alloc(slp_mem *mem, size_t n) {
  if (n == 0) n = 1;
  if (n > SIZE_MAX - sizeof(block)) return NULL;
  block *b = mem->fn(mem->ctx, NULL, 0, n + sizeof *b);
  if (!b) return NULL;
  b->n = n;
  mem->live_blocks++;
  count_allocated_bytes(mem, n + sizeof *b);
  return b + 1;
}

void *slp_zalloc(slp_mem *mem, size_t n) {
  void *p = slp_alloc(mem, n);
  if (p) memset(p, 0, n ? n : 1);
  return p;
}

void *slp_zalloc_n(slp_mem *mem, size_t count, size_t each) {
  size_t n;
  if (__builtin_mul_overflow(count, each, &n)) return NULL;
  return slp_zalloc(mem, n);
}

void *slp_realloc(slp_mem *mem, void *p, size_t n) {
  if (!p) return slp_alloc(mem, n);
  if (n == 0) n = 1;
  if (n > SIZE_MAX - sizeof(block)) return NULL;
  block *b = (block *)p - 1;
  size_t was = b->n;
  block *moved = mem->fn(mem->ctx, b, was + sizeof *b, n + sizeof *b);
  if (!moved) return NULL;
  moved->n = n;
  mem->live_bytes -= was;
  count_allocated_bytes(mem, n);
  return moved + 1;
}

void *slp_doubled(slp_mem *mem, void *array, size_t *cap, size_t first, size_t each) {
  size_t want = *cap ? *cap * 2 : first;
  void *p = slp_realloc(mem, array, want * each);
  if (p) *cap = want;
  return p;
}

void slp_free(slp_mem *mem, void *p) {
  if (!p) return;
  block *b = (block *)p - 1;
  SLP_CHECK(mem->live_blocks > 0);
  mem->live_blocks--;
  mem->live_bytes -= b->n + sizeof *b;
  mem->fn(mem->ctx, b, b->n + sizeof *b, 0);
}

char *slp_strdup(slp_mem *mem, slp_str s) {
  char *z = slp_alloc(mem, s.n + 1);
  if (!z) return NULL;
  if (s.n) memcpy(z, s.p, s.n);
  z[s.n] = 0;
  return z;
}

size_t slp_alloc_size(const void *p) { return ((const block *)p - 1)->n; }

void slp_wipe(void *p, size_t n) {
  if (!p || !n) return;
  memset(p, 0, n);
  __asm__ __volatile__("" : : "r"(p) : "memory");
}
