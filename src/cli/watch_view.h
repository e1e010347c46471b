/* watch_view.h - lays out --watch: a screen of exactly so many lines, or a block of plain text. */
#ifndef SLP_CLI_WATCH_VIEW_H
#define SLP_CLI_WATCH_VIEW_H

#include "base/buf.h"
#include "cli/watch_past.h"

typedef struct slp_watch_news { /* one poll, and the text around it */
  const char *stream, *app;
  const char *retrieval; /* how its workers get records, and why; NULL: not asked for */
  const sloop_leases_t *leases;
  slp_watch_past *past;
  int64_t wall_ms;    /* of the poll */
  int64_t local_ms;   /* how far local time is ahead of UTC */
  uint64_t now_ms;    /* of the monotonic clock */
  uint64_t throttled; /* polls that the table throttled, in all */
  uint32_t every_ms;
} slp_watch_news;

/* Writes `rows` lines of at most `columns` characters, joined by newlines, none after the last. `utf8`: bars
 * are made of blocks, else of ASCII. Rows that do not fit are summed up; then those in trouble or far behind
 * come first. */
int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8);
/* Writes why a poll failed, for the last of those lines: cut, and without control characters. */
int slp_watch_trouble(slp_buf *b, const char *why, uint32_t columns);
/* All of it, for a file or a pipe. */
int slp_watch_block(slp_buf *b, const slp_watch_news *n);

/* The length of a lag's bar, of `full`: the scale is logarithmic, from 100 ms to a day. 0: none, or not
 * known. */
uint32_t slp_watch_bar(int64_t lag_ms, uint32_t full);

#endif
