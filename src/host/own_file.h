/* own_file.h - a file that this process alone writes, for as long as it has it open: replaced whole or not
 * at all. Blocks; for cli/, and for aws/login_file.c on a thread. It is the one way in which a file is
 * written; the lease file is SQLite's.
 *
 * A lock is held on .NAME.lock beside it, which is made and removed again. New content is written beside
 * it under a name that nobody has, .NAME.PID-N, synced, given the owner and the mode of the file that it
 * replaces, and renamed; then the folder is synced. Nothing that lies there is truncated, followed or
 * removed, but for the new content of processes that are dead. */
#ifndef SLP_HOST_OWN_FILE_H
#define SLP_HOST_OWN_FILE_H

#include "base/mem.h"

typedef struct slp_own_file slp_own_file;

/* A link is followed: the file that it names is the one. 0; SLP_EBUSY: another process has it; SLP_EINVAL:
 * there is something that is no file; -errno, SLP_ENOMEM. The file need not exist, and is not made. */
int slp_own_file_open(slp_mem *mem, const char *path, slp_own_file **ret);
/* Is it still this process's alone? A lock that somebody removed is made anew; SLP_EBUSY: another process
 * has taken the file meanwhile, or has gone again and left content of its own. What the file holds is that
 * one's from then on: this process never writes it again. 0 or -errno. */
int slp_own_file_keep(slp_own_file *f);
/* Afterwards the file holds `bytes` or, after a failure, what it held before. SLP_EINVAL: something came
 * there that is no file, or can't be replaced. 0, -errno, or as slp_own_file_keep(). */
int slp_own_file_replace(slp_own_file *f, slp_str bytes);
void slp_own_file_close(slp_own_file *f); /* NULL is fine */

#endif
