/* login_file.h - the cache file of `aws login`, locked and written anew on another thread. */
#ifndef SLP_AWS_LOGIN_FILE_H
#define SLP_AWS_LOGIN_FILE_H

#include "host/host.h"

typedef struct slp_login_file slp_login_file;
typedef void (*slp_login_file_fn)(void *arg, int error);

slp_login_file *slp_login_file_new(slp_host *h, const char *path); /* NULL: no memory */
/* One of these at a time; `done` runs in a turn. Locks the file against other processes of ours. 0;
 * SLP_EBUSY: one of them has it; else it can't be written. */
void slp_login_file_lock(slp_login_file *f, slp_login_file_fn done, void *arg);
/* Replaces the content of the locked file, whole or not at all, also when nobody waits any more. SLP_ELIMIT
 * is given at once, and `done` does not run. */
int slp_login_file_save(slp_login_file *f, slp_str bytes, slp_login_file_fn done, void *arg);
/* Gives the lock back and frees, whatever is under way; `done` does not run any more. NULL is fine. */
void slp_login_file_leave(slp_login_file *f);

#endif
