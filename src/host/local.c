/* local.c - reads small files; local time. */
#include "host/local.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

int64_t slp_local_offset_ms(int64_t at_ms) {
  time_t at = (time_t)(at_ms / 1000);
  struct tm local;
  return localtime_r(&at, &local) ? (int64_t)local.tm_gmtoff * 1000 : 0;
}
