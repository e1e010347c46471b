/* watch_view.h - what --watch shows: a screen of exactly so many lines, or a block of plain text. */
#ifndef SLP_CLI_WATCH_VIEW_H
#define SLP_CLI_WATCH_VIEW_H

#include "base/buf.h"
#include "cli/watch_past.h"

typedef struct slp_watch_news { /* one look, and what is said around it */
  const char *stream, *app;
  const sloop_leases_t *leases;
  slp_watch_past *past;
  int64_t wall_ms;    /* of the look */
  int64_t local_ms;   /* how far local time is ahead of UTC */
  uint64_t now_ms;    /* of the monotonic clock */
  uint64_t throttled; /* looks that the table refused as too fast, in all */
  uint32_t every_ms;
} slp_watch_news;

/* `rows` lines of at most `columns` characters, joined by newlines, none after the last. `utf8`: bars are
 * made of blocks, else of ASCII. What does not fit is summed up; then what is in trouble or far behind comes
 * first.
 */
int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8);
/* Why a look failed, for the last of those lines: cut, and harmless. */
int slp_watch_trouble(slp_buf *b, const char *why, uint32_t columns);
/* All of it, for a file or a pipe. */
int slp_watch_block(slp_buf *b, const slp_watch_news *n);

/* How long a lag's bar is, of `full`: the scale is logarithmic, from 100 ms to a day. 0: none, or not known.
 */
uint32_t slp_watch_bar(int64_t lag_ms, uint32_t full);

#endif
