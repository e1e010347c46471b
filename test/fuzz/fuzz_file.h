/* fuzz_file.h - a file in memory, for readers that take a path. */
#ifndef SLP_TEST_FUZZ_FILE_H
#define SLP_TEST_FUZZ_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Its path, good for as long as the process; the content is that of the last call. */
static inline const char *fuzz_file(const void *p, size_t n) {
  static char path[40];
  static int fd = -1;
  if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
  REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0 && (n == 0 || pwrite(fd, p, n, 0) == (ssize_t)n));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return path;
}

#endif
