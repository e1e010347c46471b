/* create_rows.c - creates rows for given positions, in a table that no worker uses at that time. The work is
 * done in rounds. Every round reads all rows and compares them with the positions. A row is in the way if it
 * has another position, if no position is given for its shard, or if it can't be read. If a row is in the
 * way, nothing is written. Otherwise the missing rows are created, each on the condition that it does not
 * exist. The next round shows which writes were made. If a command was interrupted, the next command writes
 * the rows that are still missing. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "admin/positions.h"
#include "base/fail.h"
#include "core/position.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>

#define ROUNDS_MAX 8u

struct slp_import {
  slp_import_row *rows; /* what became of each position; as many elements as `placed` */
  /* the positions in the form that rows of the target can hold; as many elements as `placed` */
  slp_position *to;
  slp_import_odd *odd; /* rows of the target that keep this command from writing; in `keep` */
  size_t odd_n;
  /* index in `placed` of the next row to write */
  size_t write_at;
  uint32_t rounds;
};

/* ---- which positions a row can hold ------------------------------------------------------------------- */

static void operation_of(const slp_admin *a, const slp_placed *p, const slp_position *to,
                         const slp_str *children, size_t n, slp_operation *i) {
  const slp_admin_shard *listed = slp_admin_listed(a, p->shard);
  *i = (slp_operation){.kind = SLP_OPERATION_CREATE,
                       .shard = p->shard,
                       .position = *to,
                       .parents = {p->parents[0], p->parents[1]},
                       .hash_start = p->hash_start,
                       .hash_end = p->hash_end,
                       .seq_start = listed ? listed->seq_start : (slp_str){NULL, 0},
                       .shards = children,
                       .shards_n = n};
}

/* Makes the row that the write `d` would create, and reads it as if it came from the table. Returns 1 if it
 * is the row of a lease. */
static int read_back(slp_admin *a, const slp_row_request *d, slp_parsed_row *ret) {
  slp_attr attrs[SLP_ROW_REQUEST_CHANGES + 2];
  slp_table_spec spec;
  size_t n = 0;
  a->schema->table(a->schema, "", &spec);
  attrs[n++] = (slp_attr){slp_str_of(spec.hash_name), {SLP_VAL_S, d->write->key.hash, NULL, 0}};
  if (spec.range_name)
    attrs[n++] = (slp_attr){slp_str_of(spec.range_name), {SLP_VAL_S, d->write->key.range, NULL, 0}};
  for (size_t i = 0; i < d->write->changes_n; i++) {
    const slp_change *c = &d->write->changes[i];
    if (c->kind == SLP_SET || c->kind == SLP_SET_IF_ABSENT) attrs[n++] = (slp_attr){c->name, c->val};
  }
  slp_row row = {attrs, n};
  slp_schema_read_row(a->schema, &row, ret);
  return ret->kind == SLP_ROW_LEASE;
}

/* Returns 1 if a row of the target can hold the position. Each layout can express only some positions. So a
 * row is built in memory and read, and its position is compared with the one that went in. */
static int can_hold(slp_admin *a, const slp_placed *p, const slp_position *to) {
  slp_store_write none = {.rq = {0}};
  slp_row_request request;
  slp_operation i;
  slp_parsed_row row;
  operation_of(a, p, to, NULL, 0, &i);
  slp_row_request_init(&request, a->mem, &none);
  int r = slp_admin_has(a, i.kind) ? slp_schema_write_row(a->schema, &request, &i) : SLP_EINVAL;
  if (r == SLP_ENOMEM) a->starved = 1;
  int same = !r && read_back(a, &request, &row) && slp_position_same(&row.u.lease.position, to);
  slp_row_request_free(&request);
  return same;
}

/* Converts a position to the form that rows of the target can hold. LATEST means: only records from now on.
 * If the layout has no word for LATEST, the position becomes the present time. */
static slp_import_row convert_for_target(slp_admin *a, const slp_placed *p, slp_position *to) {
  *to = p->position;
  if (p->bad) return SLP_IMPORT_BAD;
  if (p->parked) return SLP_IMPORT_PARKED;
  if (to->kind == SLP_POSITION_TIME && to->at_ms <= 0) return SLP_IMPORT_NO_TIME;
  if (can_hold(a, p, to)) return SLP_IMPORT_MISSING;
  if (a->o.whole && to->kind == SLP_POSITION_AFTER && !to->mark.sub) {
    /* layouts that have no index inside aggregates express "after the record" in this way */
    to->mark.sub = UINT32_MAX;
    return can_hold(a, p, to) ? SLP_IMPORT_MISSING : SLP_IMPORT_POSITION;
  }
  if (to->kind == SLP_POSITION_TIME || to->kind == SLP_POSITION_OLDEST) return SLP_IMPORT_START;
  if (to->kind != SLP_POSITION_LATEST) return SLP_IMPORT_POSITION;
  *to = (slp_position){.kind = SLP_POSITION_TIME, .at_ms = slp_admin_service_ms(a)};
  return can_hold(a, p, to) ? SLP_IMPORT_MISSING : SLP_IMPORT_START;
}

static int plan_import_rows(slp_admin *a) {
  size_t n = a->placed.n + 1;
  slp_import *m = slp_admin_room(a, sizeof *m);
  if (!m) return SLP_ENOMEM;
  m->rows = slp_admin_room(a, n * sizeof *m->rows);
  m->to = slp_admin_room(a, n * sizeof *m->to);
  if (!m->rows || !m->to) return SLP_ENOMEM;
  for (size_t i = 0; i < a->placed.n; i++) m->rows[i] = convert_for_target(a, &a->placed.all[i], &m->to[i]);
  a->import = m;
  return a->starved ? SLP_ENOMEM : 0;
}

/* ---- the rows of the target --------------------------------------------------------------------------- */

static void add_odd_row(slp_admin *a, slp_import_row what, slp_str name, const char *why,
                        const slp_position *at) {
  slp_import *m = a->import;
  slp_import_odd *o = &m->odd[m->odd_n++];
  *o = (slp_import_odd){.what = what, .name = slp_admin_keep(a, name), .why = why ? why : ""};
  if (at) o->position = *at;
}

/* Compares a row with the position given for its shard. Each row is compared only once. If no answer came to
 * the write of the row (SLP_IMPORT_SENT), the position in the row shows whether the write was made. */
static void compare_lease_row(slp_admin *a, const slp_lease_row *l) {
  slp_import *m = a->import;
  const slp_placed *p = slp_placed_find(&a->placed, l->shard);
  if (!p) {
    add_odd_row(a, SLP_IMPORT_EXTRA, l->shard, NULL, &l->position);
    return;
  }
  slp_import_row *row = &m->rows[p - a->placed.all];
  slp_position *to = &m->to[p - a->placed.all];
  if (*row != SLP_IMPORT_MISSING && *row != SLP_IMPORT_SENT) return;
  /* If LATEST was converted to a time, a row with any time is accepted, because an earlier command that was
   * interrupted wrote another time. */
  int time = p->position.kind == SLP_POSITION_LATEST && to->kind == SLP_POSITION_TIME &&
             l->position.kind == SLP_POSITION_TIME;
  if (time || slp_position_same(&l->position, to)) {
    *row = *row == SLP_IMPORT_SENT ? SLP_IMPORT_MADE : SLP_IMPORT_THERE;
  } else {
    *row = SLP_IMPORT_DIFFERS;
  }
  *to = l->position;
}

/* Judges one row of the target. The row of a lease is compared with the position given for its shard. A row
 * of another kind may be in the way. */
static void judge_target_row(slp_admin *a, const slp_row *from) {
  slp_parsed_row row;
  slp_schema_read_row(a->schema, from, &row);
  slp_str key = row.key.range.n ? row.key.range : row.key.hash;
  if (row.kind == SLP_ROW_LEASE) compare_lease_row(a, &row.u.lease);
  if (row.kind == SLP_ROW_BAD) add_odd_row(a, SLP_IMPORT_BAD_TARGET, key, row.why, NULL);
  if (row.kind == SLP_ROW_OTHER || (row.kind == SLP_ROW_ELSEWHERE && !a->o.several))
    add_odd_row(a, SLP_IMPORT_FOREIGN, key, NULL, NULL);
}

static void judge_all(slp_admin *a) {
  slp_import *m = a->import;
  m->odd_n = 0;
  m->odd = slp_admin_room(a, (a->rows.out.n + 1) * sizeof *m->odd);
  for (size_t i = 0; i < a->rows.out.n && m->odd; i++) judge_target_row(a, &a->rows.out.rows[i]);
}

static size_t count_import_rows(const slp_admin *a, int (*is)(slp_import_row row)) {
  size_t n = 0;
  for (size_t i = 0; i < a->placed.n; i++) n += (size_t)is(a->import->rows[i]);
  return n;
}

static int is_to_do(slp_import_row row) { return row == SLP_IMPORT_MISSING || row == SLP_IMPORT_SENT; }
static int is_made(slp_import_row row) { return row == SLP_IMPORT_MADE; }
static int is_problem(slp_import_row row) { return row >= SLP_IMPORT_DIFFERS; }

size_t slp_import_problems(const slp_admin *a) {
  return a->import ? count_import_rows(a, is_problem) + a->import->odd_n : 0;
}

slp_import_row slp_import_row_of(const slp_admin *a, size_t at, slp_position *ret_to) {
  *ret_to = a->import->to[at];
  return a->import->rows[at];
}

const slp_import_odd *slp_import_odd_of(const slp_admin *a, size_t at) {
  return a->import && at < a->import->odd_n ? &a->import->odd[at] : NULL;
}

void slp_import_count(const slp_admin *a, slp_admin_why *ret) {
  ret->made = count_import_rows(a, is_made);
  ret->placed = a->placed.n;
}

int slp_import_begun(const slp_admin *a) { return a->import != NULL; }

int slp_import_wrote(const slp_admin *a) { return a->why.wrote; }

/* ---- writing ------------------------------------------------------------------------------------------ */

static void write_on(slp_admin *a);

static void on_import_row_written(slp_admin_slot *slot) {
  slp_import *m = slot->admin->import;
  slp_admin_write_is_final(slot);
  /* Nothing is to be done if another process has created the row: the next round compares it with the
   * position. */
  if (slot->op.end == SLP_OUTCOME_DONE && slot->op.w.written == SLP_WRITTEN_YES)
    /* this command has created the row; from now on a worker may change its position */
    m->rows[slot->about] = SLP_IMPORT_MADE;
  write_on(slot->admin);
}

/* Finds the children of the shard in the stream's listing. Returns how many there are. */
static size_t children_of(const slp_admin *a, slp_str shard, slp_str ret[SLP_ADMIN_CHILDREN]) {
  size_t n = 0;
  for (size_t i = 0; i < a->shards_n && n < SLP_ADMIN_CHILDREN; i++)
    if (slp_str_eq(a->shards[i].parents[0], shard) || slp_str_eq(a->shards[i].parents[1], shard))
      ret[n++] = a->shards[i].id;
  return n;
}

static int write_one(slp_admin *a, size_t at) {
  const slp_placed *p = &a->placed.all[at];
  slp_str *children = slp_admin_room(a, SLP_ADMIN_CHILDREN * sizeof *children);
  slp_operation i;
  size_t n = children && p->position.kind == SLP_POSITION_END ? children_of(a, p->shard, children) : 0;
  operation_of(a, p, &a->import->to[at], children, n, &i);
  int r = slp_admin_write(a, &i, at, on_import_row_written);
  if (r) return r;
  a->import->rows[at] = SLP_IMPORT_SENT;
  a->why.wrote = 1;
  return 0;
}

static void write_on(slp_admin *a) {
  slp_import *m = a->import;
  for (; a->fail.class == SLP_FINE && m->write_at < a->placed.n; m->write_at++) {
    int r = is_to_do(m->rows[m->write_at]) ? write_one(a, m->write_at) : 0;
    if (r == SLP_ENOBUFS) return;
    if (r) slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  }
  if (a->busy_n) return;
  if (a->fail.class != SLP_FINE)
    slp_admin_finish(a);
  else
    slp_admin_read_in(a, m->rounds ? 50000 * m->rounds : 0);
}

void slp_import_write(slp_admin *a) {
  a->import->write_at = 0;
  write_on(a);
}

/* ---- a round ------------------------------------------------------------------------------------------ */

static void refuse_import(slp_admin *a) {
  a->why.left = slp_import_problems(a);
  /* why.all not 0: this command had written rows before another process put these rows in the way */
  a->why.all = a->why.wrote;
  slp_admin_failed(a, SLP_ADMIN_IN_THE_WAY, SLP_REFUSED, SLOOP_ELEASE, (slp_str){NULL, 0});
}

static void go_on(slp_admin *a) {
  size_t left = count_import_rows(a, is_to_do);
  if (!a->o.apply || !left) {
    slp_admin_finish(a);
  } else if (a->no_table) {
    slp_admin_move(a, SLP_ADMIN_PREPARING); /* creates the table, because no row is in the way */
  } else if (++a->import->rounds > ROUNDS_MAX) {
    a->why.left = left;
    a->why.all = a->placed.n;
    slp_admin_failed(a, SLP_ADMIN_SOME_UNCHANGED, SLP_REFUSED, SLOOP_ELEASE, (slp_str){NULL, 0});
  } else {
    slp_admin_move(a, SLP_ADMIN_WRITING);
  }
}

static int take_source(slp_admin *a) {
  if (!a->o.token.p) {
    a->placed = a->o.placed;
    return 0;
  }
  int r = slp_placed_of_token(a, a->o.token);
  if (!r) slp_placed_fill(a);
  return r;
}

void slp_admin_import(slp_admin *a) {
  if (a->changing) {
    slp_admin_failed(a, SLP_ADMIN_CHANGING, SLP_REFUSED, SLOOP_ELEASE, slp_str_of(a->changing_word));
    return;
  }
  int r = a->import ? 0 : take_source(a);
  if (!r && !a->import) r = plan_import_rows(a);
  if (r == SLP_ENOMEM || a->starved) {
    slp_admin_no_memory(a);
  } else if (r) {
    slp_admin_finish(a); /* a->fail or a->why says what is wrong */
  } else {
    judge_all(a);
    if (a->starved)
      slp_admin_no_memory(a);
    else if (slp_import_problems(a))
      refuse_import(a);
    else if (a->why.wrote && !count_import_rows(a, is_to_do))
      /* all rows were created; a worker that has started since continues from them */
      slp_admin_finish(a);
    else if (slp_admin_is_quiet(a))
      go_on(a);
  }
}
