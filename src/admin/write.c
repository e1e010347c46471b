/* desk_write.c - the desk's writes, some at a time. What becomes of one that got no answer is found out by
 * looking at the row again, so nothing here is sent twice. */
#include "admin/admin_inside.h"

#include <stdio.h>

void slp_admin_writes_init(slp_admin *d) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    slp_admin_slot *s = &d->slots[i];
    s->admin = d;
    slp_row_request_init(&s->d, d->mem, &s->w);
    slp_store_rows_init(&s->w.image, d->mem);
  }
}

void slp_admin_writes_stop(slp_admin *d) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) d->store->ops->cancel(d->store, &d->slots[i].w.rq);
  d->busy_n = 0;
}

void slp_admin_writes_free(slp_admin *d) {
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    slp_row_request_free(&d->slots[i].d);
    slp_store_rows_free(&d->slots[i].w.image);
  }
}

static void written(slp_store_req *rq) {
  slp_admin_slot *s = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), slp_admin_slot, w);
  s->busy = 0;
  s->admin->busy_n--;
  s->on_done(s);
}

int slp_admin_has(const slp_admin *d, slp_operation_kind kind) {
  return (d->schema->operations >> kind & 1) != 0;
}

int slp_admin_write(slp_admin *d, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot)) {
  char op[48];
  slp_admin_slot *s = d->slots;
  while (s < d->slots + SLP_ADMIN_WRITES && s->busy) s++;
  if (s == d->slots + SLP_ADMIN_WRITES) return SLP_ENOBUFS;
  int n = snprintf(op, sizeof op, "%s-%llu", d->me, (unsigned long long)++d->serial);
  i->op = (slp_str){op, (size_t)n};
  i->wall_ms = slp_wall_ms(d->o.host);
  i->behind_ms = i->rate_bytes = -1;
  int r = d->schema->write(d->schema, &s->d, i);
  if (r) return r;
  memset(&s->w.rq, 0, sizeof s->w.rq);
  s->w.rq.on_done = written;
  s->about = about;
  s->on_done = on_done;
  s->busy = 1;
  d->busy_n++;
  d->store->ops->write(d->store, &s->w);
  return 0;
}
