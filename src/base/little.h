/* little.h - numbers as little-endian bytes, whatever the byte order of the processor. */
#ifndef SLP_BASE_LITTLE_H
#define SLP_BASE_LITTLE_H

#include "base/base.h"

/* Returns the number whose bytes in memory are those of v, little-endian. Also turns such a number back. */
static inline uint64_t slp_little_u64(uint64_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  return v;
}

#endif
