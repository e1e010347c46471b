/* watch_rows.h - the shards that --watch shows: filters them, and sorts them in the order that the user has
 * chosen. */
#ifndef SLP_CLI_WATCH_ROWS_H
#define SLP_CLI_WATCH_ROWS_H

#include "base/mem.h"
#include "cli/lease_words.h"
#include "cli/watch_ui.h"

#include <sloop_admin.h>

typedef struct slp_watch_row {
  const sloop_lease_t *lease; /* borrowed */
  /* borrowed; the owner's row; NULL: the owner has no row, or the lease has no owner */
  const sloop_worker_t *owner;
  slp_lease_mood mood;
  slp_lease_lag lag; /* 0 for an ended shard */
} slp_watch_row;

typedef struct slp_watch_rows {
  slp_mem *mem;
  slp_watch_row *row; /* owned */
  size_t n;
} slp_watch_rows;

/* Makes a row for each lease that matches the filter of `ui`, sorted by the shard's id. ui NULL: for all
 * leases. Returns 0 or SLP_ENOMEM. */
int slp_watch_rows_make(slp_watch_rows *r, slp_mem *mem, const sloop_leases_t *leases, int64_t wall_ms,
                        const slp_watch_ui *ui_or_null);
/* Sorts the rows. */
void slp_watch_rows_sort(slp_watch_rows *r, slp_watch_sort sort);
/* Moves the chosen shard of `ui` by ui->step rows. Then moves ui->top so that this shard is among the `lines`
 * lines that are shown. If the user has not chosen a shard, begins at the first row. */
void slp_watch_rows_choose(const slp_watch_rows *r, slp_watch_ui *ui, size_t lines);
void slp_watch_rows_free(slp_watch_rows *r);

/* Returns 1 if the text contains the filter; upper and lower case count as the same. */
int slp_watch_matches(const char *text, const char *filter);

#endif
