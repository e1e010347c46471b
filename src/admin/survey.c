/* survey.c - where every shard stands by the rows of a table that nobody works with. */
#include "admin/admin_inside.h"

#include <stdio.h>

/* Rows of KCL 3 say by which rules its workers go, and where its other rows are. While that changes, or when
 * its words are not known, what else the rows say may not be what counts. */
static void see(slp_admin *a, const slp_parsed_row *row) {
  slp_admin_rules found = SLP_ADMIN_RULES_KNOWN;
  slp_str word = {NULL, 0};
  if (row->kind == SLP_ROW_VERSION) {
    slp_version is = row->u.version.is;
    word = row->u.version.word;
    if (is == SLP_VERSION_LED) found = SLP_ADMIN_RULES_OTHER;
    if (is == SLP_VERSION_UPGRADE || is == SLP_VERSION_UNKNOWN) found = SLP_ADMIN_RULES_CHANGING;
  } else if (row->kind == SLP_ROW_PLACES) {
    slp_places is = row->u.places.is;
    word = row->u.places.word;
    if (is == SLP_PLACES_MOVING || is == SLP_PLACES_UNKNOWN) found = SLP_ADMIN_RULES_CHANGING;
  }
  if (found <= a->rules) return;
  a->rules = found;
  snprintf(a->rules_word, sizeof a->rules_word, "%.*s", (int)word.n, word.n ? word.p : "");
}

void slp_admin_see_rules(slp_admin *a, const slp_store_rows *rows) {
  slp_parsed_row row;
  for (size_t i = 0; i < rows->n; i++) {
    a->schema->read(a->schema, &rows->rows[i], &row);
    see(a, &row);
  }
}

void slp_admin_survey(slp_admin *a) {
  if (a->rules == SLP_ADMIN_RULES_CHANGING) {
    slp_admin_failed(a, SLP_ADMIN_CHANGING, SLP_REFUSED, SLOOP_ELEASE, slp_str_of(a->rules_word));
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
