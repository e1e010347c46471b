/* local.c - small files and local time. */
#include "host/local.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

const char *slp_local_why(int error) { return error == SLP_ELIMIT ? "too large" : strerror(-error); }

int slp_local_read(const char *path, slp_buf *ret) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return -errno;
  int r = 0;
  for (;;) {
    char extra; /* at the maximum: is anything left to read? */
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

static int write_all(int fd, slp_str bytes) {
  while (bytes.n > 0) {
    ssize_t n = write(fd, bytes.p, bytes.n);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    bytes.p += n;
    bytes.n -= (size_t)n;
  }
  return 0;
}

/* The new name lasts only when its folder is synced too. A file system that can't sync folders says
 * EINVAL. */
static int sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int r = fsync(fd) != 0 && errno != EINVAL ? -errno : 0;
  close(fd);
  return r;
}

typedef struct aside { /* a new file, written under another name */
  char path[PATH_MAX], beside[PATH_MAX];
  int fd;
} aside;

/* A link stays a link: the file that it names is written, whether it exists or not. 0 or -errno. */
static int follow_links(char path[PATH_MAX]) {
  char to[PATH_MAX], whole[PATH_MAX];
  for (int i = 0; i < LINKS_MAX; i++) {
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : -errno; /* no link; or nothing yet */
    to[n] = 0;
    const char *slash = *to == '/' ? NULL : strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    if (snprintf(whole, sizeof whole, "%.*s%s", folder, path, to) >= (int)sizeof whole) return -ENAMETOOLONG;
    memcpy(path, whole, strlen(whole) + 1);
  }
  return -ELOOP;
}

static int begin_aside(aside *a, const char *path) {
  struct stat st;
  int known = stat(path, &st) == 0;
  if (known && !S_ISREG(st.st_mode)) return S_ISDIR(st.st_mode) ? -EISDIR : SLP_EINVAL;
  if (snprintf(a->path, sizeof a->path, "%s", path) >= (int)sizeof a->path) return -ENAMETOOLONG;
  int r = follow_links(a->path);
  if (r) return r;
  if (snprintf(a->beside, sizeof a->beside, "%s.tmp", a->path) >= (int)sizeof a->beside) return -ENAMETOOLONG;
  a->fd = open(a->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); /* less the umask */
  if (a->fd < 0) return -errno;
  return known && fchmod(a->fd, st.st_mode & 07777) != 0 ? -errno : 0;
}

int slp_local_replace(const char *path, slp_str bytes) {
  aside a = {.fd = -1};
  int r = begin_aside(&a, path);
  if (a.fd < 0) return r;
  if (!r) r = write_all(a.fd, bytes);
  if (!r && fsync(a.fd) != 0) r = -errno;
  if (close(a.fd) != 0 && !r) r = -errno;
  if (!r && rename(a.beside, a.path) != 0) r = -errno;
  if (r) {
    unlink(a.beside);
    return r;
  }
  return sync_folder(a.path);
}

int slp_local_may_replace(const char *path) {
  aside a = {.fd = -1};
  int r = begin_aside(&a, path);
  if (a.fd < 0) return r;
  close(a.fd);
  unlink(a.beside);
  return r;
}

int64_t slp_local_offset_ms(int64_t at_ms) {
  time_t at = (time_t)(at_ms / 1000);
  struct tm local;
  return localtime_r(&at, &local) ? (int64_t)local.tm_gmtoff * 1000 : 0;
}
