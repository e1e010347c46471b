/* watch_rows.h - the shards that --watch shows, filtered and in the order that the user has chosen. */
#ifndef SLP_CLI_WATCH_ROWS_H
#define SLP_CLI_WATCH_ROWS_H

#include "base/mem.h"
#include "cli/lease_words.h"
#include "cli/watch_ui.h"

#include <sloop_admin.h>

typedef struct slp_watch_row {
  const sloop_lease_t *lease;  /* borrowed */
  const sloop_worker_t *owner; /* borrowed; NULL: the owner has no row, or there is none */
  slp_lease_mood mood;
  slp_lease_lag lag; /* of an ended shard 0 */
} slp_watch_row;

typedef struct slp_watch_rows {
  slp_mem *mem;
  slp_watch_row *row; /* owned */
  size_t n;
} slp_watch_rows;

/* Makes the rows of the leases that the filter of `ui` allows, by id. ui NULL: all. Returns 0 or SLP_ENOMEM.
 * */
int slp_watch_rows_make(slp_watch_rows *r, slp_mem *mem, const sloop_leases_t *leases, int64_t wall_ms,
                        const slp_watch_ui *ui_or_null);
/* Sorts the rows. */
void slp_watch_rows_sort(slp_watch_rows *r, slp_watch_sort sort);
/* Moves the choice of `ui` by its step, and its first line so that the choice is among `lines` lines. If
 * nothing is chosen, the first row is the one that Enter opens. */
void slp_watch_rows_choose(const slp_watch_rows *r, slp_watch_ui *ui, size_t lines);
void slp_watch_rows_free(slp_watch_rows *r);

/* Returns 1 if the text contains the filter; upper and lower case count as the same. */
int slp_watch_matches(const char *text, const char *filter);

#endif
