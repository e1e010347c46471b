/* desk.c - the way of every task: what stream is it, open its table, list its shards, read its rows, and then
 * the task's own. */
#include "admin/admin_inside.h"

#include "core/pace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIES_MAX 5u
#define TEXT_MAX (1u << 20)

/* ---- ending ------------------------------------------------------------------------------------------- */

static void on_done(slp_event *ev) {
  slp_admin *d = SLP_OWNER(ev, slp_admin, done_ev);
  d->o.on_done(d, d->o.arg); /* the last act: it may be gone now */
}

void slp_admin_finish(slp_admin *d) {
  if (d->starved && d->fail.class == SLP_FINE)
    slp_fail_set(&d->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for what is to be told of the leases");
  if (d->fail.class != SLP_FINE) d->answer = NULL;
  slp_post(d->o.host, &d->done_ev);
}

void slp_admin_failed(slp_admin *d, slp_class class, int code, const char *fmt, ...) {
  char text[sizeof d->fail.message];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  slp_fail_set(&d->fail, class, code, "%s", text);
  slp_admin_finish(d);
}

void slp_admin_no_memory(slp_admin *d) {
  slp_admin_failed(d, SLP_NOMEM, SLP_ENOMEM, "no memory to look at the leases");
}

static void fail_with(slp_admin *d, const slp_fail *f) {
  d->fail = *f;
  slp_admin_finish(d);
}

/* ---- again, later ------------------------------------------------------------------------------------- */

static void on_timer(slp_timer *t) {
  slp_admin *d = SLP_OWNER(t, slp_admin, timer);
  d->step(d);
}

void slp_admin_later(slp_admin *d, uint64_t us, void (*step)(slp_admin *d)) {
  d->step = step;
  slp_timer_set_reserved(d->o.host, &d->timer, slp_after_us(slp_now_us(d->o.host), us));
}

void slp_admin_again(slp_admin *d, const slp_fail *f) {
  int may = f->class == SLP_THROTTLE || f->class == SLP_TRANSIENT || f->class == SLP_BUSY;
  if (!may || ++d->tries >= TRIES_MAX) {
    fail_with(d, f);
    return;
  }
  uint32_t random = (uint32_t)slp_random_below(d->o.host, 1000);
  slp_admin_later(d, slp_pace_backoff_us(d->tries, f->class == SLP_THROTTLE, random), d->step);
}

/* ---- texts -------------------------------------------------------------------------------------------- */

void *slp_admin_room(slp_admin *d, size_t bytes) {
  void *p = slp_store_rows_get(&d->keep, bytes);
  if (!p) d->starved = 1;
  return p;
}

slp_str slp_admin_keep(slp_admin *d, slp_str s) {
  char *p = slp_admin_room(d, s.n + 1);
  if (p && s.n) memcpy(p, s.p, s.n);
  return (slp_str){p, s.n};
}

void slp_admin_say(slp_admin *d, const char *fmt, ...) {
  char line[1024];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  SLP_CHECK(n >= 0);
  size_t before = d->text.n, len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)line[i] < ' ' || line[i] == 127) line[i] = '?';
  int r = slp_buf_add(&d->text, line, len);
  if (!r) r = slp_buf_add_char(&d->text, '\n');
  if (r) slp_buf_cut(&d->text, before);
  if (r == SLP_ENOMEM) d->starved = 1;
}

size_t slp_admin_position_text(const slp_position *position, char out[200]) {
  const slp_mark *m = &position->mark;
  int n = 0;
  out[0] = 0;
  switch (position->kind) {
    case SLP_POSITION_NONE: break;
    case SLP_POSITION_OLDEST: n = snprintf(out, 200, "oldest"); break;
    case SLP_POSITION_LATEST: n = snprintf(out, 200, "latest"); break;
    case SLP_POSITION_TIME: n = snprintf(out, 200, "time:%lld", (long long)position->at_ms); break;
    case SLP_POSITION_AT:
      n = snprintf(out, 200, "at %.*s", (int)m->seq_n, m->seq);
      if (m->sub) n += snprintf(out + n, 200 - (size_t)n, " sub %u", (unsigned)m->sub);
      break;
    case SLP_POSITION_AFTER: /* of a record as a whole, or behind one of an aggregate's */
      n = snprintf(out, 200, "after %.*s", (int)m->seq_n, m->seq);
      if (m->sub != UINT32_MAX && m->sub)
        n += snprintf(out + n, 200 - (size_t)n, " sub %u", (unsigned)m->sub);
      break;
    case SLP_POSITION_END: n = snprintf(out, 200, "end"); break;
  }
  return (size_t)n;
}

/* ---- the rows ----------------------------------------------------------------------------------------- */

static void read_rows(slp_admin *d);

static void rows_done(slp_store_req *rq) {
  slp_admin *d = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_admin, rows);
  if (rq->fail.class != SLP_FINE) {
    d->troubled = 1;
    slp_admin_again(d, &rq->fail);
    return;
  }
  d->tries = 0;
  d->wall_ms = slp_wall_ms(d->o.host);
  if (slp_snapshot_make(&d->snapshot, d->schema, &d->rows.out)) {
    slp_admin_no_memory(d);
    return;
  }
  d->then(d);
}

static void read_rows(slp_admin *d) {
  d->step = read_rows;
  memset(&d->rows.rq, 0, sizeof d->rows.rq);
  d->rows.rq.on_done = rows_done;
  d->rows.consistent = 1;
  d->schema->scope(d->schema, &d->rows.hash, &d->rows.prefix);
  d->store->ops->list(d->store, &d->rows);
}

void slp_admin_read(slp_admin *d, void (*then)(slp_admin *d)) {
  d->then = then;
  d->tries = 0;
  read_rows(d);
}

static void first_look(slp_admin *d) {
  switch (d->o.task) {
    case SLP_ADMIN_LEASES: slp_admin_read(d, slp_admin_leases); return;
    case SLP_ADMIN_EXPLAIN: slp_admin_read(d, slp_admin_explain); return;
    case SLP_ADMIN_RELEASE: slp_admin_read(d, slp_admin_release); return;
    case SLP_ADMIN_RESET: slp_admin_read(d, slp_admin_reset); return;
  }
}

/* ---- the listing -------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_admin_shard *)a)->id, ((const slp_admin_shard *)b)->id);
}

const slp_admin_shard *slp_admin_listed(const slp_admin *d, slp_str id) {
  slp_admin_shard key = {.id = id};
  return d->shards_n && id.n ? bsearch(&key, d->shards, d->shards_n, sizeof key, by_id) : NULL;
}

static int keep_listing(slp_admin *d) {
  size_t n = d->list.shards_n;
  d->shards = slp_admin_room(d, (n ? n : 1) * sizeof *d->shards);
  if (!d->shards) return SLP_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const slp_shard_desc *from = &d->list.shards[i];
    slp_str ids[3] = {from->id, from->parent, from->adjacent_parent};
    for (int k = 0; k < 3; k++) {
      if (ids[k].n && !(ids[k] = slp_admin_keep(d, ids[k])).p) return SLP_ENOMEM;
    }
    d->shards[i] = (slp_admin_shard){.id = ids[0], .parents = {ids[1], ids[2]}, .open = from->seq_end.n == 0};
  }
  d->shards_n = n;
  if (n) qsort(d->shards, n, sizeof *d->shards, by_id);
  return 0;
}

static void listed(slp_src_req *rq) {
  slp_admin *d = SLP_OWNER(SLP_OWNER(rq, slp_src_list, rq), slp_admin, list);
  if (rq->date_ms >= 0) slp_svctime_learn(&d->service, rq->date_ms, rq->sent_us, rq->done_us);
  if (rq->fail.class != SLP_FINE) {
    slp_fail f = rq->fail;
    slp_admin_again(d, &f);
  } else if (keep_listing(d)) {
    slp_admin_no_memory(d);
  } else {
    first_look(d);
  }
}

static void list_shards(slp_admin *d) {
  d->step = list_shards;
  memset(&d->list, 0, sizeof d->list);
  d->list.rq.on_done = listed;
  d->o.source->ops->list(d->o.source, &d->list);
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static void prepared(slp_store_req *rq) {
  slp_admin *d = SLP_OWNER(SLP_OWNER(rq, slp_store_prepare, rq), slp_admin, prepare);
  if (rq->fail.class == SLP_GONE) { /* a desk makes no table: it would look as if nobody had any leases */
    slp_admin_failed(d, SLP_GONE, SLOOP_ELEASE, "%.200s: no worker of %.80s has begun yet", rq->fail.message,
                     d->describe.name);
  } else if (rq->fail.class != SLP_FINE) {
    slp_admin_again(d, &rq->fail);
  } else if (d->o.task == SLP_ADMIN_LEASES) {
    first_look(d);
  } else {
    d->tries = 0;
    list_shards(d);
  }
}

static void prepare(slp_admin *d) {
  d->step = prepare;
  memset(&d->prepare, 0, sizeof d->prepare);
  d->prepare.rq.on_done = prepared;
  d->store->ops->prepare(d->store, &d->prepare);
}

static void described(slp_src_req *rq) {
  slp_admin *d = SLP_OWNER(SLP_OWNER(rq, slp_src_describe, rq), slp_admin, describe);
  slp_fail f = rq->fail;
  if (f.class == SLP_FINE && !d->describe.ready)
    slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY, "the stream is not ready yet");
  if (f.class != SLP_FINE) {
    slp_admin_again(d, &f);
  } else if (d->o.open(d->o.ctx, &d->describe, &d->store, &d->schema, &f)) {
    fail_with(d, &f);
  } else {
    d->tries = 0;
    prepare(d);
  }
}

static void describe(slp_admin *d) {
  d->step = describe;
  memset(&d->describe, 0, sizeof d->describe);
  d->describe.rq.on_done = described;
  d->o.source->ops->describe(d->o.source, &d->describe);
}

/* ---- life --------------------------------------------------------------------------------------------- */

int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o) {
  slp_admin *d = SLP_NEW(mem, slp_admin);
  char *name = d && o->name.n ? slp_strdup(mem, o->name) : NULL;
  if (!d || (o->name.n && !name) || slp_host_reserve_timers(o->host, 1)) {
    slp_free(mem, name);
    slp_free(mem, d);
    return SLP_ENOMEM;
  }
  d->mem = slp_mem_hold(mem);
  d->o = *o;
  d->name = name;
  d->o.name = (slp_str){name, o->name.n};
  snprintf(d->me, sizeof d->me, "operator.%016llx", (unsigned long long)slp_random(o->host));
  d->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  d->done_ev.run = on_done;
  slp_buf_init(&d->text, mem, TEXT_MAX);
  slp_store_rows_init(&d->keep, mem);
  slp_map_init(&d->watched, mem);
  slp_store_rows_init(&d->rows.out, mem);
  slp_admin_writes_init(d);
  *ret = d;
  describe(d);
  return 0;
}

void slp_admin_free(slp_admin *d) {
  if (!d) return;
  slp_mem *mem = d->mem;
  slp_timer_clear(d->o.host, &d->timer);
  slp_unpost(&d->done_ev);
  d->o.source->ops->cancel(d->o.source, &d->describe.rq);
  d->o.source->ops->cancel(d->o.source, &d->list.rq);
  if (d->store) {
    d->store->ops->cancel(d->store, &d->prepare.rq);
    d->store->ops->cancel(d->store, &d->rows.rq);
    slp_admin_writes_stop(d);
    d->store->ops->close(d->store);
  }
  slp_admin_writes_free(d);
  if (d->schema) d->schema->free(d->schema);
  slp_host_unreserve_timers(d->o.host, 1);
  slp_store_rows_free(&d->rows.out);
  slp_map_free(&d->watched);
  slp_store_rows_free(&d->keep);
  slp_buf_free(&d->text);
  slp_free(mem, d->name);
  slp_free(mem, d);
  slp_mem_drop(mem);
}

const slp_fail *slp_admin_fail(const slp_admin *d) { return &d->fail; }
const char *slp_admin_text(slp_admin *d) { return slp_buf_z(&d->text); }
const sloop_leases_t *slp_admin_answer(const slp_admin *d) { return d->answer; }
