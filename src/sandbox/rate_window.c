/* rate_window.c - the limits for each second.
 *
 * A second begins with the first call after the last second has ended. If a call takes more bytes than the
 * limit, the second is prolonged until the limit would allow these bytes. For example, after a page of 10 MiB
 * at 2 MiB a second, calls fail for 5 s from the page's start. The service documents the same. */
#include "sandbox/model.h"

#define SECOND_MS 1000

int slp_box_window_open(slp_box_window *w, int64_t now_ms, uint64_t calls_limit, uint64_t bytes_limit) {
  if (now_ms >= w->until_ms || now_ms < w->from_ms) {
    *w = (slp_box_window){.from_ms = now_ms, .until_ms = now_ms + SECOND_MS};
  }
  if (calls_limit && w->calls >= calls_limit) return 0;
  return !bytes_limit || w->bytes < bytes_limit;
}

void slp_box_window_take(slp_box_window *w, uint64_t bytes, uint64_t bytes_limit) {
  w->calls++;
  w->bytes += bytes;
  if (bytes_limit && w->bytes > bytes_limit) {
    int64_t until_ms = w->from_ms + (int64_t)(w->bytes * SECOND_MS / bytes_limit);
    w->until_ms = slp_max_i64(w->until_ms, until_ms);
  }
}
