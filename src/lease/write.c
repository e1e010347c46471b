/* write.c - one write of the lease table, from its operation to a certain outcome (write.h). Until there is
 * an answer, the same write is sent again, byte for byte. If the write is refused, the row that refused it
 * shows what that means; if the server does not return the row, it is read. */
#include "lease/write.h"

#include "base/fail.h"
#include "base/list.h"
#include "base/probe.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/gate.h"
#include "lease/grant.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/strategy.h"

#include <stdio.h>

#define NEVER UINT64_MAX
/* a write with a limit of tries is given up when it has been throttled for this long */
#define THROTTLED_US_MAX UINT64_C(60000000)

static void write_done(slp_store_req *rq);
static void read_done(slp_store_req *rq);

void slp_write_init(slp_write *op, slp_writes *of, void *owner) {
  memset(op, 0, sizeof *op);
  op->of = of;
  op->owner = owner;
  op->again_us = NEVER;
  slp_row_request_init(&op->d, of->mem, &op->w);
  slp_store_rows_init(&op->w.image, of->mem);
  slp_store_rows_init(&op->get.out, of->mem);
}

/* Sets the timer to the earliest next try of all writes. */
static void set_write_timer(slp_writes *all) {
  uint64_t at = NEVER;
  SLP_LIST_EACH(&all->under_way, it) at = slp_min_u64(at, SLP_OWNER(it, slp_write, link)->again_us);
  if (at == NEVER)
    slp_timer_clear(all->host, &all->timer);
  else
    slp_timer_set_reserved(all->host, &all->timer, at);
}

/* Returns 1 if the worker's life depends on the write, as on a heartbeat: the write is urgent. */
static int is_beat(const slp_write *op) { return slp_set_has(op->of->urgent, op->i.kind); }

static uint32_t try_ms(const slp_write *op) {
  uint64_t lease_ms = op->of->lease_ms;
  if (is_beat(op)) return (uint32_t)slp_max_u64(lease_ms / 6, 20);
  return (uint32_t)slp_min_u64(slp_max_u64(lease_ms / 3, 20), 5000);
}

/* Returns how long to wait before the next try. An urgent write must not wait so long that its worker loses
 * its leases; other writes may. */
static uint64_t wait_us(slp_write *op, int throttled) {
  uint32_t k = op->tries < 6 ? op->tries : 6;
  uint64_t lease_us = (uint64_t)op->of->lease_ms * 1000, cap = is_beat(op) ? lease_us / 6 : 5000000;
  /* A throttled try costs nothing, and a table that throttles serves requests at random. So an urgent write
   * is tried again soon. */
  if (throttled && is_beat(op)) k = 0;
  if (throttled) return slp_random_below(op->of->host, slp_min_u64(UINT64_C(200000) << k, cap) + 1);
  uint64_t base = 100000 + slp_random_below(op->of->host, 300001);
  return slp_min_u64(is_beat(op) ? base : base << (k ? k - 1 : 0), cap);
}

/* Sets when the write is tried again. */
static void try_write_later(slp_write *op, int throttled) {
  uint64_t now = slp_now_us(op->of->host);
  int by_gate = throttled && op->of->paced && !is_beat(op);
  op->tries++;
  op->refused += (uint32_t)throttled;
  op->again_us = by_gate ? slp_max_u64(op->of->gate.next_us, now) : slp_after_us(now, wait_us(op, throttled));
  set_write_timer(op->of);
}

static int gate_lets_write_pass(slp_write *op) {
  slp_host *h = op->of->host;
  slp_gate *gate = &op->of->gate;
  return slp_gate_passes(gate, slp_now_us(h), slp_gate_is_open(gate) ? 0 : slp_random(h));
}

/* Returns 1 if the gate (gate.h) does not let the write pass, and sets when it is tried again. */
static int gate_is_closed(slp_write *op) {
  slp_gate *gate = &op->of->gate;
  if (is_beat(op) || !op->of->paced || gate_lets_write_pass(op)) return 0;
  op->again_us = gate->next_us;
  set_write_timer(op->of);
  return 1;
}

static void finish_write(slp_write *op, slp_outcome end) {
  slp_list_remove(&op->link);
  op->busy = op->built = op->yields = 0;
  op->again_us = NEVER;
  op->end = end;
  op->on_done(op);
}

/* Builds the write. In some layouts the row has a time that depends on when it is written; that time is
 * computed here. If the write is a proof of life, it counts from this moment. */
static int build_write(slp_write *op) {
  slp_writes *all = op->of;
  const slp_strategy *strategy = all->schema->strategy;
  if (strategy && strategy->epoch_after)
    op->i.epoch_after = strategy->epoch_after(&op->i, slp_wall_ms(all->host), all->lease_ms, all->serial);
  int r = slp_schema_write_row(all->schema, &op->d, &op->i);
  op->built = r == 0;
  return r;
}

/* Returns 1 if the write takes a lease or leadership from a worker that is believed dead, or marks its row as
 * evicted. */
static int is_of_silence(const slp_operation *i) {
  if (i->kind != SLP_OPERATION_TAKE && i->kind != SLP_OPERATION_LEAD) return i->kind == SLP_OPERATION_EVICT;
  return i->owner.n && !slp_str_eq(i->owner, i->me);
}

/* Returns 1 if this process stood still (absence.h) after the write was decided on, and no copy of the write
 * is under way. The worker that loses something by the write may have stood still as well, and may run again
 * now. Then the write must not be sent. */
static int was_overslept(const slp_write *op) {
  const slp_writes *all = op->of;
  if (!is_of_silence(&op->i) || !all->absence || op->doubt || op->reading) return 0;
  return slp_absence_note(all->absence, slp_now_refresh_us(all->host), (uint64_t)all->lease_ms * 1000) >
         op->asked_us;
}

static void attempt_write(slp_write *op) {
  slp_writes *all = op->of;
  op->again_us = NEVER;
  if (gate_is_closed(op)) return;
  if (!op->built && build_write(op)) {
    try_write_later(op, 0);
    return;
  }
  all->sent++;
  uint8_t table = op->w.rq.table; /* set by the schema, so it must be kept */
  memset(&op->w.rq, 0, sizeof op->w.rq);
  op->w.rq.table = table;
  op->w.rq.on_done = write_done;
  op->w.rq.ms_max = try_ms(op);
  op->w.rq.paced = all->paced;
  op->w.urgent = (uint8_t)is_beat(op);
  if (!op->first_sent_us) op->first_sent_us = slp_now_us(all->host);
  all->store->ops->write(all->store, &op->w);
}

static void read_image(slp_write *op) {
  slp_writes *all = op->of;
  all->images_read++;
  op->reading = 1;
  op->again_us = NEVER;
  op->key = op->w.key;
  memset(&op->get.rq, 0, sizeof op->get.rq);
  op->get.rq.on_done = read_done;
  op->get.rq.table = op->w.rq.table;
  op->get.rq.ms_max = try_ms(op);
  op->get.keys = &op->key;
  op->get.keys_n = 1;
  op->get.consistent = 1;
  all->store->ops->get(all->store, &op->get);
}

static int take_row(slp_write *op, const slp_store_rows *rows) {
  memset(&op->row, 0, sizeof op->row);
  if (!rows->n) return 0;
  slp_schema_read_row(op->of->schema, &rows->rows[0], &op->row);
  return 1;
}

static slp_outcome find_outcome_in_row(slp_write *op, const slp_store_rows *rows) {
  int there = take_row(op, rows);
  const slp_strategy *strategy = op->of->schema->strategy;
  return (strategy ? strategy->outcome : slp_outcome_of)(&op->i, there, &op->row);
}

/* Returns 1 if a failure of this class proves that the write has not happened and will not happen. */
static int surely_not(slp_class class) { return class == SLP_THROTTLE || slp_class_lasts(class); }

/* To be called when the write was throttled. Closes the gate (gate.h) if it is open, otherwise makes its gap
 * longer. Urgent writes are repeated without a gap, so their refusals only close an open gate. */
static void gate_refused(slp_write *op) {
  slp_gate *gate = &op->of->gate;
  if (op->reading || (is_beat(op) && !slp_gate_is_open(gate))) return;
  slp_gate_refused(gate, op->w.rq.sent_us, slp_now_us(op->of->host), slp_random(op->of->host));
}

/* To be called when the table has made the write, or refused it because its condition did not hold. Both cost
 * the same capacity, so the table has capacity. */
static void was_granted(slp_write *op) {
  uint64_t now = slp_now_us(op->of->host);
  slp_grant_served(&op->of->grant, now);
  if (!is_beat(op)) slp_gate_served(&op->of->gate);
}

/* Returns 1 if the write has used up its tries. A throttled try costs nothing, so for throttling it is given
 * up only after THROTTLED_US_MAX. */
static int is_tried_enough(const slp_write *op, int throttled) {
  if (!op->tries_max) return 0;
  if (throttled && op->of->paced)
    return slp_now_us(op->of->host) >= slp_after_us(op->first_sent_us, THROTTLED_US_MAX);
  return op->tries - op->refused + 1 >= op->tries_max;
}

static void on_write_try_failed(slp_write *op, const slp_fail *fail) {
  int throttled = fail->class == SLP_THROTTLE;
  op->of->throttles += (uint64_t)throttled;
  if (throttled) slp_grant_refused(&op->of->grant, slp_now_us(op->of->host));
  if (throttled) gate_refused(op);
  if (op->of->on_failure) op->of->on_failure(op, fail);
  int lasts = op->ends_at_lasting && slp_class_lasts(fail->class);
  int yields = op->yields && throttled && !is_beat(op);
  if (lasts || yields || is_tried_enough(op, throttled)) {
    SLP_PROBE("write: given up");
    finish_write(op, SLP_OUTCOME_GIVEN_UP);
  } else {
    try_write_later(op, throttled);
  }
}

static void write_done(slp_store_req *rq) {
  slp_write *op = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), slp_write, w);
  switch (op->w.written) {
    case SLP_WRITTEN_YES:
      op->sent_us = rq->sent_us;
      was_granted(op);
      take_row(op, &op->w.image);
      finish_write(op, SLP_OUTCOME_DONE);
      return;
    case SLP_WRITTEN_REFUSED:
      was_granted(op);
      if (op->w.image_known) {
        op->sent_us = op->first_sent_us;
        finish_write(op, find_outcome_in_row(op, &op->w.image));
      } else {
        SLP_PROBE("write: refused, and the row not shown");
        read_image(op);
      }
      return;
    case SLP_WRITTEN_NOT_SURE:
      if (!surely_not(rq->fail.class)) {
        SLP_PROBE("write: no answer to a write");
        op->of->doubts += !op->doubt;
        op->doubt = 1;
      }
      on_write_try_failed(op, &rq->fail);
      return;
  }
}

static void read_done(slp_store_req *rq) {
  slp_write *op = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_write, get);
  if (rq->fail.class != SLP_FINE) {
    on_write_try_failed(op, &rq->fail);
    return;
  }
  op->reading = 0;
  op->row_read = 1;
  op->sent_us = op->first_sent_us;
  finish_write(op, find_outcome_in_row(op, &op->get.out));
}

const slp_fail *slp_write_fail(const slp_write *op) {
  return op->reading ? &op->get.rq.fail : &op->w.rq.fail;
}

static void set_operation_id(slp_write *op) {
  slp_writes *all = op->of;
  int n = snprintf(op->op, sizeof op->op, "%.*s-%llu", (int)all->name->n, all->name->p,
                   (unsigned long long)++all->serial);
  op->i.op = (slp_str){op->op, (size_t)n};
}

int slp_write_build(slp_write *op) {
  SLP_CHECK(!op->busy);
  set_operation_id(op);
  return build_write(op);
}

void slp_write_send(slp_write *op, void (*on_done)(slp_write *op)) {
  slp_writes *all = op->of;
  SLP_CHECK(!op->busy);
  if (!op->built) set_operation_id(op);
  op->busy = 1;
  op->asked_us = slp_now_refresh_us(all->host);
  op->reading = op->doubt = op->row_read = 0;
  memset(&op->row, 0, sizeof op->row); /* `row` still points into the answer to the write before this one */
  op->tries = op->refused = 0;
  op->first_sent_us = op->sent_us = 0;
  op->on_done = on_done;
  slp_list_add_last(&all->under_way, &op->link);
  attempt_write(op);
}

void slp_write_stop(slp_write *op) {
  if (!op->busy) return;
  slp_store *store = op->of->store;
  store->ops->cancel(store, &op->w.rq);
  store->ops->cancel(store, &op->get.rq);
  slp_list_remove(&op->link);
  op->busy = op->built = op->reading = op->yields = 0;
  op->again_us = NEVER;
}

void slp_write_free(slp_write *op) {
  if (!op->of) return;
  slp_write_stop(op);
  slp_row_request_free(&op->d);
  slp_store_rows_free(&op->w.image);
  slp_store_rows_free(&op->get.out);
}

/* Returns a write whose next try is due; NULL: none. Writes with `later` or `yields` come last. */
static slp_write *next_due_write(slp_writes *all, uint64_t now) {
  slp_write *later = NULL;
  SLP_LIST_EACH(&all->under_way, it) {
    slp_write *op = SLP_OWNER(it, slp_write, link);
    if (op->again_us > now) continue;
    if (!op->later && !op->yields) return op;
    if (!later) later = op;
  }
  return later;
}

static void run_due_writes(slp_timer *t) {
  slp_writes *all = SLP_OWNER(t, slp_writes, timer);
  uint64_t now = slp_now_us(all->host);
  for (slp_write *op; (op = next_due_write(all, now));) {
    op->again_us = NEVER;
    if (was_overslept(op)) {
      SLP_PROBE("write: decided on before an absence, and not sent after it");
      finish_write(op, SLP_OUTCOME_GIVEN_UP);
      continue;
    }
    if (op->reading)
      read_image(op);
    else
      attempt_write(op);
    /* no memory, so the write is not tried again in this turn */
    if (op->busy && op->again_us <= now) op->again_us = now + 1;
  }
  set_write_timer(all);
}

/* ---- all writes of one worker or command ---------------------------------------------------------- */

void slp_writes_init(slp_writes *all) {
  slp_list_init(&all->under_way);
  all->timer = (slp_timer){.at_us = NEVER, .run = run_due_writes};
}

void slp_writes_stop(slp_writes *all) { slp_timer_clear(all->host, &all->timer); }
