/* read_positions.c - reads the position of every shard from the rows of a table that no worker uses at that
 * time. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "host/host.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>
#include <stdio.h>

static void change(slp_admin *a, slp_str word) {
  if (a->changing) return;
  a->changing = 1;
  snprintf(a->changing_word, sizeof a->changing_word, "%.*s", (int)word.n, word.n ? word.p : "");
}

static void see_load(slp_admin *a, const slp_load_row *row) {
  if (row->wall_s <= a->load.wall_s) return;
  a->load.alive = a->load.passes > 0;
  a->load.wall_s = row->wall_s;
  a->load.worker = slp_admin_keep(a, row->worker);
  a->load.seen_us = slp_now_us(a->o.host);
}

/* Looks for rows of KCL 3 that say which rules the workers follow, and in which tables other rows are. If
 * that is changing, or can't be understood, the positions may be in other rows than those that were read. */
static void see(slp_admin *a, const slp_parsed_row *row) {
  if (row->kind == SLP_ROW_VERSION) {
    slp_version is = row->u.version.is;
    if (is == SLP_VERSION_UPGRADE || is == SLP_VERSION_UNKNOWN) change(a, row->u.version.word);
  } else if (row->kind == SLP_ROW_PLACES) {
    slp_places is = row->u.places.is;
    if (is == SLP_PLACES_MOVING || is == SLP_PLACES_UNKNOWN) change(a, row->u.places.word);
  } else if (row->kind == SLP_ROW_LOAD) {
    see_load(a, &row->u.load);
  }
}

void slp_admin_see_rules(slp_admin *a, const slp_store_rows *rows) {
  slp_parsed_row row;
  for (size_t i = 0; i < rows->n; i++) {
    slp_schema_read_row(a->schema, &rows->rows[i], &row);
    see(a, &row);
  }
}

void slp_admin_survey(slp_admin *a) {
  if (a->changing) {
    slp_admin_failed(a, SLP_ADMIN_CHANGING, SLP_REFUSED, SLOOP_ELEASE, slp_str_of(a->changing_word));
    return;
  }
  if (!slp_admin_is_quiet(a)) return;
  if (!a->snapshot.leases_n && !a->snapshot.bad_n) {
    slp_admin_failed(a, SLP_ADMIN_NO_LEASES, SLP_REFUSED, SLOOP_ELEASE, (slp_str){NULL, 0});
    return;
  }
  slp_placed_of_rows(a);
  slp_placed_fill(a);
  if (a->starved)
    slp_admin_no_memory(a);
  else
    slp_admin_finish(a);
}
