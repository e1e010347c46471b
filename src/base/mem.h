/* mem.h - the only place memory comes from. Each family of consumers has one allocator, which counts, so that
 * tests can prove that everything came back, and can fail the n-th allocation. */
#ifndef SLP_BASE_MEM_H
#define SLP_BASE_MEM_H

#include "base/hash.h"

/* want 0 frees; p NULL allocates; otherwise it resizes. Returns NULL if there is no memory. Must return
 * memory aligned like malloc's. */
typedef void *(*slp_alloc_fn)(void *ctx, void *p, size_t was, size_t want);

typedef struct slp_mem {
  slp_alloc_fn fn;
  void *ctx;
  size_t live_bytes; /* handed out and not yet freed, our 16-byte headers included */
  size_t live_blocks;
  size_t peak_bytes;     /* the greatest value of live_bytes so far */
  uint32_t holds;        /* counted references to this slp_mem; the last slp_mem_drop frees it */
  slp_hash_key hash_key; /* for tables made in it; random once a host was made with it, 0 in simulations */
} slp_mem;

/* Returns a new slp_mem with one reference, itself allocated by fn. fn NULL: libc. NULL: no memory. */
slp_mem *slp_mem_new(slp_alloc_fn fn, void *ctx);
slp_mem *slp_mem_hold(slp_mem *mem);
void slp_mem_drop(slp_mem *mem); /* NULL is fine */

void *slp_alloc(slp_mem *mem, size_t n);  /* not zeroed; NULL: no memory. n 0 counts as 1 */
void *slp_zalloc(slp_mem *mem, size_t n); /* zeroed */
void *slp_zalloc_n(slp_mem *mem, size_t count, size_t each); /* zeroed; NULL also on overflow */
void *slp_realloc(slp_mem *mem, void *p, size_t n);          /* p stays valid when it returns NULL */
/* Grows an array to twice its room, or to `first` if *cap is 0. Returns NULL without memory: array and *cap
 * stay. */
void *slp_doubled(slp_mem *mem, void *array, size_t *cap, size_t first, size_t each);
void slp_free(slp_mem *mem, void *p);      /* NULL is fine */
char *slp_strdup(slp_mem *mem, slp_str s); /* NUL-ended copy; NULL: no memory */
size_t slp_alloc_size(const void *p);      /* the bytes that were asked for */

/* Overwrites secrets in a way the compiler can't drop. */
void slp_wipe(void *p, size_t n);

#define SLP_NEW(mem, type) ((type *)slp_zalloc((mem), sizeof(type)))

#endif
