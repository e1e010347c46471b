/* registry.c - lists the registered consumers of a stream, and deregisters one of them. */
#include "source/registry.h"

#include "aws/ops.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/repeat.h"
#include "base/states.h"
#include "core/source.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>

/* at most this many consumers are listed; Kinesis allows a stream 20, or 50 on request */
#define KEPT_MAX 10000u

typedef enum { DESCRIBING, LISTING, PAUSING, REMOVING, OVER } registry_state;

struct slp_registry {
  slp_mem *mem; /* the registry holds a reference */
  slp_registry_opts o;
  registry_state state;
  slp_src_describe describe;
  slp_op_consumer op;
  slp_paging paging;
  slp_timer timer; /* runs when the next page of the list may be asked for */
  slp_consumer_row *rows;
  size_t n, cap;
  char token[2048];
  char remove[]; /* name of the consumer to deregister; "": none */
};

static const slp_set allowed[] = {
    [DESCRIBING] = SLP_BIT(LISTING) | SLP_BIT(OVER),
    [LISTING] = SLP_BIT(PAUSING) | SLP_BIT(REMOVING) | SLP_BIT(OVER),
    [PAUSING] = SLP_BIT(LISTING),
    [REMOVING] = SLP_BIT(OVER),
    [OVER] = 0,
};

static void move(slp_registry *c, registry_state to) { SLP_MOVE(allowed, c->state, to); }

static void end_registry_task(slp_registry *c, const slp_fail *fail) {
  slp_fail f = *fail;
  move(c, OVER);
  c->o.on_done(c, &f, c->o.arg);
}

static void fail_registry_task(slp_registry *c, slp_class class, int code, const char *why) {
  slp_fail f = {0};
  slp_fail_set(&f, class, code, "%s", why);
  end_registry_task(c, &f);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const slp_consumer_row *)a)->name, ((const slp_consumer_row *)b)->name);
}

static slp_op_consumer call_of(slp_registry *c, slp_consumer_call what, void (*on_done)(slp_op *)) {
  return (slp_op_consumer){
      .op = {.on_done = on_done, .tries_max = 3}, .what = what, .stream_arn = slp_str_of(c->describe.arn)};
}

/* ---- removing ------------------------------------------------------------------------------------------ */
static void on_removed(slp_op *op) {
  slp_registry *c = SLP_OWNER(op, slp_registry, op.op);
  char why[400];
  const char *known = "";
  /* The consumer was in the list before. So if a repeated call is answered "not found", an earlier try of the
   * call may have deregistered the consumer. */
  if (op->tries > 1 && strcmp(op->fail.aws_code, "ResourceNotFoundException") == 0)
    known = "; a try that got no answer may have deregistered it";
  else if (op->fail.class == SLP_TRANSIENT && !op->fail.http_status)
    known = "; it may be deregistered or not";
  snprintf(why, sizeof why, "consumer %s: %.200s%s", c->remove, op->fail.message, known);
  if (op->fail.class == SLP_FINE)
    end_registry_task(c, &op->fail);
  else
    fail_registry_task(c, op->fail.class, op->fail.code, why);
}

static void remove_it(slp_registry *c) {
  char why[320];
  for (size_t i = 0; i < c->n; i++) {
    if (strcmp(c->rows[i].name, c->remove) != 0) continue;
    c->rows[0] = c->rows[i];
    c->n = 1;
    move(c, REMOVING);
    c->op = call_of(c, SLP_CONSUMER_DEREGISTER, on_removed);
    c->op.name = slp_str_of(c->remove);
    c->o.ops->consumer(c->o.ops, &c->op);
    return;
  }
  snprintf(why, sizeof why, "no consumer %.128s is registered; the stream has %zu", c->remove, c->n);
  c->n = 0;
  fail_registry_task(c, SLP_REFUSED, SLOOP_EREFUSED, why);
}

/* ---- listing ------------------------------------------------------------------------------------------- */
static int make_room(slp_registry *c) {
  while (c->cap - c->n < SLP_CONSUMERS_MAX) {
    slp_consumer_row *rows = slp_doubled(c->mem, c->rows, &c->cap, SLP_CONSUMERS_MAX, sizeof *rows);
    if (!rows) return SLP_ENOMEM;
    c->rows = rows;
  }
  return 0;
}

static void on_listed(slp_op *op);

static void list_next_page(slp_registry *c) {
  move(c, LISTING);
  if (make_room(c)) {
    fail_registry_task(c, SLP_NOMEM, SLP_ENOMEM, "no memory for the list of consumers");
    return;
  }
  c->op = call_of(c, SLP_CONSUMER_LIST, on_listed);
  c->op.next_token = slp_str_of(c->token);
  c->op.rows = c->rows + c->n;
  c->o.ops->consumer(c->o.ops, &c->op);
}

static void on_timer(slp_timer *timer) { list_next_page(SLP_OWNER(timer, slp_registry, timer)); }

static void on_consumers_listed(slp_registry *c) {
  qsort(c->rows, c->n, sizeof *c->rows, by_name);
  slp_fail fine = {0};
  if (c->remove[0])
    remove_it(c);
  else
    end_registry_task(c, &fine);
}

static void on_listed(slp_op *op) {
  slp_registry *c = SLP_OWNER(op, slp_registry, op.op);
  char why[160] = "there are too many";
  uint64_t wait_us = 0;
  if (op->fail.class != SLP_FINE) {
    end_registry_task(c, &op->fail);
    return;
  }
  c->n += c->op.rows_n;
  if (!c->op.ret_next[0]) {
    on_consumers_listed(c);
    return;
  }
  slp_str next = slp_str_of(c->op.ret_next);
  size_t bytes = c->op.rows_n * sizeof *c->rows;
  if (c->n > KEPT_MAX ||
      slp_paging_next(&c->paging, next, bytes, c->op.rows_n, c->n * sizeof *c->rows, &wait_us, why)) {
    fail_registry_task(c, SLP_REFUSED, SLOOP_EPROTO, why);
    return;
  }
  memcpy(c->token, next.p, next.n + 1);
  move(c, PAUSING);
  if (slp_timer_set(c->o.h, &c->timer, slp_after_us(slp_now_us(c->o.h), wait_us))) {
    move(c, LISTING);
    fail_registry_task(c, SLP_NOMEM, SLP_ENOMEM, "no memory to wait for the next page of consumers");
  }
}

static void on_described(slp_op *rq) {
  slp_registry *c = SLP_OWNER(rq, slp_registry, describe.rq);
  if (rq->fail.class != SLP_FINE)
    end_registry_task(c, &rq->fail);
  else if (!c->describe.arn[0])
    fail_registry_task(c, SLP_REFUSED, SLOOP_EPROTO, "the service does not tell the stream's ARN");
  else
    list_next_page(c);
}

/* ---- life ---------------------------------------------------------------------------------------------- */
int slp_registry_new(slp_registry **ret, slp_mem *mem, const slp_registry_opts *o) {
  const char *remove = o->remove ? o->remove : "";
  size_t n = strlen(remove);
  slp_registry *c = slp_zalloc(mem, sizeof *c + n + 1);
  *ret = c;
  if (!c) return SLP_ENOMEM;
  c->mem = slp_mem_hold(mem);
  c->o = *o;
  memcpy(c->remove, remove, n);
  c->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  slp_paging_begin(&c->paging, 2 * KEPT_MAX / SLP_CONSUMERS_MAX, (uint64_t)KEPT_MAX * sizeof *c->rows);
  c->describe.rq.on_done = on_described;
  o->source->ops->describe(o->source, &c->describe);
  return 0;
}

void slp_registry_free(slp_registry *c) {
  if (!c) return;
  slp_mem *mem = c->mem;
  if (c->state == DESCRIBING) c->o.source->ops->cancel(c->o.source, &c->describe.rq);
  if (c->state == LISTING || c->state == REMOVING) c->o.ops->cancel(c->o.ops, &c->op.op);
  slp_timer_clear(c->o.h, &c->timer);
  slp_free(mem, c->rows);
  slp_free(mem, c);
  slp_mem_drop(mem);
}

const slp_consumer_row *slp_registry_rows(const slp_registry *c, size_t *ret_n) {
  *ret_n = c->n;
  return c->rows;
}
