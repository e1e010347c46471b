/* running.c - sloop_running(): which libraries run in this process, and from which files. */
#include "base/base.h"
#include "base/library.h"
#include "codec/crc32.h"
#include "codec/digest.h"
#include "host/err.h"
#include "store/sqlite.h"

#include <sloop.h>
#include <stdio.h>

int sloop_running(char *buf, size_t *len) {
  const slp_library all[] = {{"sloop", sloop_version(), (void (*)(void))sloop_running},
                             slp_libuv(),
                             slp_libcurl(),
                             slp_libcrypto(),
                             slp_zlib(),
                             slp_sqlite_library()};
  size_t i, n = 0;
  for (i = 0; i < sizeof all / sizeof *all; i++) {
    size_t room = buf && n < *len ? *len - n : 0;
    if (all[i].name)
      n += (size_t)snprintf(room ? buf + n : NULL, room, "%s\t%s\t%s\n", all[i].name, all[i].version,
                            slp_code_file(all[i].code));
  }
  if (!buf || n >= *len) {
    *len = n + 1;
    return SLP_ENOBUFS;
  }
  *len = n;
  return 0;
}
