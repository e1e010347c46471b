/* local.c - reads small files, explains why a file can't be read, and computes local time. */
#include "program/local.h"

#include "base/buf.h"
#include "host/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *slp_local_why(int error) { return error == SLP_ELIMIT ? "too large" : slp_file_why(error); }

/* ---- why a file can't be read ---------------------------------------------------------------- */
typedef struct path_part {
  /* a folder on the path of a file; "." is the current folder */
  char path[PATH_MAX];
  const char *trouble; /* why nothing below the folder can be reached; NULL: it can */
} path_part;

static const char *trouble_of_folder(const char *path) {
  struct stat st;
  if (stat(path, &st))
    return errno == ENOENT ? "is not there" : errno == ENOTDIR ? NULL : "can't be examined";
  if (!S_ISDIR(st.st_mode)) return "is not a folder";
  return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? "may not be entered" : NULL;
}

/* Finds the first folder of the path below which nothing can be reached (missing, no folder, no permission).
 * If there is none, finds the last folder. */
static void find_bad_folder(const char *path, path_part *ret) {
  *ret = (path_part){.path = "."};
  for (const char *slash = strchr(path, '/'); slash && !ret->trouble; slash = strchr(slash + 1, '/')) {
    int n = slash == path ? 1 : (int)(slash - path);
    if (snprintf(ret->path, sizeof ret->path, "%.*s", n, path) >= (int)sizeof ret->path) return;
    ret->trouble = trouble_of_folder(ret->path);
  }
}

void slp_local_explain(const char *path, int error, int writes, char why[SLP_LOCAL_WHY]) {
  path_part folder;
  int denied = error == -EACCES || error == -EPERM;
  snprintf(why, SLP_LOCAL_WHY, "%s", slp_local_why(error));
  if (!denied && error != -ENOENT && error != -ENOTDIR) return;
  find_bad_folder(path, &folder);
  if (folder.trouble)
    snprintf(why, SLP_LOCAL_WHY, "%.250s %s", folder.path, folder.trouble);
  else if (denied && writes && faccessat(AT_FDCWD, folder.path, W_OK, AT_EACCESS))
    snprintf(why, SLP_LOCAL_WHY, "no permission to write in the folder %.250s", folder.path);
  if (denied) {
    size_t n = strlen(why);
    snprintf(why + n, SLP_LOCAL_WHY - n, " (as user %u)", (unsigned)geteuid());
  }
}

int slp_local_read(const char *path, slp_buf *ret) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return -errno;
  int r = 0;
  for (;;) {
    char extra; /* room for one byte more when ret is full: if a byte comes, the file is too large */
    size_t room = slp_min_u64(ret->max - ret->n, 65536);
    if (room && (r = slp_buf_reserve(ret, room)) != 0) break;
    ssize_t n = read(fd, room ? ret->p + ret->n : &extra, room ? room : 1);
    if (n < 0 && errno == EINTR) continue;
    r = n < 0 ? -errno : n > 0 && !room ? SLP_ELIMIT : 0;
    if (n <= 0 || r) break;
    ret->n += (size_t)n;
  }
  close(fd);
  return r;
}

int slp_local_make_folder(const char *path) { return mkdir(path, 0700) && errno != EEXIST ? -errno : 0; }

int64_t slp_local_offset_ms(int64_t at_ms) {
  time_t at = (time_t)(at_ms / 1000);
  struct tm local;
  return localtime_r(&at, &local) ? (int64_t)local.tm_gmtoff * 1000 : 0;
}
