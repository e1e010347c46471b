/* watch_view.h - lays out what --watch shows: a screen with a given number of lines, or a block of plain
 * text. */
#ifndef SLP_CLI_WATCH_VIEW_H
#define SLP_CLI_WATCH_VIEW_H

#include "base/buf.h"
#include "cli/watch_past.h"
#include "cli/watch_ui.h"

#include <sloop_admin.h>

typedef struct slp_watch_news { /* the result of a poll, and what is shown with it */
  const char *stream, *app;
  /* how the workers get records, and why; NULL: the registered consumers were not asked for */
  const char *retrieval;
  const sloop_leases_t *leases;
  slp_watch_past *past; /* borrowed; the result of this poll is already in it */
  int64_t wall_ms;      /* wall-clock time of the poll */
  int64_t local_ms;     /* how far local time is ahead of UTC */
  uint64_t now_ms;      /* time of the poll by the monotonic clock */
  uint64_t throttled;   /* how many of this command's calls the table has throttled so far */
  uint32_t every_ms;    /* time between two polls */
  /* What the user has chosen by keys. The view changes ui->shard and ui->top so that they stay within what is
   * shown. NULL: the screen has no styles and no keys. */
  slp_watch_ui *ui;
  const char *why; /* page WHY: the text of --explain; NULL: it has not come */
  int64_t red_ms;  /* a lag of this or more is red; 0: the default limit */
} slp_watch_news;

/* Writes `rows` lines of at most `columns` characters, with a newline between them but not after the last
 * line. utf8: 1 to draw bars with block characters, 0 with ASCII. If there is no room for all leases, those
 * in trouble or far behind come first, and one line sums up the others. With `ui`, the text has bytes of
 * styles (watch_style.h), which take no column. Returns 0 or the error of b, like all functions here that
 * return int. */
int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8);
/* Writes why a poll failed, for the last line of the screen. The text is cut to `columns` characters and
 * has no control characters. */
int slp_watch_trouble(slp_buf *b, const char *why, uint32_t columns);
/* Writes everything that --watch shows as a block of plain text, for a file or a pipe. */
int slp_watch_block(slp_buf *b, const slp_watch_news *n);

/* Returns the length of the bar for a lag, at most `full`. The scale is logarithmic, from 100 ms to a day.
 * Returns 0 if there is no lag, or if the lag is not known. */
uint32_t slp_watch_bar(int64_t lag_ms, uint32_t full);

#endif
