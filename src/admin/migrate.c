/* migrate.c - copies the positions of a stream from a lease table or a token to a lease table or a token. */
#include "admin/migrate.h"

#include "admin/command.h"
#include "admin/command_inside.h"
#include "admin/positions.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/position.h"

#include <sloop.h>
#include <sloop_admin.h>

#define TOKEN_BYTES_MAX (UINT64_C(64) << 20)

struct slp_migrate {
  slp_mem *mem; /* a reference is held */
  slp_migrate_opts o;
  char *token;       /* the token of `from`; owned; NULL: `from` is a table */
  slp_admin *survey; /* the command that reads `from`; NULL: `from` is a token */
  slp_admin *import; /* the command that writes `to`; NULL: not started yet, or `to` is a token */
  slp_admin *last;   /* `survey` or `import`: the command that the result is about */
  slp_buf text;      /* the token for `to` */
  /* what was done, or would be done, with each position; NULL: not known yet */
  sloop_migration_t *told;
};

/* ---- the report --------------------------------------------------------------------------------------- */

static sloop_move_kind_t kind_of(slp_import_row row) {
  switch (row) {
    case SLP_IMPORT_MISSING:
    case SLP_IMPORT_SENT: return SLOOP_MOVE_TO_DO;
    case SLP_IMPORT_MADE: return SLOOP_MOVE_DONE;
    case SLP_IMPORT_THERE: return SLOOP_MOVE_WAS_SO;
    case SLP_IMPORT_DIFFERS: return SLOOP_MOVE_DIFFERS;
    case SLP_IMPORT_PARKED: return SLOOP_MOVE_PARKED;
    case SLP_IMPORT_BAD: return SLOOP_MOVE_BAD_SOURCE;
    case SLP_IMPORT_NO_TIME: return SLOOP_MOVE_NO_TIME;
    case SLP_IMPORT_START: return SLOOP_MOVE_START;
    case SLP_IMPORT_POSITION: return SLOOP_MOVE_POSITION;
    case SLP_IMPORT_EXTRA: return SLOOP_MOVE_EXTRA;
    case SLP_IMPORT_BAD_TARGET: return SLOOP_MOVE_BAD_TARGET;
    case SLP_IMPORT_FOREIGN: return SLOOP_MOVE_FOREIGN;
  }
  return SLOOP_MOVE_POSITION;
}

static sloop_move_t move_of(slp_admin *a, const slp_placed *p) {
  return (sloop_move_t){.shard = slp_admin_text(a, p->shard),
                        .kind = SLOOP_MOVE_TO_DO,
                        .from = slp_admin_position(a, p->shard, &p->position),
                        .filled = p->filled,
                        .why = p->bad ? p->bad : ""};
}

static sloop_move_t odd_of(slp_admin *a, const slp_import_odd *o) {
  return (sloop_move_t){.shard = slp_admin_text(a, o->name),
                        .kind = kind_of(o->what),
                        .to = slp_admin_position(a, o->name, &o->position),
                        .why = o->why};
}

/* Returns why a position can't be in a token; SLOOP_MOVE_TO_DO: it can. */
static sloop_move_kind_t of_token(const slp_placed *p) {
  if (p->bad) return SLOOP_MOVE_BAD_SOURCE;
  if (p->parked) return SLOOP_MOVE_PARKED;
  return p->position.kind == SLP_POSITION_TIME && p->position.at_ms <= 0 ? SLOOP_MOVE_NO_TIME
                                                                         : SLOOP_MOVE_TO_DO;
}

static int is_problem(sloop_move_kind_t kind) { return kind >= SLOOP_MOVE_DIFFERS; }

/* Makes m->told: all positions that are copied, and the rows that keep them from being copied. */
static void make_migration_result(slp_migrate *m, slp_admin *a) {
  const slp_placed_list *list = slp_admin_placed(a);
  size_t odd = 0;
  while (slp_import_odd_of(a, odd)) odd++;
  sloop_migration_t *told = slp_admin_room(a, sizeof *told);
  sloop_move_t *all = slp_admin_room(a, (list->n + odd + 1) * sizeof *all);
  const sloop_move_t **at = slp_admin_room(a, (list->n + odd + 1) * sizeof(const sloop_move_t *));
  if (!told || !all || !at) return;
  size_t n = 0;
  for (size_t i = 0; i < list->n; i++, n++) {
    slp_position to;
    all[n] = move_of(a, &list->all[i]);
    if (slp_import_begun(a)) {
      all[n].kind = kind_of(slp_import_row_of(a, i, &to));
      all[n].to = slp_admin_position(a, list->all[i].shard, &to);
    } else {
      all[n].kind = of_token(&list->all[i]);
      all[n].to = all[n].from;
    }
  }
  for (size_t i = 0; i < odd; i++, n++) all[n] = odd_of(a, slp_import_odd_of(a, i));
  *told = (sloop_migration_t){.moves = at, .moves_n = n, .token = "", .wrote = slp_import_wrote(a)};
  for (size_t i = 0; i < n; i++) {
    at[i] = &all[i];
    told->problems_n += (size_t)is_problem(all[i].kind);
  }
  m->told = told;
}

static void finish_migration(slp_migrate *m, slp_admin *last) {
  m->last = last;
  m->o.on_done(m, m->o.arg); /* the last statement, because on_done may free m */
}

/* ---- to rows ------------------------------------------------------------------------------------------ */

static void on_import_done(slp_admin *a, void *arg) {
  slp_migrate *m = arg;
  if (slp_import_begun(a)) make_migration_result(m, a);
  if (a->starved) slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  finish_migration(m, a);
}

static int begin_import(slp_migrate *m) {
  slp_admin_opts o = {.host = m->o.host,
                      .source = m->o.source,
                      .open = m->o.to.open,
                      .ctx = m->o.to.ctx,
                      .lease_ms = m->o.lease_ms,
                      .task = SLP_ADMIN_IMPORT,
                      .apply = m->o.apply,
                      .whole = m->o.whole,
                      .several = m->o.to.several,
                      .on_done = on_import_done,
                      .arg = m};
  if (m->survey)
    o.placed = *slp_admin_placed(m->survey);
  else
    o.token = (slp_str){m->token, m->o.from.token.n};
  return slp_admin_new(&m->import, m->mem, &o);
}

/* ---- to a token --------------------------------------------------------------------------------------- */

static void make_token(slp_migrate *m, slp_admin *a) {
  make_migration_result(m, a);
  if (m->told && m->told->problems_n) {
    a->why.left = m->told->problems_n;
    slp_admin_note(a, SLP_ADMIN_IN_THE_WAY, SLP_REFUSED, SLOOP_ELEASE);
    return;
  }
  int r = m->told ? slp_placed_token(a, &m->text) : SLP_ENOMEM;
  if (!r) m->told->token = slp_buf_z(&m->text);
  if (r == SLOOP_ELEASE)
    slp_admin_note(a, SLP_ADMIN_NOTHING_LEFT, SLP_REFUSED, r);
  else if (r)
    slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
}

/* ---- from rows ---------------------------------------------------------------------------------------- */

static void on_survey_done(slp_admin *a, void *arg) {
  slp_migrate *m = arg;
  int fine = slp_admin_fail(a)->class == SLP_FINE;
  if (fine && m->o.to.open) {
    if (begin_import(m) == 0) return;
    slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  } else if (fine) {
    make_token(m, a);
  }
  finish_migration(m, a);
}

static int begin_survey(slp_migrate *m) {
  slp_admin_opts o = {.host = m->o.host,
                      .source = m->o.source,
                      .open = m->o.from.open,
                      .ctx = m->o.from.ctx,
                      .lease_ms = m->o.lease_ms,
                      .task = SLP_ADMIN_SURVEY,
                      .in_use = m->o.from.in_use,
                      .on_done = on_survey_done,
                      .arg = m};
  return slp_admin_new(&m->survey, m->mem, &o);
}

/* ---- creating and freeing ----------------------------------------------------------------------------- */

int slp_migrate_new(slp_migrate **ret, slp_mem *mem, const slp_migrate_opts *o) {
  slp_migrate *m = SLP_NEW(mem, slp_migrate);
  if (!m) return SLP_ENOMEM;
  m->mem = slp_mem_hold(mem);
  m->o = *o;
  slp_buf_init(&m->text, mem, TOKEN_BYTES_MAX);
  int r = 0;
  if (!o->from.open && !(m->token = slp_strdup(mem, o->from.token))) r = SLP_ENOMEM;
  if (!r) r = o->from.open ? begin_survey(m) : begin_import(m);
  if (r) slp_migrate_free(m);
  *ret = r ? NULL : m;
  return r;
}

void slp_migrate_stop(slp_migrate *m) {
  if (!m) return;
  slp_admin_stop(m->survey);
  slp_admin_stop(m->import);
  if (m->import && !m->told && slp_import_begun(m->import)) make_migration_result(m, m->import);
}

void slp_migrate_free(slp_migrate *m) {
  if (!m) return;
  slp_mem *mem = m->mem;
  slp_admin_free(m->import);
  slp_admin_free(m->survey);
  slp_buf_free(&m->text);
  slp_free(mem, m->token);
  slp_free(mem, m);
  slp_mem_drop(mem);
}

const slp_fail *slp_migrate_fail(const slp_migrate *m) { return slp_admin_fail(m->last); }
slp_admin_why slp_migrate_reason_of(const slp_migrate *m) { return slp_admin_reason_of(m->last); }
int slp_migrate_at_target(const slp_migrate *m) { return m->last == m->import; }
const sloop_migration_t *slp_migrate_told(const slp_migrate *m) { return m->told; }
