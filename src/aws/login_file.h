/* login_file.h - locks and rewrites the cache file of `aws login`, on another thread. */
#ifndef SLP_AWS_LOGIN_FILE_H
#define SLP_AWS_LOGIN_FILE_H

#include "host/host.h"

typedef struct slp_login_file slp_login_file;
typedef void (*slp_login_file_fn)(void *arg, int error);

slp_login_file *slp_login_file_new(slp_host *h, const char *path); /* NULL: no memory */
/* Locks the file against other processes of this program. `done` is called in a turn with 0, SLP_EBUSY if
 * another process has it, or another code if it can't be written. Only one call of lock or save at a time. */
void slp_login_file_lock(slp_login_file *f, slp_login_file_fn done, void *arg);
/* Replaces the content of the locked file, whole or not at all, even if the owner leaves meanwhile. Returns
 * SLP_ELIMIT at once if it is too long; `done` does not run then. */
int slp_login_file_save(slp_login_file *f, slp_str bytes, slp_login_file_fn done, void *arg);
/* Gives the lock back and frees f, whatever is under way; `done` will not run. f may be NULL. */
void slp_login_file_leave(slp_login_file *f);

#endif
