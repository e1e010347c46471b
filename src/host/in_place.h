/* in_place.h - writes new content into a file that can't be replaced by a rename: it is a mount of its own,
 * or its folder may not be written. own_file.c writes with it, cli/token_file.c reads with it. Blocks.
 *
 * A write goes in three steps, each synced:
 *   1. a journal is appended: a NUL, a line "#sloop-new LENGTH CRC32", and the new content;
 *   2. the new content is written at the beginning of the file;
 *   3. the file is cut to the length of the new content.
 * A write that is interrupted in step 1 leaves the old content, and a journal whose content does not match
 * LENGTH and CRC32. A write that is interrupted later leaves a complete journal. So slp_in_place_good()
 * always finds the old content or the new. */
#ifndef SLP_HOST_IN_PLACE_H
#define SLP_HOST_IN_PLACE_H

#include "base/buf.h"
#include "base/mem.h"

/* Returns the slice of a file's bytes that is its valid content: all of them, if there is no journal. */
slp_str slp_in_place_good(slp_str file);
/* Appends all bytes of the file to ret. Returns 0, -errno, SLP_ELIMIT or SLP_ENOMEM. */
int slp_in_place_read(int fd, slp_buf *ret);
/* Makes `bytes` the content of the file. After a failure slp_in_place_good() finds the content from before,
 * or `bytes`. Returns 0, -errno, SLP_ELIMIT or SLP_ENOMEM. */
int slp_in_place_write(slp_mem *mem, int fd, slp_str bytes);

#endif
