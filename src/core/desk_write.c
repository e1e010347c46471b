/* desk_write.c - the desk's writes, some at a time. What becomes of one that got no answer is found out by
 * looking at the row again, so nothing here is sent twice. */
#include "core/desk_inside.h"

#include <stdio.h>

void slp_desk_writes_init(slp_desk *d) {
  for (size_t i = 0; i < SLP_DESK_WRITES; i++) {
    slp_desk_slot *s = &d->slots[i];
    s->desk = d;
    slp_draft_init(&s->d, d->mem, &s->w);
    slp_store_rows_init(&s->w.image, d->mem);
  }
}

void slp_desk_writes_stop(slp_desk *d) {
  for (size_t i = 0; i < SLP_DESK_WRITES; i++) d->store->ops->cancel(d->store, &d->slots[i].w.rq);
  d->busy_n = 0;
}

void slp_desk_writes_free(slp_desk *d) {
  for (size_t i = 0; i < SLP_DESK_WRITES; i++) {
    slp_draft_free(&d->slots[i].d);
    slp_store_rows_free(&d->slots[i].w.image);
  }
}

static void written(slp_store_req *rq) {
  slp_desk_slot *s = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), slp_desk_slot, w);
  s->busy = 0;
  s->desk->busy_n--;
  s->on_done(s);
}

int slp_desk_has(const slp_desk *d, slp_verb verb) { return (d->schema->verbs >> verb & 1) != 0; }

int slp_desk_write(slp_desk *d, slp_intent *i, size_t about, void (*on_done)(slp_desk_slot *slot)) {
  char op[48];
  slp_desk_slot *s = d->slots;
  while (s < d->slots + SLP_DESK_WRITES && s->busy) s++;
  if (s == d->slots + SLP_DESK_WRITES) return SLP_ENOBUFS;
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
