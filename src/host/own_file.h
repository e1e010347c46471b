/* own_file.h - a file that this process alone writes, for as long as it has it open: replaced whole or not
 * at all. Blocks; for cli/, and for aws/login_file.c on a thread. It is the one way in which a file is
 * written; the lease file is SQLite's.
 *
 * A lock is held on .NAME.lock beside it, which is made and removed again. New content is written beside
 * it under a name that nobody has, .NAME.PID-N, synced, given the owner and the mode of the file that it
 * replaces, and renamed; then the folder is synced. Nothing that lies there is truncated, followed or
 * removed, but for the new content of processes that are dead.
 *
 * A file that can't be replaced is written in place (in_place.h): one that is mounted by itself, one in a
 * folder that may not be written, one of another owner. It is then locked itself, since processes that see
 * it by different mounts share no folder; there is nothing beside it. */
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
 * there that is no file. -ESTALE: a file that is written in place was removed or replaced. 0, -errno, or as
 * slp_own_file_keep(). */
int slp_own_file_replace(slp_own_file *f, slp_str bytes);
/* Tries whether the file can be written: replaces it by what it holds, or writes a file beside where it
 * would be, and removes it. Finds out whether it has to be written in place. Returns as
 * slp_own_file_replace(). */
int slp_own_file_try(slp_own_file *f);
/* Returns why the file is written in place: a negative code, -EXDEV when it is mounted by itself; 0: it is
 * not. */
int slp_own_file_in_place(const slp_own_file *f);
/* Is it written in place, and was its name removed where it is mounted from? What is written then ends with
 * the mount. */
int slp_own_file_is_nameless(const slp_own_file *f);
/* How slp_own_file_keep(), or a write, found that the file is another's for good. */
typedef enum slp_own_file_loss {
  SLP_OWN_FILE_NOT_LOST,
  SLP_OWN_FILE_LOCK_LOST,     /* the lock beside it was removed, and another process holds one there */
  SLP_OWN_FILE_CHANGED,       /* the lock beside it was removed, and somebody has written the file since */
  SLP_OWN_FILE_LOCKED_ITSELF, /* another process has locked the file itself, to write it in place */
} slp_own_file_loss;
slp_own_file_loss slp_own_file_lost_by(const slp_own_file *f);
void slp_own_file_close(slp_own_file *f); /* NULL is fine */

#endif
