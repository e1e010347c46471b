/* row_writes.c - the writes of a command, several at the same time. Each is repeated until its outcome is
 * certain, as a worker's writes are (lease/write.c). After a write was refused, the command reads the rows
 * again to see what has changed. */
#include "admin/command_inside.h"
#include "base/fail.h"
#include "base/mutant.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/write.h"

#define TRIES_MAX 5u

void slp_admin_writes_init(slp_admin *a) {
  a->writes = (slp_writes){.mem = a->mem,
                           .host = a->o.host,
                           .name = &a->signature,
                           .absence = &a->absence,
                           .lease_ms = a->o.lease_ms};
  slp_writes_init(&a->writes);
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    slp_admin_slot *s = &a->slots[i];
    s->admin = a;
    slp_write_init(&s->op, &a->writes, s);
    s->op.tries_max = TRIES_MAX;
    s->op.ends_at_lasting = 1;
  }
}

void slp_admin_writes_open(slp_admin *a) {
  a->writes.store = a->store;
  a->writes.schema = a->schema;
}

void slp_admin_writes_stop(slp_admin *a) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) slp_write_stop(&a->slots[i].op);
  slp_writes_stop(&a->writes);
  a->busy_n = 0;
}

void slp_admin_writes_free(slp_admin *a) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) slp_write_free(&a->slots[i].op);
}

int slp_admin_write_in_doubt(const slp_write *op) {
  return (op->doubt && !SLP_MUTANT(doubt_forgotten)) || (op->end == SLP_OUTCOME_GIVEN_UP && op->reading);
}

static void on_row_write_done(slp_write *op) {
  slp_admin_slot *s = op->owner;
  slp_admin *a = s->admin;
  a->busy_n--;
  if (op->i.kind != SLP_OPERATION_NOTIFY && (op->end == SLP_OUTCOME_DONE || slp_admin_write_in_doubt(op)))
    a->may_have_changed = 1;
  s->on_done(s);
}

int slp_admin_has(const slp_admin *a, slp_operation_kind kind) {
  return slp_set_has(a->schema->operations, kind);
}

int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot)) {
  slp_admin_slot *s = a->slots;
  while (s < a->slots + SLP_ADMIN_WRITES && s->op.busy) s++;
  if (s == a->slots + SLP_ADMIN_WRITES) return SLP_ENOBUFS;
  s->op.i = *i;
  s->op.i.wall_ms = slp_wall_ms(a->o.host);
  s->op.i.behind_ms = s->op.i.rate_bytes = -1;
  int r = slp_write_build(&s->op);
  if (r) return r;
  s->about = about;
  s->on_done = on_done;
  a->busy_n++;
  slp_write_send(&s->op, on_row_write_done);
  return 0;
}

int slp_admin_write_is_final(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  const slp_fail *f = slp_write_fail(&slot->op);
  if (slot->op.end != SLP_OUTCOME_GIVEN_UP || !slp_class_lasts(f->class)) return 0;
  if (a->fail.class == SLP_FINE) a->fail = *f;
  return 1;
}
