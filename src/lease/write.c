/* write.c - one write of the lease table, from its operation to a certain outcome. As long as there is no
 * answer the same write is sent again, byte for byte. A refusal is judged by the row that refused, which
 * is read where the server does not show it. */
#include "lease/write.h"

#include "base/probe.h"
#include "lease/fleet_inside.h"

#include <stdio.h>

static void write_done(slp_store_req *rq);
static void read_done(slp_store_req *rq);

void slp_write_init(slp_write *op, slp_fleet *f, void *owner) {
  memset(op, 0, sizeof *op);
  op->f = f;
  op->owner = owner;
  op->again_us = SLP_NEVER;
  slp_row_request_init(&op->d, f->mem, &op->w);
  slp_store_rows_init(&op->w.image, f->mem);
  slp_store_rows_init(&op->get.out, f->mem);
}

static void arm(slp_fleet *f) {
  uint64_t at = SLP_NEVER;
  SLP_LIST_EACH(&f->writes.under_way, it) at = slp_min_u64(at, SLP_OWNER(it, slp_write, link)->again_us);
  slp_fleet_timer(f, &f->writes.timer, at);
}

static int is_beat(const slp_write *op) { return op->f->liveness->urgent >> op->i.kind & 1; }

static uint32_t try_ms(const slp_write *op) {
  uint64_t lease_ms = op->f->o.lease_ms;
  if (is_beat(op)) return (uint32_t)slp_max_u64(lease_ms / 6, 20);
  return (uint32_t)slp_min_u64(slp_max_u64(lease_ms / 3, 20), 5000);
}

/* A heartbeat may not lose its lease to politeness; everything else may wait. */
static uint64_t wait_us(slp_write *op, int throttled) {
  uint32_t k = op->tries < 6 ? op->tries : 6;
  uint64_t lease_us = slp_fleet_lease_us(op->f), cap = is_beat(op) ? lease_us / 6 : 5000000;
  if (throttled) return slp_random_below(op->f->h, slp_min_u64(UINT64_C(200000) << k, cap) + 1);
  uint64_t base = 100000 + slp_random_below(op->f->h, 300001);
  return slp_min_u64(is_beat(op) ? base : base << (k ? k - 1 : 0), cap);
}

static void again(slp_write *op, int throttled) {
  op->tries++;
  op->again_us = slp_after_us(slp_fleet_now(op->f), wait_us(op, throttled));
  arm(op->f);
}

static void finish(slp_write *op, slp_outcome end) {
  slp_list_remove(&op->link);
  op->busy = 0;
  op->again_us = SLP_NEVER;
  op->end = end;
  op->on_done(op);
}

static void attempt(slp_write *op) {
  slp_fleet *f = op->f;
  op->again_us = SLP_NEVER;
  if (!op->built) {
    if (f->schema->write(f->schema, &op->d, &op->i)) {
      again(op, 0);
      return;
    }
    op->built = 1;
  }
  f->stats.writes++;
  memset(&op->w.rq, 0, sizeof op->w.rq);
  op->w.rq.on_done = write_done;
  op->w.rq.ms_max = try_ms(op);
  op->w.urgent = (uint8_t)is_beat(op);
  if (!op->first_sent_us) op->first_sent_us = slp_fleet_now(f);
  f->store->ops->write(f->store, &op->w);
}

static void read_image(slp_write *op) {
  slp_fleet *f = op->f;
  f->stats.reads++;
  op->reading = 1;
  op->again_us = SLP_NEVER;
  op->key = op->w.key;
  memset(&op->get.rq, 0, sizeof op->get.rq);
  op->get.rq.on_done = read_done;
  op->get.rq.ms_max = try_ms(op);
  op->get.keys = &op->key;
  op->get.keys_n = 1;
  op->get.consistent = 1;
  f->store->ops->get(f->store, &op->get);
}

static int take_row(slp_write *op, const slp_store_rows *rows) {
  memset(&op->row, 0, sizeof op->row);
  if (!rows->n) return 0;
  op->f->schema->read(op->f->schema, &rows->rows[0], &op->row);
  return 1;
}

static void complain(slp_write *op, const slp_fail *fail) {
  uint32_t n = op->tries + 1;
  if (!slp_fleet_tells(op->f, n, fail)) return;
  slp_fleet_tell_fail(op->f, fail, op->i.shard, op->i.epoch,
                      "a write of the lease table failed %u time%s: %s", n, n > 1 ? "s" : "", fail->message);
}

/* 1: this failure proves that the write did not and will not happen. */
static int surely_not(slp_class class) {
  return class == SLP_THROTTLE || class == SLP_GONE || class == SLP_AUTH || class == SLP_ACCESS ||
         class == SLP_REFUSED;
}

static void failed(slp_write *op, const slp_fail *fail) {
  slp_fleet *f = op->f;
  int throttled = fail->class == SLP_THROTTLE;
  f->stats.throttles += (uint64_t)throttled;
  if (f->liveness->doubtful >> op->i.kind & 1) slp_fleet_trouble(f);
  complain(op, fail);
  if (op->tries_max && op->tries + 1 >= op->tries_max) {
    SLP_PROBE("write: given up");
    finish(op, SLP_OUTCOME_GIVEN_UP);
  } else {
    again(op, throttled);
  }
}

static void write_done(slp_store_req *rq) {
  slp_write *op = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), slp_write, w);
  switch (op->w.written) {
    case SLP_WRITTEN_YES:
      op->sent_us = rq->sent_us;
      take_row(op, &op->w.image);
      finish(op, SLP_OUTCOME_DONE);
      return;
    case SLP_WRITTEN_REFUSED:
      if (op->w.image_known) {
        int there = take_row(op, &op->w.image);
        op->sent_us = op->first_sent_us;
        finish(op, op->f->liveness->settle(&op->i, there, &op->row));
      } else {
        SLP_PROBE("write: refused, and the row not shown");
        read_image(op);
      }
      return;
    case SLP_WRITTEN_NOT_SURE:
      if (!surely_not(rq->fail.class)) {
        SLP_PROBE("write: no answer to a write");
        op->f->stats.doubts += !op->doubt;
        op->doubt = 1;
      }
      failed(op, &rq->fail);
      return;
  }
}

static void read_done(slp_store_req *rq) {
  slp_write *op = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_write, get);
  if (rq->fail.class != SLP_FINE) {
    failed(op, &rq->fail);
    return;
  }
  op->reading = 0;
  op->row_read = 1;
  op->sent_us = op->first_sent_us;
  int there = take_row(op, &op->get.out);
  finish(op, op->f->liveness->settle(&op->i, there, &op->row));
}

void slp_write_send(slp_write *op, void (*on_done)(slp_write *op)) {
  slp_fleet *f = op->f;
  SLP_CHECK(!op->busy);
  int n = snprintf(op->op, sizeof op->op, "%.*s-%llu", (int)f->incarnation.n, f->incarnation.p,
                   (unsigned long long)++f->writes.serial);
  op->i.op = (slp_str){op->op, (size_t)n};
  op->busy = 1;
  op->built = op->reading = op->doubt = op->row_read = 0;
  memset(&op->row, 0, sizeof op->row); /* it points into the answer before this one */
  op->tries = 0;
  op->first_sent_us = op->sent_us = 0;
  op->on_done = on_done;
  slp_list_add_last(&f->writes.under_way, &op->link);
  attempt(op);
}

void slp_write_stop(slp_write *op) {
  if (!op->busy) return;
  slp_fleet *f = op->f;
  f->store->ops->cancel(f->store, &op->w.rq);
  f->store->ops->cancel(f->store, &op->get.rq);
  slp_list_remove(&op->link);
  op->busy = op->reading = 0;
  op->again_us = SLP_NEVER;
}

void slp_write_free(slp_write *op) {
  if (!op->f) return;
  slp_write_stop(op);
  slp_row_request_free(&op->d);
  slp_store_rows_free(&op->w.image);
  slp_store_rows_free(&op->get.out);
}

static slp_write *due(slp_fleet *f, uint64_t now) {
  SLP_LIST_EACH(&f->writes.under_way, it) {
    slp_write *op = SLP_OWNER(it, slp_write, link);
    if (op->again_us <= now) return op;
  }
  return NULL;
}

static void run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, writes.timer);
  uint64_t now = slp_fleet_now(f);
  for (slp_write *op; (op = due(f, now));) {
    op->again_us = SLP_NEVER;
    if (op->reading)
      read_image(op);
    else
      attempt(op);
    if (op->busy && op->again_us <= now) op->again_us = now + 1; /* no memory: not in this turn */
  }
  arm(f);
}

/* ---- of one worker ----------------------------------------------------------------------------- */

void slp_writes_init(slp_fleet *f) {
  slp_list_init(&f->writes.under_way);
  slp_fleet_timer_init(&f->writes.timer, run);
}

void slp_writes_stop(slp_fleet *f) { slp_timer_clear(f->h, &f->writes.timer); }

void slp_fleet_trouble(slp_fleet *f) { f->writes.trouble_us = slp_now_refresh_us(f->h); }

uint64_t slp_fleet_trouble_us(const slp_fleet *f) { return f->writes.trouble_us; }
