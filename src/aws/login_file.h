/* login_file.h - locks and rewrites the cache file of `aws login`. The work is done on another thread. */
#ifndef SLP_AWS_LOGIN_FILE_H
#define SLP_AWS_LOGIN_FILE_H

#include "host/host.h"

typedef struct slp_login_file slp_login_file;
typedef void (*slp_login_file_fn)(void *arg, int error);

slp_login_file *slp_login_file_new(slp_host *h, const char *path); /* returns NULL if there is no memory */
/* Locks the file against other processes of this program. `done` is called in a turn. Its error is 0,
 * SLP_EBUSY if another process holds the lock, or another code if the file can't be written. Only one lock or
 * save may be in progress. */
void slp_login_file_lock(slp_login_file *f, slp_login_file_fn done, void *arg);
/* Replaces the content of the locked file, as a whole or not at all, even if slp_login_file_leave is called
 * meanwhile. Returns 0, and `done` is called in a turn. Returns SLP_ELIMIT if the content is too long; `done`
 * is then not called. */
int slp_login_file_save(slp_login_file *f, slp_str bytes, slp_login_file_fn done, void *arg);
/* Releases the lock and frees f, even while a lock or save is in progress; `done` will not be called. f may
 * be NULL. */
void slp_login_file_leave(slp_login_file *f);

#endif
