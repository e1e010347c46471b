/* index_lead.c - the work that the first worker by name does for all workers: it renews the list of shards
 * that they share, and removes the rows of workers that are long gone. If there is no list, every worker
 * tries to write it. The condition of each write is that the row is still as the worker has read it. So if
 * two workers lead at the same time, the later write is refused and changes nothing. */
#include "base/mem.h"
#include "core/position.h"
#include "guest/guest.h"
#include "guest/guest_rules.h"
#include "guest/index.h"
#include "guest/index_part.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/shard_listing.h"
#include "lease/snapshot.h"

#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)
/* a worker is long gone after 48 hours without a sign of life, as in kinsumer (its clientReapAge) */
#define REAP_MS UINT64_C(172800000)

static uint64_t age_ms(slp_fleet *f, uint64_t since_ns) {
  int64_t ms = slp_wall_ms(f->h) - (int64_t)(since_ns / NS_PER_MS);
  return ms > 0 ? (uint64_t)ms : 0;
}

int slp_index_may_lead(slp_fleet *f) {
  const slp_indexing *x = &slp_guest_of(f)->index;
  slp_str leader = slp_instance_str(&x->leader);
  if (!x->workers.n || x->place) return 0;
  return !leader.n || slp_str_eq(leader, slp_instance_str(&f->me)) ||
         age_ms(f, x->leader_ns) >= f->o.lease_ms;
}

int slp_index_renews(slp_fleet *f) {
  uint64_t every_ms = slp_min_u64(f->o.lease_ms / 5, slp_listed_every_us(f) / 1000);
  return slp_guest_of(f)->index.leads && age_ms(f, slp_guest_of(f)->index.list_ns) >= every_ms;
}

static int is_finished(const slp_snapshot *s, slp_str shard) {
  const slp_lease_row *row = slp_snapshot_lease_of(s, shard);
  return row && row->position.kind == SLP_POSITION_END;
}

static int by_id(const void *key, const void *shard) {
  return slp_str_cmp(*(const slp_str *)key, ((const slp_index_shard *)shard)->id);
}

static int in_order(const void *a, const void *b) {
  return slp_str_cmp(((const slp_index_shard *)a)->id, ((const slp_index_shard *)b)->id);
}

/* Collects each shard that is in the stream or in the list, once. Returns how many there are. */
static size_t collect_index_shards(slp_fleet *f, const slp_snapshot *s, slp_index_shard *to) {
  const slp_index_names *list = &slp_guest_of(f)->index.list;
  size_t at = 0, n = 0;
  for (slp_listed *d; (d = slp_listed_each(f, &at)); n++)
    to[n] = (slp_index_shard){.id = d->desc.id, .listed = 1, .finished = (uint8_t)is_finished(s, d->desc.id)};
  if (n) qsort(to, n, sizeof *to, in_order);
  size_t listed_n = n;
  for (size_t i = 0; i < list->n; i++) {
    slp_index_shard *have = listed_n ? bsearch(&list->all[i], to, listed_n, sizeof *to, by_id) : NULL;
    if (have)
      have->cached = 1;
    else
      to[n++] = (slp_index_shard){.id = list->all[i], .cached = 1};
  }
  return n;
}

static void add_shard_list_write(slp_fleet *f, const slp_index_shard *shards, size_t n) {
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++) bytes += shards[i].id.n;
  slp_operation *o = slp_bulk_write_add(f, SLP_OPERATION_ASSIGN, bytes, n);
  if (!o) return; /* no memory: the next round adds this write again */
  o->version = slp_guest_of(f)->index.list_ns;
  for (; o->shards_n < n; o->shards_n++)
    slp_bulk_write_list(f)[o->shards_n] = slp_bulk_write_text(f, shards[o->shards_n].id);
}

void slp_index_write_list(slp_fleet *f, const slp_snapshot *s) {
  size_t stay, room = slp_listed_n(f) + slp_guest_of(f)->index.list.n + 1;
  if (slp_guest_of(f)->index.list.n && !slp_guest_of(f)->index.leads) return;
  slp_index_shard *all = slp_zalloc_n(f->mem, room, sizeof *all);
  if (!all) return;
  int changed = slp_index_list(all, collect_index_shards(f, s, all), &stay);
  if (changed && stay) add_shard_list_write(f, all, stay);
  slp_free(f->mem, all);
}

void slp_index_reap(slp_fleet *f, const slp_worker_row *w) {
  if (age_ms(f, w->counter) < REAP_MS) return;
  slp_operation *o = slp_bulk_write_add(f, SLP_OPERATION_REAP, w->id.n, 0);
  if (!o) return;
  o->id = slp_bulk_write_text(f, w->id);
  o->counter = w->counter;
}
