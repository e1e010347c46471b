/* gunzip.h - unpacks gzip (all its members) and zlib, at once or piece by piece. A few packed bytes may
 * become a million times as many, so the buffer's maximum limits them. */
#ifndef SLP_CODEC_GUNZIP_H
#define SLP_CODEC_GUNZIP_H

#include "base/buf.h"
#include "base/mem.h"

/* Appends the unpacked bytes of `in`. Returns 0; SLP_EBADDATA: `in` is not packed, damaged, cut short, or
 * followed by something else; SLP_ELIMIT: there are more bytes than the buffer may hold; SLP_ENOMEM. */
int slp_gunzip(slp_buf *ret, slp_str in);

/* Unpacks in pieces of about 64 KiB. `in` must live until slp_gunzip_end. slp_gunzip_begin and
 * slp_inflate_begin return NULL if there is no memory. */
typedef struct slp_gunzipper slp_gunzipper;
slp_gunzipper *slp_gunzip_begin(slp_mem *mem, slp_str in);
/* Begins to unpack bare deflate data, without a header. Up to 4 bytes behind the data are ignored: fastavro
 * 1.12.2 cuts zlib's header off, but leaves 3 bytes of its checksum. */
slp_gunzipper *slp_inflate_begin(slp_mem *mem, slp_str in);
/* Appends the next piece. Returns 1: call again, because there may be more. Any other result has the same
 * meaning as for slp_gunzip(). */
int slp_gunzip_step(slp_gunzipper *g, slp_buf *ret);
void slp_gunzip_end(slp_gunzipper *g); /* NULL is fine */

#endif
