/* typed_store.c - a worker's end of the typed seam: its table of leases. */
#include "swarm/typed_inside.h"

#include "sloop.h"
#include "store/table.h"

typedef struct typed_store {
  slp_store s;
  slp_mem *mem; /* the simulation's */
  slp_host *h;
  slp_table_spec *spec; /* owned */
} typed_store;

typedef struct call {
  typed_store *s;
  slp_store_req *rq;
  slp_typed_what what;
  slp_http http;
  slp_buf ask, into;
} call;

static void call_free(call *c) {
  c->rq->impl = NULL;
  slp_buf_free(&c->ask);
  slp_buf_free(&c->into);
  slp_free(c->s->mem, c);
}

/* ---- answers ------------------------------------------------------------------------------------------ */

static int take_rows(slp_msg *m, slp_store_rows *out) {
  slp_store_rows_free(out);
  return slp_msg_take_rows(m, out);
}

static int take_write(slp_store_write *w, slp_msg *m) {
  w->written = (slp_written)slp_msg_take_u64(m);
  w->image_known = (uint8_t)slp_msg_take_u64(m);
  return take_rows(m, &w->image);
}

static int take(call *c, slp_msg *m) {
  if (c->what == SLP_TYPED_GET) return take_rows(m, &SLP_OWNER(c->rq, slp_store_get, rq)->out);
  if (c->what == SLP_TYPED_SCAN) return take_rows(m, &SLP_OWNER(c->rq, slp_store_list, rq)->out);
  if (c->what == SLP_TYPED_WRITE) return take_write(SLP_OWNER(c->rq, slp_store_write, rq), m);
  SLP_OWNER(c->rq, slp_store_prepare, rq)->created = (uint8_t)slp_msg_take_u64(m);
  return 0;
}

static void not_sure(call *c) {
  if (c->what != SLP_TYPED_WRITE) return;
  slp_store_write *w = SLP_OWNER(c->rq, slp_store_write, rq);
  w->written = SLP_WRITTEN_NOT_SURE;
  w->image_known = 0;
  slp_store_rows_free(&w->image);
}

static void answered(slp_http *http) {
  call *c = SLP_OWNER(http, call, http);
  slp_store_req *rq = c->rq;
  rq->done_us = http->done_us;
  if (slp_typed_failure(http, &rq->fail) == SLP_FINE) {
    slp_msg m = slp_msg_of(slp_buf_str(http->into));
    int r = slp_msg_open(&m) ? SLP_EBADDATA : take(c, &m);
    if (r == SLP_ENOMEM)
      slp_fail_set(&rq->fail, SLP_NOMEM, r, "no memory for an answer");
    else if (r)
      slp_fail_set(&rq->fail, SLP_TRANSIENT, SLOOP_EPROTO, "an answer that can't be read");
    if (r) not_sure(c);
  } else {
    not_sure(c);
  }
  call_free(c);
  rq->on_done(rq);
}

/* ---- calls -------------------------------------------------------------------------------------------- */

static call *call_new(slp_store *store, slp_store_req *rq, slp_typed_what what) {
  typed_store *s = SLP_OWNER(store, typed_store, s);
  call *c = SLP_NEW(s->mem, call);
  char first = (char)what;
  rq->sent_us = slp_now_refresh_us(s->h);
  SLP_CHECK(c && !rq->impl);
  c->s = s;
  c->rq = rq;
  c->what = what;
  rq->impl = c;
  slp_buf_init(&c->ask, s->mem, SIZE_MAX / 2);
  slp_buf_init(&c->into, s->h->mem, SLP_PAGE_BYTES_MAX);
  SLP_CHECK(slp_buf_add(&c->ask, &first, 1) == 0);
  slp_msg_str(&c->ask, slp_str_of(s->spec->name));
  slp_msg_str(&c->ask, slp_str_of(s->spec->hash_name));
  slp_msg_str(&c->ask, slp_str_of(s->spec->range_name));
  c->http.lane = SLP_LANE_LEASES;
  c->http.method = "POST";
  c->http.url = SLP_TYPED_TABLES;
  c->http.into = &c->into;
  c->http.once = what == SLP_TYPED_WRITE;
  c->http.total_ms_max = rq->ms_max ? rq->ms_max : 10000;
  c->http.on_done = answered;
  return c;
}

static void send(call *c) {
  c->http.body = slp_buf_str(&c->ask);
  slp_http_send(c->s->h, &c->http);
}

static void op_prepare(slp_store *s, slp_store_prepare *rq) {
  call *c = call_new(s, &rq->rq, SLP_TYPED_PREPARE);
  slp_msg_u64(&c->ask, rq->create);
  send(c);
}

static void op_get(slp_store *s, slp_store_get *rq) {
  call *c = call_new(s, &rq->rq, SLP_TYPED_GET);
  slp_msg_u64(&c->ask, rq->consistent);
  slp_msg_u64(&c->ask, rq->keys_n);
  for (size_t i = 0; i < rq->keys_n; i++) {
    slp_msg_str(&c->ask, rq->keys[i].hash);
    slp_msg_str(&c->ask, rq->keys[i].range);
  }
  send(c);
}

static void op_list(slp_store *s, slp_store_list *rq) {
  call *c = call_new(s, &rq->rq, SLP_TYPED_SCAN);
  slp_msg_u64(&c->ask, rq->consistent);
  slp_msg_str(&c->ask, rq->hash);
  slp_msg_str(&c->ask, rq->prefix);
  send(c);
}

static void op_write(slp_store *s, slp_store_write *rq) {
  rq->written = SLP_WRITTEN_NOT_SURE;
  call *c = call_new(s, &rq->rq, SLP_TYPED_WRITE);
  slp_msg_str(&c->ask, rq->key.hash);
  slp_msg_str(&c->ask, rq->key.range);
  slp_msg_u64(&c->ask, (uint64_t)rq->kind);
  slp_msg_u64(&c->ask, rq->when_n);
  for (size_t i = 0; i < rq->when_n; i++) {
    slp_msg_str(&c->ask, rq->when[i].name);
    slp_msg_u64(&c->ask, (uint64_t)rq->when[i].test);
    slp_msg_val(&c->ask, &rq->when[i].val);
    slp_msg_u64(&c->ask, rq->when[i].or_next);
  }
  slp_msg_u64(&c->ask, rq->changes_n);
  for (size_t i = 0; i < rq->changes_n; i++) {
    slp_msg_str(&c->ask, rq->changes[i].name);
    slp_msg_u64(&c->ask, (uint64_t)rq->changes[i].kind);
    slp_msg_val(&c->ask, &rq->changes[i].val);
  }
  send(c);
}

static void op_cancel(slp_store *store, slp_store_req *rq) {
  call *c = rq->impl;
  slp_unpost(&rq->ev);
  if (!c) return;
  slp_http_cancel(SLP_OWNER(store, typed_store, s)->h, &c->http);
  call_free(c);
}

static void op_close(slp_store *store) {
  typed_store *s = SLP_OWNER(store, typed_store, s);
  slp_mem *mem = s->h->mem;
  slp_free(mem, s->spec);
  slp_free(mem, s);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

int slp_typed_store_new(slp_mem *mem, slp_host *h, const slp_table_spec *table, slp_store **ret) {
  typed_store *s = SLP_NEW(h->mem, typed_store);
  slp_table_spec *spec = s ? slp_table_copy(h->mem, table) : NULL;
  if (!spec) {
    slp_free(h->mem, s);
    return SLP_ENOMEM;
  }
  s->s.ops = &ops;
  s->mem = mem;
  s->h = h;
  s->spec = spec;
  *ret = &s->s;
  return 0;
}
