/* local.h - what a command needs of the machine it runs on: small files, read at once, and local time.
 * Blocks; for cli/, tests and benches. Libraries use host.h. */
#ifndef SLP_PROGRAM_LOCAL_H
#define SLP_PROGRAM_LOCAL_H

#include "base/buf.h"

/* Appends the whole file to ret. Returns 0, -errno, SLP_ELIMIT (the file is larger than ret may become) or
 * SLP_ENOMEM. */
int slp_local_read(const char *path, slp_buf *ret);
/* Makes the folder, with access for this user only. The folder above it must exist. Returns 0 or -errno; 0
 * also if the path exists already. */
int slp_local_make_folder(const char *path);
const char *slp_local_why(int error); /* the text of an error of slp_local_read */
/* Writes to `why` why the file could not be read (writes 0) or written (writes 1). Names the part of its path
 * that is missing, is no folder, or is closed to this user. */
#define SLP_LOCAL_WHY 400
void slp_local_explain(const char *path, int error, int writes, char why[SLP_LOCAL_WHY]);
/* Returns how far local time is ahead of UTC at the time at_ms, in ms. */
int64_t slp_local_offset_ms(int64_t at_ms);

#endif
