/* scarce.h - memory that runs out: slp_mem_new(scarce_alloc, &s). The slp_mem itself is the first allocation.
 */
#ifndef SLP_TEST_SCARCE_H
#define SLP_TEST_SCARCE_H

#include <stdint.h>
#include <stdlib.h>

typedef struct scarce {
  int64_t left; /* so many allocations succeed and then all fail; below 0: any number succeeds */
  int once;     /* 1: only one fails, and then left is -1 */
  uint64_t failed;
} scarce;

/* An allocator of base/mem.h. */
static inline void *scarce_alloc(void *ctx, void *p, size_t was, size_t want) {
  scarce *s = ctx;
  (void)was;
  if (want == 0) {
    free(p);
    return NULL;
  }
  if (s->left == 0) {
    s->failed++;
    if (s->once) s->left = -1;
    return NULL;
  }
  if (s->left > 0) s->left--;
  return realloc(p, want);
}

#endif
