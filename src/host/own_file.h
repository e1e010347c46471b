/* own_file.h - a file that this process alone writes, for as long as it has it open: its content is replaced
 * whole or not at all. Blocks; for cli/, and for aws/login_file.c on a thread. All files are written by it,
 * except the lease file, which SQLite writes.
 *
 * A lock is held on .NAME.lock beside the file; the lock is made and removed again. New content is written
 * beside the file under a name that nobody has, .NAME.PID-N, synced, given the owner and the mode of the file
 * that it replaces, and renamed; then the folder is synced. Nothing that lies there is truncated, followed or
 * removed, except new content of processes that are dead.
 *
 * A file that can't be replaced is written in place (in_place.h): one that is mounted by itself, one in a
 * folder that may not be written, one of another owner. Then the file itself is locked, because processes
 * that see it by different mounts share no folder. Nothing lies beside it. */
#ifndef SLP_HOST_OWN_FILE_H
#define SLP_HOST_OWN_FILE_H

#include "base/mem.h"

typedef struct slp_own_file slp_own_file;

/* Opens the file for this process. A link is followed to the file that it names. The file need not exist, and
 * is not made. Returns 0; SLP_EBUSY: another process has it; SLP_EINVAL: what is there is no file; -errno;
 * SLP_ENOMEM. */
int slp_own_file_open(slp_mem *mem, const char *path, slp_own_file **ret);
/* Checks that the file is still this process's alone. A lock that somebody removed is made again. Returns 0
 * or -errno; SLP_EBUSY: another process has taken the file meanwhile, or has gone again and left content of
 * its own. That content stays: this process never writes the file again. */
int slp_own_file_keep(slp_own_file *f);
/* Makes `bytes` the content of the file; after a failure the file holds what it held before. Returns 0,
 * -errno, or as slp_own_file_keep(). SLP_EINVAL: something that is no file came there. -ESTALE: a file that
 * is written in place was removed or replaced. */
int slp_own_file_replace(slp_own_file *f, slp_str bytes);
/* Tries whether the file can be written: replaces it by what it holds, or writes a file beside where it
 * would be, and removes it. Finds out whether it has to be written in place. Returns as
 * slp_own_file_replace(). */
int slp_own_file_try(slp_own_file *f);
/* Returns why the file is written in place: a negative code, -EXDEV when it is mounted by itself; 0: it is
 * not. */
int slp_own_file_in_place(const slp_own_file *f);
/* Returns 1 if the file is written in place, and its name was removed where it is mounted from. What is
 * written then is gone when the mount ends. */
int slp_own_file_is_nameless(const slp_own_file *f);
/* How slp_own_file_keep(), or a write, found that the file belongs to another process for good. */
typedef enum slp_own_file_loss {
  SLP_OWN_FILE_NOT_LOST,
  SLP_OWN_FILE_LOCK_LOST,     /* the lock beside it was removed, and another process holds one there */
  SLP_OWN_FILE_CHANGED,       /* the lock beside it was removed, and somebody has written the file since */
  SLP_OWN_FILE_LOCKED_ITSELF, /* another process has locked the file itself, to write it in place */
} slp_own_file_loss;
slp_own_file_loss slp_own_file_lost_by(const slp_own_file *f);
void slp_own_file_close(slp_own_file *f); /* NULL is fine */

#endif
