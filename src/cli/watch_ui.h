/* watch_ui.h - what the user of --watch has chosen by keys: the page, the order of shards, a filter, a shard.
 * Pure: watch.c gives it the bytes that are typed, and watch_view.c draws what it says.
 *
 *     SHARDS --/--> TYPING --Enter, Esc--> SHARDS
 *     SHARDS --w--> WORKERS --w, Esc--> SHARDS
 *     SHARDS --Enter--> WHY --Esc--> SHARDS
 *     SHARDS, WORKERS, WHY --?--> HELP --any key--> the page before */
#ifndef SLP_CLI_WATCH_UI_H
#define SLP_CLI_WATCH_UI_H

#include "base/base.h"

typedef enum slp_watch_page {
  SLP_WATCH_SHARDS,  /* shards, workers and moves */
  SLP_WATCH_TYPING,  /* the same, while a filter is typed */
  SLP_WATCH_WORKERS, /* workers alone */
  SLP_WATCH_WHY,     /* why a shard is read or not: the text of --explain */
  SLP_WATCH_HELP     /* the keys */
} slp_watch_page;

typedef enum slp_watch_sort {
  SLP_SORT_URGENT, /* by id if all shards fit, otherwise those in trouble and far behind first */
  SLP_SORT_LAG,
  SLP_SORT_SHARD,
  SLP_SORT_WORKER,
  SLP_SORT_RATE, /* by the rate of the shard's owner */
  SLP_SORTS
} slp_watch_sort;

#define SLP_WATCH_FILTER_BYTES 40u

typedef struct slp_watch_ui {
  slp_watch_page page;
  slp_watch_page before; /* HELP: the page to go back to */
  slp_watch_sort sort;
  uint8_t has_keys; /* 1: keys are read; set by the caller */
  uint8_t quit;     /* 1: q was typed */
  uint8_t picks;    /* 1: a shard was chosen by an arrow key, so it is shown in reverse */
  char filter[SLP_WATCH_FILTER_BYTES +
              1];   /* only shards and workers whose line contains it are shown; "": all */
  char shard[129];  /* the shard that Enter opens; "": there is none. The view keeps it among those shown */
  int32_t step;     /* by how many lines the choice, or a text, is to move; the view sets it to 0 */
  size_t top;       /* first line that is shown of a list or a text; kept by the view */
  char sequence[8]; /* bytes of a key that has not come as a whole, such as an arrow */
  uint8_t sequence_n;
} slp_watch_ui;

/* Takes the bytes of keys. Unknown keys are passed over. */
void slp_watch_ui_take(slp_watch_ui *u, const char *p, size_t n);
/* To be called when no byte came for a moment: an Esc that is the beginning of nothing is the key Esc. */
void slp_watch_ui_settle(slp_watch_ui *u);
const char *slp_watch_sort_word(slp_watch_sort sort); /* returns a static word, such as "lag" */

#endif
