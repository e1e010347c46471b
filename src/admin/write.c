/* write.c - a command's writes, some at a time. What became of one that got no answer is found out by reading
 * the rows again, so nothing here is sent twice. */
#include "admin/admin_inside.h"

#include <stdio.h>

void slp_admin_writes_init(slp_admin *a) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    slp_admin_slot *s = &a->slots[i];
    s->admin = a;
    slp_row_request_init(&s->d, a->mem, &s->w);
    slp_store_rows_init(&s->w.image, a->mem);
  }
}

void slp_admin_writes_stop(slp_admin *a) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) a->store->ops->cancel(a->store, &a->slots[i].w.rq);
  a->busy_n = 0;
}

void slp_admin_writes_free(slp_admin *a) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    slp_row_request_free(&a->slots[i].d);
    slp_store_rows_free(&a->slots[i].w.image);
  }
}

static void written(slp_store_req *rq) {
  slp_admin_slot *s = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), slp_admin_slot, w);
  s->busy = 0;
  s->admin->busy_n--;
  s->on_done(s);
}

int slp_admin_has(const slp_admin *a, slp_operation_kind kind) {
  return (a->schema->operations >> kind & 1) != 0;
}

int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot)) {
  char op[48];
  slp_admin_slot *s = a->slots;
  while (s < a->slots + SLP_ADMIN_WRITES && s->busy) s++;
  if (s == a->slots + SLP_ADMIN_WRITES) return SLP_ENOBUFS;
  int n = snprintf(op, sizeof op, "%s-%llu", a->me, (unsigned long long)++a->serial);
  i->op = (slp_str){op, (size_t)n};
  i->wall_ms = slp_wall_ms(a->o.host);
  i->behind_ms = i->rate_bytes = -1;
  int r = a->schema->write(a->schema, &s->d, i);
  if (r) return r;
  memset(&s->w.rq, 0, sizeof s->w.rq);
  s->w.rq.on_done = written;
  s->about = about;
  s->on_done = on_done;
  s->busy = 1;
  a->busy_n++;
  a->store->ops->write(a->store, &s->w);
  return 0;
}

int slp_admin_is_final(const slp_fail *f) {
  return f->class != SLP_FINE && f->class != SLP_THROTTLE && f->class != SLP_TRANSIENT;
}
