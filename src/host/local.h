/* local.h - what a command needs of the machine it runs on: small files, read and replaced at once, and local
 * time. Blocks; for cli/, tests and benches. Libraries use the seam in host.h. */
#ifndef SLP_HOST_LOCAL_H
#define SLP_HOST_LOCAL_H

#include "base/buf.h"

/* Appends the whole file. -errno, SLP_ELIMIT (larger than the buf may become), SLP_ENOMEM. */
int slp_local_read(const char *path, slp_buf *ret);
/* Replaces the content: afterwards the file holds `bytes` or, after a failure, what it held before. Written
 * beside it as PATH.tmp, synced and renamed. A link is followed; the mode of a file that was there stays. 0
 * or -errno. */
int slp_local_replace(const char *path, slp_str bytes);
/* Checks, without changing anything, whether the file could be replaced. 0 or -errno. */
int slp_local_may_replace(const char *path);
const char *slp_local_why(int error); /* the text of an error of these functions */
/* How far local time is ahead of UTC at that moment, in ms. */
int64_t slp_local_offset_ms(int64_t at_ms);

#endif
