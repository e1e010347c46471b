/* crc32.c - zlib's checksum over bytes of any length. */
#include "codec/crc32.h"

#include <zlib.h>

uint32_t slp_crc32(slp_str s) {
  return (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)s.p, s.p ? s.n : 0);
}
