/* layout_check.c - decides whether the rows of the table belong to this stream, as a worker does before it
 * joins (guest/entry.c). If no worker would read a row, a command does not copy, change or explain it
 * either. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/page.h"
#include "lease/schema.h"

#include <sloop.h>
#include <stdio.h>

static int fail_with(slp_admin *a, const char *why) {
  slp_fail_set(&a->fail, SLP_REFUSED, SLOOP_ELEASE, "schema %s: %s", a->schema->name, why);
  a->why.reason = SLP_ADMIN_TOLD;
  slp_admin_finish(a);
  return 1;
}

/* Returns 1 if the task compares the rows with the stream's shards. RELEASE does not, because an operator may
 * free a lease whatever its row says. IMPORT does not, because it reports each row that does not fit. */
static int task_compares_rows(const slp_admin *a) {
  return a->schema->is_other_streams && a->shards_n &&
         (a->o.task == SLP_ADMIN_EXPLAIN || a->o.task == SLP_ADMIN_SURVEY || a->o.task == SLP_ADMIN_RESET ||
          slp_admin_shows(a));
}

/* To be called if rows belong to another stream. If the command only shows rows, stores `text` for the
 * answer, and returns 0. Otherwise fails the command, and returns 1. */
static int say_or_fail(slp_admin *a, const char *text) {
  char line[480];
  if (!slp_admin_shows(a)) return fail_with(a, text);
  snprintf(line, sizeof line, "no worker joins these rows: %s", text);
  a->passed = slp_admin_keep(a, slp_str_of(line));
  return 0;
}

/* Fails the command if the rows are proven to belong to another stream. */
static int is_other_streams(slp_admin *a) {
  char text[400];
  slp_shard_desc *shards = slp_zalloc_n(a->mem, a->shards_n, sizeof *shards);
  if (!shards) {
    slp_admin_no_memory(a);
    return 1;
  }
  for (size_t i = 0; i < a->shards_n; i++) {
    const slp_admin_shard *s = &a->shards[i];
    shards[i] = (slp_shard_desc){
        .id = s->id, .hash_start = s->hash_start, .hash_end = s->hash_end, .seq_start = s->seq_start};
  }
  slp_stream_check check = {.leases = a->snapshot.leases,
                            .leases_n = a->snapshot.leases_n,
                            .shards = shards,
                            .shards_n = a->shards_n,
                            .corrects = a->o.task == SLP_ADMIN_RESET};
  int proven = a->schema->is_other_streams(&check, text, sizeof text);
  slp_free(a->mem, shards);
  return proven && say_or_fail(a, text);
}

/* Fails the command if a row belongs to another system. Commands that show rows, and IMPORT, do not fail
 * here: they report each such row. */
static int is_other_systems(slp_admin *a) {
  slp_parsed_row row;
  char text[400];
  if (slp_admin_shows(a) || a->o.task == SLP_ADMIN_IMPORT) return 0;
  for (size_t i = 0; i < a->rows.out.n; i++) {
    slp_schema_read_row(a->schema, &a->rows.out.rows[i], &row);
    if (row.kind != SLP_ROW_BAD || !row.foreign) continue;
    snprintf(text, sizeof text, "row %.*s of the table: %s", (int)slp_min_u64(row.key.hash.n, 128),
             row.key.hash.p, row.why);
    return fail_with(a, text);
  }
  return 0;
}

int slp_admin_decides_form(slp_admin *a) {
  slp_table_form form;
  if (is_other_systems(a)) return 1;
  if (!a->schema->form) return 0;
  a->schema->form(a->schema, &a->rows.out, &form);
  if (form.refused[0]) return fail_with(a, form.refused);
  a->passed = slp_admin_keep(a, slp_str_of(form.passed));
  return 0;
}

int slp_admin_is_other_streams(slp_admin *a) { return task_compares_rows(a) && is_other_streams(a); }
