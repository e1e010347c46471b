/* gunzip.h - unpacks gzip (all members of it) and zlib. */
#ifndef SLP_CODEC_GUNZIP_H
#define SLP_CODEC_GUNZIP_H

#include "base/buf.h"

/* Appends the unpacked bytes. SLP_EBADDATA: not packed, damaged, cut short, or followed by something else.
 * SLP_ELIMIT: more than the buffer may hold. SLP_ENOMEM. */
int slp_gunzip(slp_buf *ret, slp_str in);

#endif
