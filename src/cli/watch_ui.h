/* watch_ui.h - what the user of --watch has chosen by keys: the page, the order of shards, a filter, a shard.
 * Pure: watch.c passes the bytes that are typed, and watch_view.c draws accordingly.
 *
 *     SHARDS --/--> TYPING --Enter, Esc--> SHARDS
 *     SHARDS --w--> WORKERS --w, Enter, Esc--> SHARDS
 *     SHARDS --Enter--> WHY --w, Enter, Esc--> SHARDS
 *     SHARDS, WORKERS, WHY --?, h--> HELP --any key but q--> the page before */
#ifndef SLP_CLI_WATCH_UI_H
#define SLP_CLI_WATCH_UI_H

#include "base/base.h"

typedef enum slp_watch_page {
  SLP_WATCH_SHARDS,  /* shards, workers and moves */
  SLP_WATCH_TYPING,  /* the same as SHARDS, while a filter is typed */
  SLP_WATCH_WORKERS, /* workers alone */
  SLP_WATCH_WHY,     /* why a shard is read or not: the text of --explain */
  SLP_WATCH_HELP     /* the keys */
} slp_watch_page;

typedef enum slp_watch_sort {
  SLP_SORT_URGENT, /* by id if all shards fit on the page; otherwise shards in trouble and far behind first */
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
  uint8_t picks;    /* 1: the user has chosen a shard by an arrow key; it is shown in reverse */
  /* only shards and workers whose id, state, owner or host contains this text are shown; "": all */
  char filter[SLP_WATCH_FILTER_BYTES + 1];
  /* the shard that Enter opens; "": there is none. The view sets it to a shard that is shown */
  char shard[129];
  /* by how many lines the view is to move the choice or the text; the view then sets it to 0 */
  int32_t step;
  size_t top;       /* number of the first line of the list or text that is shown; set by the view */
  char sequence[8]; /* bytes of an incomplete key, such as an arrow */
  uint8_t sequence_n;
} slp_watch_ui;

/* Handles the bytes of typed keys. Ignores unknown keys. */
void slp_watch_ui_take(slp_watch_ui *u, const char *p, size_t n);
/* To be called when no further byte has come for a moment. An Esc alone is then the key Esc; other incomplete
 * keys are dropped. */
void slp_watch_ui_settle(slp_watch_ui *u);
const char *slp_watch_sort_word(slp_watch_sort sort); /* returns a static word, such as "lag" */

#endif
