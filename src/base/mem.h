/* mem.h - the only source of memory. Consumers that share an allocator share one slp_mem. An slp_mem counts
 * its blocks and bytes, so that tests can prove that everything was freed. A test's own slp_alloc_fn can make
 * the n-th allocation fail. */
#ifndef SLP_BASE_MEM_H
#define SLP_BASE_MEM_H

#include "base/hash.h"

/* Allocates (p NULL), resizes, or frees (want 0). `was` is the present size of the block at p, `want` the new
 * one. Returns NULL if there is no memory. Must align memory as malloc does. */
typedef void *(*slp_alloc_fn)(void *ctx, void *p, size_t was, size_t want);

typedef struct slp_mem {
  slp_alloc_fn fn;
  void *ctx;
  size_t live_bytes; /* bytes allocated and not yet freed, with the 16-byte header of each block */
  size_t live_blocks;
  size_t peak_bytes; /* the greatest value of live_bytes so far */
  uint32_t holds;    /* counted references; the last slp_mem_drop frees the slp_mem */
  /* The hash key of all tables that use this slp_mem. The first libuv host sets the key to a random value. In
   * simulations the key stays 0, so that a run can be repeated exactly. */
  slp_hash_key hash_key;
} slp_mem;

/* Returns a new slp_mem with one reference, itself allocated by fn; NULL: no memory. If fn is NULL, memory
 * comes from libc. */
slp_mem *slp_mem_new(slp_alloc_fn fn, void *ctx);
slp_mem *slp_mem_hold(slp_mem *mem);
void slp_mem_drop(slp_mem *mem); /* NULL is fine */

void *slp_alloc(slp_mem *mem, size_t n);  /* n bytes, not zeroed; NULL: no memory. n 0 counts as 1 */
void *slp_zalloc(slp_mem *mem, size_t n); /* as slp_alloc(), but the bytes are zero */
/* returns an array of zeroed elements; NULL: no memory, or count * each overflows */
void *slp_zalloc_n(slp_mem *mem, size_t count, size_t each);
void *slp_realloc(slp_mem *mem, void *p, size_t n); /* NULL: no memory, and p stays valid */
/* Grows an array to twice *cap elements, or to `first` elements if *cap is 0. Returns the array with *cap
 * updated, or NULL: no memory, and array and *cap are unchanged. */
void *slp_doubled(slp_mem *mem, void *array, size_t *cap, size_t first, size_t each);
void slp_free(slp_mem *mem, void *p);      /* NULL is fine */
char *slp_strdup(slp_mem *mem, slp_str s); /* returns a copy of s that ends with a NUL; NULL: no memory */
size_t slp_alloc_size(const void *p);      /* returns the size that was asked for at p's last allocation */

/* Overwrites n bytes with zeros, in a way that the compiler can't leave out. For secrets. */
void slp_wipe(void *p, size_t n);

#define SLP_NEW(mem, type) ((type *)slp_zalloc((mem), sizeof(type)))

#endif
