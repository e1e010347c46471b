/* bulk_write.c - many writes of one worker, sent a few at a time: creating and removing lease rows,
 * assignments, proposals of successors, and removing the rows of dead workers. */
#include "lease/bulk_write.h"

#include "base/mem.h"
#include "base/probe.h"
#include "codec/page.h"
#include "core/desc.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/write.h"

/* at most this many writes are under way at the same time */
#define AT_ONCE 16
/* The rows of workers and assignments share one partition key with all heartbeats, and the service allows
 * 1000 units a second for that key. If a bulk write has more than MANY operations, at most AT_ONCE_SHARED
 * writes to that key are under way at the same time. */
#define AT_ONCE_SHARED 4
#define MANY 64
/* how many times each write is tried at most */
#define TRIES 6

/* Makes room for one more operation. All operations are added before the first is sent, because an
 * slp_write must not move in memory while it is under way. */
static int make_room(slp_fleet *f) {
  slp_bulk_write *j = &f->bulk;
  if (j->n < j->cap) return 0;
  slp_bulk_item *all = slp_doubled(f->mem, j->all, &j->cap, 16, sizeof *all);
  if (!all) return SLP_ENOMEM;
  j->all = all;
  return 0;
}

slp_operation *slp_bulk_write_add(slp_fleet *f, slp_operation_kind kind, size_t text_bytes, size_t items) {
  slp_bulk_write *j = &f->bulk;
  SLP_CHECK(!j->sent);
  if (make_room(f)) return NULL;
  slp_bulk_item *item = &j->all[j->n];
  memset(item, 0, sizeof *item);
  item->text = slp_alloc(f->mem, text_bytes + 1);
  item->list = slp_zalloc_n(f->mem, items + 1, sizeof *item->list);
  if (!item->text || !item->list) {
    slp_free(f->mem, item->text);
    slp_free(f->mem, item->list);
    return NULL;
  }
  item->text_cap = text_bytes;
  slp_fleet_operation(f, &item->i, kind);
  item->i.shards = item->list;
  j->n++;
  return &item->i;
}

slp_str slp_bulk_write_text(slp_fleet *f, slp_str s) {
  slp_bulk_item *item = &f->bulk.all[f->bulk.n - 1];
  if (!s.n) return (slp_str){NULL, 0};
  SLP_CHECK(s.n <= item->text_cap - item->text_n);
  char *p = item->text + item->text_n;
  memcpy(p, s.p, s.n);
  item->text_n += s.n;
  return (slp_str){p, s.n};
}

slp_operation *slp_bulk_write_create(slp_fleet *f, const slp_shard_desc *d, int anew) {
  slp_operation *i = slp_bulk_write_add(f, SLP_OPERATION_CREATE, slp_desc_bytes(d), 0);
  if (!i) return NULL;
  i->shard = slp_bulk_write_text(f, d->id);
  i->parents[0] = slp_bulk_write_text(f, d->parent);
  i->parents[1] = slp_bulk_write_text(f, d->adjacent_parent);
  i->hash_start = slp_bulk_write_text(f, d->hash_start);
  i->hash_end = slp_bulk_write_text(f, d->hash_end);
  i->seq_start = slp_bulk_write_text(f, d->seq_start);
  if (!anew) return i;
  SLP_PROBE("bulk write: a lease that had vanished is made again");
  i->epoch_first = (uint64_t)(slp_wall_ms(f->h) / 1000);
  slp_fleet_tell(f, SLP_FLEET_TROUBLE, d->id, 0,
                 "its lease was missing in the table and is created again: its checkpoint is lost");
  return i;
}

size_t slp_bulk_write_n(const slp_fleet *f) { return f->bulk.n; }
int slp_bulk_write_busy(const slp_fleet *f) { return f->bulk.busy; }

slp_str *slp_bulk_write_list(slp_fleet *f) { return f->bulk.all[f->bulk.n - 1].list; }

static void send_more(slp_fleet *f);

static void item_done(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  slp_bulk_write *j = &f->bulk;
  j->done++;
  if (op->end == SLP_OUTCOME_REFUSED) j->refused |= 1u << op->i.kind;
  if (op->end == SLP_OUTCOME_GIVEN_UP) j->given_up = 1;
  if (j->watch) j->watch->after(f, op);
  send_more(f);
}

/* Returns how many writes may be under way at the same time. Returns 1 if the table allows only a few units a
 * second: then slp_bulk_watch.before decides about a write only when the write before it is answered. */
static uint32_t at_once(slp_fleet *f) {
  const slp_bulk_write *j = &f->bulk;
  if (slp_fleet_is_scarce(f)) return 1;
  int shared = j->n > MANY && j->all[j->sent].i.kind < SLP_OPERATION_CREATE;
  return slp_writes_window(&f->writes, shared ? AT_ONCE_SHARED : AT_ONCE);
}

static void send_more(slp_fleet *f) {
  slp_bulk_write *j = &f->bulk;
  while (j->sent < j->n && j->sent - j->done < at_once(f)) {
    slp_bulk_item *item = &j->all[j->sent++];
    slp_write_init(&item->op, &f->writes, item);
    if (j->watch && !j->watch->before(f, &item->i)) {
      j->done++;
      continue;
    }
    item->op.i = item->i;
    item->op.tries_max = TRIES;
    item->op.later = item->i.kind == SLP_OPERATION_CREATE;
    slp_write_send(&item->op, item_done);
  }
  if (j->done == j->n) slp_post(f->h, &j->ev);
}

static void all_done(slp_event *ev) {
  slp_bulk_write *j = SLP_OWNER(ev, slp_bulk_write, ev);
  slp_fleet *f = SLP_OWNER(j, slp_fleet, bulk);
  void (*on_done)(slp_fleet * f, uint32_t refused, int given_up) = j->on_done;
  uint32_t refused = j->refused;
  int given_up = j->given_up;
  slp_bulk_write_stop(f);
  on_done(f, refused, given_up);
}

void slp_bulk_write_run(slp_fleet *f, const slp_bulk_watch *watch,
                        void (*on_done)(slp_fleet *f, uint32_t refused, int given_up)) {
  f->bulk.watch = watch;
  f->bulk.on_done = on_done;
  f->bulk.ev.run = all_done;
  f->bulk.busy = 1;
  send_more(f);
}

void slp_bulk_write_stop(slp_fleet *f) {
  slp_bulk_write *j = &f->bulk;
  slp_unpost(&j->ev);
  for (size_t k = 0; k < j->n; k++) {
    if (k < j->sent) slp_write_free(&j->all[k].op);
    slp_free(f->mem, j->all[k].text);
    slp_free(f->mem, j->all[k].list);
  }
  slp_free(f->mem, j->all);
  memset(j, 0, sizeof *j);
}
