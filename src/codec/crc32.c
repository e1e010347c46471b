/* crc32.c - zlib's checksum over bytes of any length. */
#include "codec/crc32.h"

#include <zlib.h>

uint32_t slp_crc32_more(uint32_t before, slp_str s) {
  return s.n ? (uint32_t)crc32_z(before, (const unsigned char *)s.p, s.n) : before;
}

uint32_t slp_crc32(slp_str s) { return slp_crc32_more(0, s); }
