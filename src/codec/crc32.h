/* crc32.h - the CRC-32 of IEEE 802.3, as in gzip and in the header x-amz-crc32. */
#ifndef SLP_CODEC_CRC32_H
#define SLP_CODEC_CRC32_H

#include "base/base.h"
#include "base/library.h"

uint32_t slp_crc32(slp_str s);
/* Continues a checksum: `before` is the checksum of the preceding bytes, 0 if there are none. */
uint32_t slp_crc32_more(uint32_t before, slp_str s);
slp_library slp_zlib(void); /* the one that runs */

#endif
