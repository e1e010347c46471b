/* search_back.h - chooses how far to look back in time for the last N records of a stream. The stream can
 * only be read forwards, so each try reads a window of time: all records that arrived from some moment until
 * now. */
#ifndef SLP_CLI_SEARCH_BACK_H
#define SLP_CLI_SEARCH_BACK_H

#include "base/base.h"

typedef struct slp_search_back {
  int64_t now_ms; /* the moment at which all windows end */
  /* the moment at which the present window begins; 0: at the oldest record */
  int64_t at_ms;
  int64_t sparse_ms; /* the beginning of the longest window that had too few records */
  /* the beginning of the shortest window that had too many records to read; -1: there was none */
  int64_t dense_ms;
  uint8_t whole; /* 1: the present window must be read whole, even if it has too many records */
} slp_search_back;

/* Chooses the first window, which is one second long. */
void slp_search_back_begin(slp_search_back *s, int64_t now_ms);
/* Called when the present window had too few records; chooses a longer one. A window is four times as long as
 * the one before, up to two hours; then comes the window that begins at the oldest record. If a window had
 * too many records, lengths between that window and the longest with too few records are tried. Returns 1, or
 * 0 if the present window is the last one. */
int slp_search_back_further(slp_search_back *s);
/* Called when the present window had more records than a search should read; chooses a shorter one. If no
 * length is left between this window and the longest with too few records, sets `whole`. */
void slp_search_back_nearer(slp_search_back *s);

#endif
