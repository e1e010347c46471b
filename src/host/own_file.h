/* own_file.h - a file that only this process writes while it has the file open. The file's content is
 * replaced whole or not at all. Blocks; for cli/, and for aws/login_file.c on a thread. Files that are read
 * again later, such as saved positions, are written by it. The lease file is an exception: SQLite writes it.
 *
 * While the file is open, a lock is held on .NAME.lock beside the file. The lock file is made, and removed at
 * the end. New content is written to a file .NAME.PID-N beside the file, under a name that does not exist
 * yet. It is synced, given the owner and the mode of the file that it replaces, and renamed; then the folder
 * is synced. No other file of the folder is truncated, followed or removed, except new content of processes
 * that are dead.
 *
 * Some files can't be replaced: a file that is a mount of its own, a file in a folder that may not be
 * written, a file of another owner. Such a file is written in place (in_place.h). It is then locked itself,
 * and has no lock file beside it, because processes that see it by different mounts share no folder. */
#ifndef SLP_HOST_OWN_FILE_H
#define SLP_HOST_OWN_FILE_H

#include "base/mem.h"

typedef struct slp_own_file slp_own_file;

/* Opens the file for this process. A link is followed to the file that it names. The file need not exist, and
 * is not made. Returns 0; SLP_EBUSY: another process has the file open; SLP_EINVAL: the path is no file;
 * -errno; SLP_ENOMEM. */
int slp_own_file_open(slp_mem *mem, const char *path, slp_own_file **ret);
/* Checks that no other process has the file. If the lock file was removed, it is made again. Returns 0 or
 * -errno; SLP_EBUSY: another process has the file now, or has had it and written it. This process then never
 * writes the file again. */
int slp_own_file_keep(slp_own_file *f);
/* Makes `bytes` the content of the file; after a failure the file has its old content. Returns 0, -errno, or
 * an error of slp_own_file_keep(). SLP_EINVAL: its name now belongs to something that is no file. -ESTALE:
 * the file, which is written in place, was removed or replaced. */
int slp_own_file_replace(slp_own_file *f, slp_str bytes);
/* Tries whether the file can be written. A file that exists is replaced by a copy of itself. Otherwise, a
 * file is written beside its place, and removed. Finds out whether the file has to be written in place.
 * Returns what slp_own_file_replace() returns. */
int slp_own_file_try(slp_own_file *f);
/* Returns why the file is written in place: a negative code, -EXDEV if the file is a mount of its own; 0: it
 * is not. */
int slp_own_file_in_place(const slp_own_file *f);
/* Returns 1 if the file is written in place, and no folder has a name for it any more. New content is then
 * lost when the mount ends. */
int slp_own_file_is_nameless(const slp_own_file *f);
/* How slp_own_file_keep(), or a write, found that the file belongs to another process for good. */
typedef enum slp_own_file_loss {
  SLP_OWN_FILE_NOT_LOST,
  SLP_OWN_FILE_LOCK_LOST,     /* the lock file was removed, and another process holds a new one */
  SLP_OWN_FILE_CHANGED,       /* the lock file was removed, and another process has written the file since */
  SLP_OWN_FILE_LOCKED_ITSELF, /* another process has locked the file itself, to write it in place */
} slp_own_file_loss;
/* Returns how the file was lost to another process. */
slp_own_file_loss slp_own_file_lost_by(const slp_own_file *f);
void slp_own_file_close(slp_own_file *f); /* NULL is fine */

#endif
