/* fleet_listing.c - the stream's shards as last listed, completely. */
#include "core/desc.h"
#include "lease/lease.h"

void slp_fleet_list(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f);
  /* An answer that never came is asked for again. */
  if (f->listing && now - f->asked_list_us < UINT64_C(60000000)) return;
  f->listing = 1;
  f->asked_list_us = now;
  f->processor->ops->list(f->processor);
}

int slp_fleet_listed_has(const slp_fleet *f, slp_str shard) { return slp_map_get(&f->listed, shard) != NULL; }

void slp_listed_free(slp_fleet *f) {
  size_t at = 0;
  for (slp_listed *s; (s = slp_map_each(&f->listed, &at));) slp_free(f->mem, s);
  slp_map_free(&f->listed);
  slp_map_init(&f->listed, f->mem);
}

static int keep(slp_fleet *f, const slp_shard_desc *d) {
  if (slp_map_get(&f->listed, d->id)) return 0;
  slp_listed *s = slp_zalloc(f->mem, sizeof *s + slp_desc_bytes(d));
  if (!s) return SLP_ENOMEM;
  char *at = (char *)(s + 1);
  s->desc = slp_desc_copy(&at, d);
  s->open = d->seq_end.n == 0;
  if (slp_map_put(&f->listed, s->desc.id, s) == 0) return 0;
  slp_free(f->mem, s);
  return SLP_ENOMEM;
}

void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n) {
  int r = fail->class != SLP_FINE;
  if (!f->listing) return;
  f->listing = 0;
  if (!r) {
    slp_listed_free(f);
    for (size_t i = 0; i < n && !r; i++) r = keep(f, &shards[i]);
    if (r) slp_listed_free(f);
  }
  if (!r) f->listed_us = slp_fleet_now(f);
  slp_leases_touch_waiting(f);
  f->sharing->listed(f, !r);
}
