/* course.c - moves a command from state to state, and ends it. Also gives out the memory that lives as long
 * as the command.
 *
 * Every task calls this file. This file calls no task: what a state does is in the table `begin`, which
 * command.c sets. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/store.h"

/* ---- states ------------------------------------------------------------------------------------- */

static const slp_set allowed[SLP_ADMIN_STATES] = {
    [SLP_ADMIN_DESCRIBING] = SLP_BIT(SLP_ADMIN_PREPARING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_PREPARING] =
        SLP_BIT(SLP_ADMIN_LISTING) | SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_LISTING] = SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_READING] = SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_PREPARING) |
                          SLP_BIT(SLP_ADMIN_LOCATING) | SLP_BIT(SLP_ADMIN_EVICTING) |
                          SLP_BIT(SLP_ADMIN_WRITING) | SLP_BIT(SLP_ADMIN_NOTIFYING) |
                          SLP_BIT(SLP_ADMIN_MEASURING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_MEASURING] = SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_LOCATING] = SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_EVICTING) |
                           SLP_BIT(SLP_ADMIN_WRITING) | SLP_BIT(SLP_ADMIN_NOTIFYING) |
                           SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_EVICTING] =
        SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_NOTIFYING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_WRITING] =
        SLP_BIT(SLP_ADMIN_READING) | SLP_BIT(SLP_ADMIN_NOTIFYING) | SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_NOTIFYING] = SLP_BIT(SLP_ADMIN_ANSWERED),
    [SLP_ADMIN_ANSWERED] = 0,
};

/* Returns how many tables are read besides the table of leases (side tables). SURVEY and IMPORT read all of
 * them, because rows there may say which rules the workers follow. Other tasks read them only in layouts
 * whose workers have their rows there. */
static uint8_t count_side_tables(slp_admin *a) {
  int copies = a->o.task == SLP_ADMIN_SURVEY || a->o.task == SLP_ADMIN_IMPORT;
  slp_table_spec spec;
  uint8_t n = 0;
  if (!copies && !slp_admin_has_clients(a)) return 0;
  while (a->schema->side_table && a->schema->side_table(a->schema, (uint8_t)(n + 1), &spec)) n++;
  return n;
}

/* Changes the state. In READING, first drops the rows that were read before. */
static void enter_command_state(slp_admin *a, slp_admin_state to) {
  SLP_MOVE(allowed, a->state, to);
  a->tries = 0;
  if (to != SLP_ADMIN_READING) return;
  slp_store_rows_free(&a->beside);
  a->side = count_side_tables(a);
  a->part = 0;
  slp_store_rows_free(&a->parts);
}

void slp_admin_move(slp_admin *a, slp_admin_state to) {
  enter_command_state(a, to);
  a->begin[to](a);
}

void slp_admin_wait(slp_admin *a, uint64_t us) {
  slp_timer_set_reserved(a->o.host, &a->timer, slp_after_us(slp_now_us(a->o.host), us));
}

void slp_admin_read_in(slp_admin *a, uint64_t us) {
  enter_command_state(a, SLP_ADMIN_READING);
  slp_admin_wait(a, us);
}

/* ---- the end of a command ----------------------------------------------------------------------- */

void slp_admin_finish(slp_admin *a) { slp_admin_move(a, SLP_ADMIN_ANSWERED); }

void slp_admin_note(slp_admin *a, slp_admin_reason reason, slp_class class, int code) {
  if (a->fail.class != SLP_FINE) return;
  slp_fail_set(&a->fail, class, code, "%s", "");
  a->why.reason = reason;
}

void slp_admin_failed(slp_admin *a, slp_admin_reason reason, slp_class class, int code, slp_str name) {
  slp_admin_note(a, reason, class, code);
  a->why.name = slp_admin_keep(a, name);
  slp_admin_finish(a);
}

void slp_admin_no_memory(slp_admin *a) {
  slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  slp_admin_finish(a);
}

/* ---- memory ------------------------------------------------------------------------------------- */

void *slp_admin_room(slp_admin *a, size_t bytes) {
  void *p = slp_store_rows_get(&a->keep, bytes);
  if (!p) a->starved = 1;
  return p;
}

slp_str slp_admin_keep(slp_admin *a, slp_str s) {
  char *p = slp_admin_room(a, s.n + 1);
  if (p && s.n) memcpy(p, s.p, s.n);
  return (slp_str){p, p ? s.n : 0};
}

const char *slp_admin_text(slp_admin *a, slp_str s) {
  if (!s.n) return "";
  const char *p = slp_admin_keep(a, s).p;
  return p ? p : "";
}
