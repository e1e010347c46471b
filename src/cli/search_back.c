/* search_back.c - chooses the windows of time in which the last N records are searched. */
#include "cli/search_back.h"

#define FIRST_MS 1000
#define TIMES_LONGER 4
/* If the next window would be longer than this, it begins at the oldest record instead, because most streams
 * do not keep records for long. If that window has too many records, shorter windows follow. */
#define LONGEST_MS (INT64_C(2) * 3600000)

void slp_search_back_begin(slp_search_back *s, int64_t now_ms) {
  *s = (slp_search_back){.now_ms = now_ms, .sparse_ms = now_ms, .dense_ms = -1, .at_ms = now_ms - FIRST_MS};
}

/* Chooses the next window: longer than the longest that had too few records, and shorter than the shortest
 * that had too many. If no length is left between the two, chooses the shortest that had too many, and sets
 * `whole`. */
static void choose_next_window(slp_search_back *s) {
  int64_t sparse_ms = s->now_ms - s->sparse_ms;
  int64_t longer_ms = sparse_ms ? sparse_ms * TIMES_LONGER : FIRST_MS;
  if (s->dense_ms < 0) {
    s->at_ms = longer_ms > LONGEST_MS || longer_ms >= s->now_ms ? 0 : s->now_ms - longer_ms;
    return;
  }
  int64_t dense_ms = s->now_ms - s->dense_ms, middle_ms = sparse_ms + (dense_ms - sparse_ms) / 2;
  s->at_ms = s->now_ms - (sparse_ms && longer_ms < middle_ms ? longer_ms : middle_ms);
  if (middle_ms > sparse_ms) return;
  s->at_ms = s->dense_ms;
  s->whole = 1;
}

int slp_search_back_further(slp_search_back *s) {
  if (s->at_ms == 0 || s->whole) return 0;
  s->sparse_ms = s->at_ms;
  choose_next_window(s);
  return 1;
}

void slp_search_back_nearer(slp_search_back *s) {
  s->dense_ms = s->at_ms;
  choose_next_window(s);
}
