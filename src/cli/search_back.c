/* search_back.c - chooses windows of time. */
#include "cli/search_back.h"

#define FIRST_MS 1000
#define TIMES_LONGER 4
/* After a window of this length with too few records the next one begins at the oldest record. Most streams
 * keep little more, and if that window is too dense, the search goes on with longer ones that begin later. */
#define LONGEST_MS (INT64_C(2) * 3600000)

void slp_search_back_begin(slp_search_back *s, int64_t now_ms) {
  *s = (slp_search_back){.now_ms = now_ms, .sparse_ms = now_ms, .dense_ms = -1, .at_ms = now_ms - FIRST_MS};
}

/* Chooses a window between the longest that had too few records and the shortest that had too many. */
static void choose(slp_search_back *s) {
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
  choose(s);
  return 1;
}

void slp_search_back_nearer(slp_search_back *s) {
  s->dense_ms = s->at_ms;
  choose(s);
}
