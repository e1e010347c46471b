/* gunzip.h - unpacks gzip (all its members) and zlib, at once or piece by piece: a few bytes may unpack to a
 * million times as many. */
#ifndef SLP_CODEC_GUNZIP_H
#define SLP_CODEC_GUNZIP_H

#include "base/buf.h"

/* Appends the unpacked bytes. Returns 0; SLP_EBADDATA: not packed, damaged, cut short, or followed by
 * something else; SLP_ELIMIT: more than the buffer may hold; SLP_ENOMEM. */
int slp_gunzip(slp_buf *ret, slp_str in);

/* Unpacks in pieces of about 64 KiB. `in` must live until slp_gunzip_end. NULL: no memory. */
typedef struct slp_gunzipper slp_gunzipper;
slp_gunzipper *slp_gunzip_begin(slp_mem *mem, slp_str in);
/* Does the same for deflate data alone, without a head. Up to 4 bytes behind it are ignored: fastavro 1.12.2
 * cuts zlib's head off, but leaves 3 bytes of its checksum. */
slp_gunzipper *slp_inflate_begin(slp_mem *mem, slp_str in);
/* Appends the next piece. Returns 1: there may be more; otherwise as slp_gunzip(). */
int slp_gunzip_step(slp_gunzipper *g, slp_buf *ret);
void slp_gunzip_end(slp_gunzipper *g); /* NULL is fine */

#endif
