/* watch_view.h - lays out what --watch shows: a screen with a given number of lines, or a block of plain
 * text. */
#ifndef SLP_CLI_WATCH_VIEW_H
#define SLP_CLI_WATCH_VIEW_H

#include "base/buf.h"
#include "cli/watch_past.h"

typedef struct slp_watch_news { /* what a poll found, and what is shown around it */
  const char *stream, *app;
  const char *retrieval; /* how the workers get records, and why; NULL: was not asked for */
  const sloop_leases_t *leases;
  slp_watch_past *past; /* borrowed, with this poll added */
  int64_t wall_ms;      /* time of the poll */
  int64_t local_ms;     /* how far local time is ahead of UTC */
  uint64_t now_ms;      /* time of the poll, by the monotonic clock */
  uint64_t throttled;   /* calls that the table has throttled so far */
  uint32_t every_ms;    /* how often the table is polled */
} slp_watch_news;

/* Writes `rows` lines of at most `columns` characters, with a newline between them but not after the last.
 * `utf8`: bars are made of block characters, otherwise of ASCII. If not all leases fit, those in trouble or
 * far behind come first, and the others are summed up in a line. Returns 0, or why b failed, as do all of
 * them. */
int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8);
/* Writes why a poll failed, for the last line of the screen: cut to `columns`, without control characters. */
int slp_watch_trouble(slp_buf *b, const char *why, uint32_t columns);
/* Writes everything as text, for a file or a pipe. */
int slp_watch_block(slp_buf *b, const slp_watch_news *n);

/* Returns the length of a lag's bar, at most `full`. The scale is logarithmic, from 100 ms to a day. 0: no
 * lag, or not known. */
uint32_t slp_watch_bar(int64_t lag_ms, uint32_t full);

#endif
