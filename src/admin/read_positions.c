/* read_positions.c - reads the position of every shard from the rows of a table. No worker may use the table
 * meanwhile, unless slp_admin_opts.in_use is 1. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "host/host.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>
#include <stdio.h>

static void note_rules_changing(slp_admin *a, slp_str word) {
  if (a->changing) return;
  a->changing = 1;
  snprintf(a->changing_word, sizeof a->changing_word, "%.*s", (int)word.n, word.n ? word.p : "");
}

static void see_sign(slp_admin *a, const slp_row_hint *hint) {
  if (hint->wall_s <= a->sign.wall_s) return;
  a->sign.alive = a->sign.passes > 0;
  a->sign.wall_s = hint->wall_s;
  a->sign.dead_s = hint->dead_s;
  a->sign.worker = slp_admin_keep(a, hint->worker);
  a->sign.seen_us = slp_now_us(a->o.host);
}

void slp_admin_see_hints(slp_admin *a, const slp_store_rows *rows) {
  if (!a->schema->hint) return;
  for (size_t i = 0; i < rows->n; i++) {
    slp_row_hint hint;
    a->schema->hint(a->schema, &rows->rows[i], &hint);
    if (hint.unsettled) note_rules_changing(a, hint.word);
    if (hint.worker.n) see_sign(a, &hint);
  }
}

void slp_admin_survey(slp_admin *a) {
  if (a->changing) {
    slp_admin_failed(a, SLP_ADMIN_CHANGING, SLP_REFUSED, SLOOP_ELEASE, slp_str_of(a->changing_word));
    return;
  }
  if (!a->o.in_use && !slp_admin_is_quiet(a)) return;
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
