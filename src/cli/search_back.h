/* search_back.h - chooses how far to look back in time for the last N records of a stream. The stream can
 * only be read forwards, so each try reads a window: all that arrived from some moment until now. */
#ifndef SLP_CLI_SEARCH_BACK_H
#define SLP_CLI_SEARCH_BACK_H

#include "base/base.h"

typedef struct slp_search_back {
  int64_t now_ms; /* the moment at which all windows end */
  /* the moment at which the present window begins; 0: at the oldest record */
  int64_t at_ms;
  int64_t sparse_ms; /* the earliest moment from which on there are known to be too few records */
  int64_t dense_ms;  /* the latest moment from which on there are known to be too many to read; -1: none */
  uint8_t whole;     /* 1: the present window must be read whole, however many records it has */
} slp_search_back;

/* Chooses the first window, which is a second long. */
void slp_search_back_begin(slp_search_back *s, int64_t now_ms);
/* Chooses the next window after the present one had too few records. A window is four times as long as the
 * one before, up to two hours; then comes the one that begins at the oldest record. After a window that was
 * too dense, lengths are tried between it and the longest that had too few records. Returns 0 if the present
 * window had all records that there are. */
int slp_search_back_further(slp_search_back *s);
/* Chooses a shorter window after the present one had more records than a search should read. If there is none
 * between this window and one that had too few records, sets `whole`. */
void slp_search_back_nearer(slp_search_back *s);

#endif
