/* local.c - small files and local time. */
#include "host/local.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int slp_local_exists(const char *path) { return access(path, F_OK) == 0; }

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

/* The name is only as lasting as its folder's entry. A file system that can't sync folders says EINVAL. */
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

int slp_local_replace(const char *path, slp_str bytes) {
  char real[PATH_MAX], beside[PATH_MAX];
  struct stat st;
  mode_t mode = 0666; /* what the umask leaves of it */
  int known = stat(path, &st) == 0;
  if (known && !S_ISREG(st.st_mode)) return S_ISDIR(st.st_mode) ? -EISDIR : SLP_EINVAL;
  if (known && realpath(path, real)) path = real; /* a link stays one */
  if (snprintf(beside, sizeof beside, "%s.tmp", path) >= (int)sizeof beside) return -ENAMETOOLONG;
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return -errno;
  int r = known && fchmod(fd, st.st_mode & 07777) != 0 ? -errno : 0;
  if (!r) r = write_all(fd, bytes);
  if (!r && fsync(fd) != 0) r = -errno;
  if (close(fd) != 0 && !r) r = -errno;
  if (!r && rename(beside, path) != 0) r = -errno;
  if (r) {
    unlink(beside);
    return r;
  }
  return sync_folder(path);
}

int64_t slp_local_offset_ms(int64_t at_ms) {
  time_t at = (time_t)(at_ms / 1000);
  struct tm local;
  return localtime_r(&at, &local) ? (int64_t)local.tm_gmtoff * 1000 : 0;
}
