/* name_cache.h - keeps names for completions in files, so that the service is asked at most once a minute.
 * The files are in the user's cache folder: $XDG_CACHE_HOME or ~/.cache, and in it stream-tail/. Only
 * propose.c uses this cache. */
#ifndef SLP_CLI_NAME_CACHE_H
#define SLP_CLI_NAME_CACHE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"

#define SLP_NAME_CACHE_MS 60000       /* how long names are used */
#define SLP_NAME_CACHE_NONE_MS 10000  /* for how long the service is not asked again after it gave no names */
#define SLP_NAME_CACHE_BYTES 1048576u /* the most bytes of a file */

typedef struct slp_name_cache {
  /* above: the user's cache folder. folder: our folder in it. "": there is none. Both folders are made if
   * they are missing; the user's home folder is not. */
  char above[400], folder[420];
  char path[460];
  char key[41]; /* hash in hex digits; names in the file are used only if the file has the same key */
} slp_name_cache;

/* Finds the file for names of this kind. The key is a hash of the options and environment variables that
 * choose the service, the account and the table. Returns 0 or SLP_ENOMEM. */
int slp_name_cache_init(slp_name_cache *c, slp_mem *mem, const char *kind, const slp_args *args);
/* Appends the names to `ret`, one a line, and returns 1. Returns 0 if the cache has no names, or if they are
 * too old. */
int slp_name_cache_read(const slp_name_cache *c, int64_t now_ms, slp_buf *ret);
/* Stores the names, which are used until until_ms. A failure is not reported; its only effect is that the
 * service is asked again. */
void slp_name_cache_write(const slp_name_cache *c, slp_mem *mem, int64_t until_ms, slp_str names);

#endif
