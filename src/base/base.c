/* base.c - ends the process when SLP_CHECK finds a broken invariant. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

void slp_check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "sloop: check failed: %s (%s:%d)\n", what, file, line);
  abort();
}
