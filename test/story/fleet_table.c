/* fleet_table.c - requests travel: each is copied when it is sent, arrives later, perhaps twice, perhaps
 * never, and its answer may be lost. What was sent still arrives when its sender is dead. */
#include "story/fleet_table.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum { GET, LIST, WRITE, PREPARE } wire_kind;

typedef struct fw_wire {
  fw_world *w;
  struct fw_wire *next;
  slp_store_req *rq; /* the sender's; NULL: answered or cancelled */
  slp_host *h;
  fw_node *node;
  wire_kind kind;
  slp_store_rows texts;
  slp_store_get get;
  slp_store_list list;
  slp_store_write write;
  slp_row_key *keys;
  int busy, arrivals; /* arrivals: still to come */
  uint8_t silent, blind, again;
} fw_wire;

typedef struct node_store {
  slp_store s;
  fw_node *n;
} node_store;

static int chance(fw_world *w, uint32_t ppm) { return ppm && slp_sim_chance(w->sim, ppm); }

static uint64_t way(fw_world *w) {
  return slp_sim_random_between(w->sim, w->faults.rt_us_min, w->faults.rt_us_max);
}

static void fail(slp_store_req *rq, slp_class class, const char *why) {
  slp_fail_set(&rq->fail, class, SLP_ETIMEDOUT, "%s", why);
}

/* ---- answers ----------------------------------------------------------------------------------- */

static void answer(fw_wire *x) {
  slp_store_req *rq = x->rq;
  if (!rq) return;
  x->rq = NULL;
  rq->done_us = slp_now_refresh_us(x->h);
  rq->impl = NULL;
  slp_store_answer(x->h, rq);
}

static void give(void *arg) {
  fw_wire *x = arg;
  slp_store_req *rq = x->rq;
  x->busy = 0;
  if (!rq || x->silent) return;
  if (x->node && (x->node->cut || x->w->outage_until_us > fw_now(x->w))) return; /* nothing comes through */
  slp_fail_clear(&rq->fail);
  if (x->kind == GET) {
    slp_store_rows *out = &SLP_OWNER(rq, slp_store_get, rq)->out;
    slp_store_rows_free(out);
    slp_store_rows_move(out, &x->get.out);
  } else if (x->kind == LIST) {
    slp_store_rows *out = &SLP_OWNER(rq, slp_store_list, rq)->out;
    slp_store_rows_free(out);
    slp_store_rows_move(out, &x->list.out);
  } else if (x->kind == WRITE) {
    slp_store_write *to = SLP_OWNER(rq, slp_store_write, rq);
    slp_store_rows_free(&to->image);
    to->written = x->write.written;
    to->image_known = x->write.image_known;
    rq->fail = x->write.rq.fail;
    if (x->blind && to->written == SLP_WRITTEN_REFUSED)
      to->image_known = 0;
    else
      slp_store_rows_move(&to->image, &x->write.image);
  }
  answer(x);
}

static void timed_out(void *arg) {
  fw_wire *x = arg;
  if (!x->rq) return;
  fail(x->rq, SLP_TRANSIENT, "no answer in time");
  if (x->kind == WRITE) {
    slp_store_write *to = SLP_OWNER(x->rq, slp_store_write, rq);
    slp_store_rows_free(&to->image);
    to->written = SLP_WRITTEN_NOT_SURE;
    to->image_known = 0;
  }
  answer(x);
}

static void throttled(void *arg) {
  fw_wire *x = arg;
  if (!x->rq) return;
  fail(x->rq, SLP_THROTTLE, "slow down");
  if (x->kind == WRITE) SLP_OWNER(x->rq, slp_store_write, rq)->written = SLP_WRITTEN_NOT_SURE;
  answer(x);
}

static void denied(void *arg) {
  fw_wire *x = arg;
  if (!x->rq) return;
  fail(x->rq, SLP_ACCESS, "no permission");
  if (x->kind == WRITE) SLP_OWNER(x->rq, slp_store_write, rq)->written = SLP_WRITTEN_NOT_SURE;
  answer(x);
}

/* ---- at the table ------------------------------------------------------------------------------ */

static void trace_write(fw_world *w, const slp_store_write *x) {
  char line[400] = ""; /* a deletion has no changes */
  size_t n = 0;
  for (size_t i = 0; i < x->changes_n && n < sizeof line; i++) {
    const slp_change *c = &x->changes[i];
    n += (size_t)snprintf(line + n, sizeof line - n, " %.*s=%.*s", (int)c->name.n, c->name.p,
                          c->val.kind == SLP_VAL_S || c->val.kind == SLP_VAL_N ? (int)c->val.s.n : 0,
                          c->val.s.p);
  }
  slp_str name = x->key.range.n ? x->key.range : x->key.hash;
  slp_sim_trace(w->sim, "table %s %.*s%s", x->written == SLP_WRITTEN_YES ? "takes" : "refuses", (int)name.n,
                name.p, line);
}

static void served(slp_store_req *rq) {
  fw_wire *x = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), fw_wire, write);
  fw_world *w = x->w;
  w->writes++;
  trace_write(w, &x->write);
  fw_judge_rows(w);
  slp_sim_at(w->sim, fw_now(w) + way(w), give, x);
}

static void charge_read(fw_wire *x, uint64_t halves) {
  x->w->units_read += halves;
  if (x->w->faults.units_s) x->w->read_left -= (int64_t)halves * 500000;
}

static void got(slp_store_req *rq) {
  fw_wire *x = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), fw_wire, get);
  for (size_t i = 0; i < x->get.keys_n; i++) {
    size_t size = i < x->get.out.n ? units_row_size(&x->get.out.rows[i]) : 0;
    charge_read(x, units_get(size, x->get.consistent));
  }
  slp_sim_at(x->w->sim, fw_now(x->w) + way(x->w), give, x);
}

static void listed(slp_store_req *rq) {
  fw_wire *x = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), fw_wire, list);
  size_t size = 0;
  for (size_t i = 0; i < x->list.out.n; i++) size += units_row_size(&x->list.out.rows[i]);
  charge_read(x, units_list(size, x->list.consistent));
  slp_sim_at(x->w->sim, fw_now(x->w) + way(x->w), give, x);
}

static void arrive(void *arg) {
  fw_wire *x = arg;
  fw_world *w = x->w;
  slp_store *s = w->server_store;
  if (w->over) return;
  if (x->busy) { /* the copy before is still on its way back: only its effect counts */
    slp_sim_at(w->sim, fw_now(w) + 5000, arrive, x);
    return;
  }
  x->arrivals--;
  if (w->outage_until_us > fw_now(w)) return;
  x->busy = 1;
  if (x->kind == GET) {
    s->ops->get(s, &x->get);
  } else if (x->kind == LIST) {
    s->ops->list(s, &x->list);
  } else {
    if (w->on_write) w->on_write(w, &x->write);
    s->ops->write(s, &x->write);
  }
}

/* ---- sending ----------------------------------------------------------------------------------- */

static slp_val copy_val(fw_wire *x, const slp_val *v) {
  slp_val out;
  SLP_CHECK(slp_store_rows_val(&x->texts, v, &out) == 0);
  return out;
}

static void copy_write(fw_wire *x, const slp_store_write *from) {
  slp_store_write *to = &x->write;
  slp_atom *when = slp_store_rows_get(&x->texts, (from->when_n + 1) * sizeof *when);
  slp_change *changes = slp_store_rows_get(&x->texts, (from->changes_n + 1) * sizeof *changes);
  to->key.hash = slp_store_rows_text(&x->texts, from->key.hash);
  to->key.range = slp_store_rows_text(&x->texts, from->key.range);
  to->kind = from->kind;
  for (size_t i = 0; i < from->when_n; i++) {
    when[i] = from->when[i];
    when[i].name = slp_store_rows_text(&x->texts, from->when[i].name);
    when[i].val = copy_val(x, &from->when[i].val);
  }
  for (size_t i = 0; i < from->changes_n; i++) {
    changes[i] = from->changes[i];
    changes[i].name = slp_store_rows_text(&x->texts, from->changes[i].name);
    changes[i].val = copy_val(x, &from->changes[i].val);
  }
  to->when = when;
  to->when_n = from->when_n;
  to->changes = changes;
  to->changes_n = from->changes_n;
}

static fw_wire *wire_new(slp_store *s, slp_store_req *rq, wire_kind kind) {
  fw_node *n = SLP_OWNER(s, node_store, s)->n;
  fw_world *w = n->w;
  fw_wire *x = SLP_NEW(w->mem, fw_wire);
  SLP_CHECK(x && !rq->impl);
  x->w = w;
  x->next = w->wires;
  w->wires = x;
  x->rq = rq;
  x->h = n->h;
  x->node = n;
  x->kind = kind;
  slp_store_rows_init(&x->texts, w->mem);
  slp_store_rows_init(&x->get.out, w->mem);
  slp_store_rows_init(&x->list.out, w->mem);
  slp_store_rows_init(&x->write.image, w->mem);
  x->get.rq.on_done = got;
  x->list.rq.on_done = listed;
  x->write.rq.on_done = served;
  x->get.rq.table = x->list.rq.table = x->write.rq.table = rq->table;
  rq->impl = x;
  rq->sent_us = slp_now_refresh_us(n->h);
  return x;
}

static int names(const fw_wire *x, const char *what) {
  slp_str at = x->w->kcl ? x->write.key.hash : x->write.key.range;
  size_t n = strlen(what);
  return n && at.n >= n && memmem(at.p, at.n, what, n) != NULL;
}

/* A second is saved up, and no more. */
static int is_granted(fw_world *w) {
  uint64_t most = (uint64_t)w->faults.writes_s * 1000000, now = fw_now(w);
  if (!most) return 1;
  w->grant_left = slp_min_u64(most, w->grant_left + (now - w->granted_us) * w->faults.writes_s);
  w->granted_us = now;
  w->refused += w->grant_left < 1000000;
  if (w->grant_left < 1000000) return 0;
  w->grant_left -= 1000000;
  return 1;
}

/* Whoever waits for the lock tries each few milliseconds, so that nobody is first by right. Returns when the
 * write is done, or UINT64_MAX if the request ends before that. */
static uint64_t behind_the_lock(const fw_wire *x, uint64_t at_us, uint64_t ends_us) {
  fw_world *w = x->w;
  if (x->kind != WRITE || w->lock_until_us <= at_us || x->node->slot == w->lock_slot) return at_us;
  uint64_t free_us = w->lock_until_us + slp_sim_random_below(w->sim, 20000);
  return free_us < ends_us ? free_us : UINT64_MAX;
}

/* Three seconds' units are saved up. What a read costs shows when it is served, so it may leave a debt. */
#define UNITS_SAVED 3
static int is_paid(fw_wire *x) {
  fw_world *w = x->w;
  uint32_t units_s = w->faults.units_s;
  if (!units_s) return 1;
  int64_t most = (int64_t)slp_max_u64(units_s, UNITS_SAVED) * 1000000;
  int64_t more = (int64_t)((fw_now(w) - w->units_us) * units_s);
  w->units_us = fw_now(w);
  w->write_left = slp_min_i64(most, w->write_left + more);
  w->read_left = slp_min_i64(most, w->read_left + more);
  int paid = (x->kind == WRITE ? w->write_left : w->read_left) > 0;
  w->refused += (uint64_t)!paid;
  if (paid && x->kind == WRITE) {
    w->write_left -= 1000000;
    w->units_written += 2;
  }
  return paid;
}

static void send(fw_wire *x) {
  fw_world *w = x->w;
  const fw_faults *f = &w->faults;
  uint32_t ms = x->rq->ms_max ? x->rq->ms_max : 10000;
  uint64_t now = fw_now(w), ends = now + (uint64_t)ms * 1000, at = behind_the_lock(x, now + way(w), ends);
  slp_sim_at(w->sim, ends, timed_out, x);
  if (at == UINT64_MAX) return;
  if (x->kind == WRITE && w->no_writes_until_us > at) return;
  if (x->node->cut || w->outage_until_us > at || chance(w, f->lost_ppm)) return;
  int no_write = x->kind == WRITE && x->rq->table && x->rq->table == w->deny_writes_beside;
  if (no_write || (x->kind == GET && w->deny_gets) || (x->kind == LIST && w->deny_lists)) {
    slp_sim_at(w->sim, at, denied, x);
    return;
  }
  int row_throttles = x->kind == WRITE && names(x, w->throttled_row);
  w->throttled_n += (uint64_t)row_throttles;
  if (row_throttles || chance(w, f->throttle_ppm) || (x->kind == WRITE && !is_granted(w)) || !is_paid(x)) {
    slp_sim_at(w->sim, at + way(w), throttled, x);
    return;
  }
  x->silent = (uint8_t)chance(w, f->unanswered_ppm);
  x->blind = (uint8_t)chance(w, f->blind_ppm);
  if (x->kind == WRITE && w->drop_answers && names(x, w->drop_prefix)) {
    w->drop_answers--;
    x->silent = 1;
  }
  x->arrivals = 1;
  slp_sim_at(w->sim, at, arrive, x);
  if (x->kind == WRITE && chance(w, f->doubled_ppm)) {
    x->arrivals++;
    slp_sim_at(w->sim, at + slp_sim_random_below(w->sim, f->late_us + 1), arrive, x);
  }
}

static void op_get(slp_store *s, slp_store_get *g) {
  fw_wire *x = wire_new(s, &g->rq, GET);
  x->keys = slp_store_rows_get(&x->texts, (g->keys_n + 1) * sizeof *x->keys);
  for (size_t i = 0; i < g->keys_n; i++) {
    x->keys[i].hash = slp_store_rows_text(&x->texts, g->keys[i].hash);
    x->keys[i].range = slp_store_rows_text(&x->texts, g->keys[i].range);
  }
  x->get.keys = x->keys;
  x->get.keys_n = g->keys_n;
  x->get.consistent = g->consistent;
  send(x);
}

static void op_list(slp_store *s, slp_store_list *l) {
  fw_wire *x = wire_new(s, &l->rq, LIST);
  x->list.hash = slp_store_rows_text(&x->texts, l->hash);
  x->list.prefix = slp_store_rows_text(&x->texts, l->prefix);
  x->list.consistent = l->consistent;
  send(x);
}

static void op_write(slp_store *s, slp_store_write *write) {
  fw_wire *x = wire_new(s, &write->rq, WRITE);
  copy_write(x, write);
  send(x);
}

static void op_prepare(slp_store *s, slp_store_prepare *p) { (void)s, (void)p; }

static void op_cancel(slp_store *s, slp_store_req *rq) {
  (void)s;
  slp_unpost(&rq->ev);
  if (rq->impl) ((fw_wire *)rq->impl)->rq = NULL;
  rq->impl = NULL;
}

static void op_close(slp_store *s) {
  node_store *n = SLP_OWNER(s, node_store, s);
  for (fw_wire *x = n->n->w->wires; x; x = x->next)
    if (x->node == n->n) {
      x->node = NULL;
      SLP_CHECK(!x->rq);
    }
  slp_free(n->n->w->mem, n);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

slp_store *fw_store_new(fw_node *n) {
  node_store *s = SLP_NEW(n->w->mem, node_store);
  SLP_CHECK(s);
  s->s.ops = &ops;
  s->n = n;
  return &s->s;
}

void fw_wires_cancel(fw_world *w) {
  for (fw_wire *x = w->wires; x; x = x->next) {
    w->server_store->ops->cancel(w->server_store, &x->get.rq);
    w->server_store->ops->cancel(w->server_store, &x->list.rq);
    w->server_store->ops->cancel(w->server_store, &x->write.rq);
  }
}

void fw_wires_free(fw_world *w) {
  while (w->wires) {
    fw_wire *x = w->wires;
    w->wires = x->next;
    slp_store_rows_free(&x->texts);
    slp_store_rows_free(&x->get.out);
    slp_store_rows_free(&x->list.out);
    slp_store_rows_free(&x->write.image);
    slp_free(w->mem, x);
  }
}
