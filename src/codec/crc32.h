/* crc32.h - the CRC-32 of IEEE 802.3 (gzip's, and of the header x-amz-crc32), by zlib. */
#ifndef SLP_CODEC_CRC32_H
#define SLP_CODEC_CRC32_H

#include "base/base.h"

uint32_t slp_crc32(slp_str s);
/* Continues a checksum: `before` is that of the preceding bytes, or 0. */
uint32_t slp_crc32_more(uint32_t before, slp_str s);

#endif
