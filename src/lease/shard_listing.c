/* shard_listing.c - the last complete listing of the stream's shards (shard_listing.h). */
#include "lease/shard_listing.h"

#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/desc.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"

#define ANSWER_US UINT64_C(60000000) /* if a listing has not come after this time, it is asked for again */
/* Least time between two shard syncs, for each shard of the stream. A shard sync reads every row and lists
 * every shard. So in a large stream shard syncs are less frequent than the option list_ms asks for. Their
 * cost a second does not grow with the number of shards. */
#define A_SHARD_US 6000u
/* least time between two reports of the same finding, however often shards are listed */
#define TELL_US 50000000

void slp_listed_init(slp_fleet *f) { slp_map_init(&f->listing.shards, f->mem); }

void slp_listed_stop(slp_fleet *f) { f->listing.asked = 0; }

static void drop_listed_shards(slp_fleet *f, slp_map *shards) {
  size_t at = 0;
  for (slp_listed *s; (s = slp_map_each(shards, &at));) slp_free(f->mem, s);
  slp_map_free(shards);
}

void slp_listed_free(slp_fleet *f) { drop_listed_shards(f, &f->listing.shards); }

void slp_fleet_list(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f);
  if (f->listing.asked && now - f->listing.asked_us < ANSWER_US) return;
  f->listing.asked = 1;
  f->listing.asked_us = now;
  f->processor->ops->list(f->processor);
}

static int keep_listed_shard(slp_fleet *f, const slp_shard_desc *d) {
  slp_map *shards = &f->listing.shards;
  if (slp_map_get(shards, d->id)) return 0;
  slp_listed *s = slp_zalloc(f->mem, sizeof *s + slp_desc_bytes(d));
  if (!s) return SLP_ENOMEM;
  char *at = (char *)(s + 1);
  s->desc = slp_desc_copy(&at, d);
  s->open = d->seq_end.n == 0;
  if (slp_map_put(shards, s->desc.id, s) == 0) return 0;
  slp_free(f->mem, s);
  return SLP_ENOMEM;
}

static void note_newest(slp_fleet *f, slp_str id) {
  uint64_t number;
  if (slp_desc_number(id, &number)) f->listing.newest = slp_max_u64(f->listing.newest, number);
}

int slp_listed_take_part(slp_fleet *f, const slp_shard_desc *shards, size_t n) {
  int r = !f->listing.asked || f->listing.at_us;
  for (size_t i = 0; i < n && !r; i++) r = keep_listed_shard(f, &shards[i]);
  return r;
}

int slp_listed_take(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n, int *ret_ok) {
  slp_fleet_listing *l = &f->listing;
  int r = fail->class != SLP_FINE;
  if (!l->asked) return 0;
  l->asked = 0;
  slp_map before = l->shards;
  uint64_t newest_before = l->newest;
  slp_map_init(&l->shards, f->mem);
  l->newest = 0;
  for (size_t i = 0; i < n && !r; i++) {
    note_newest(f, shards[i].id);
    r = keep_listed_shard(f, &shards[i]);
  }
  if (r) {
    drop_listed_shards(f, &l->shards);
    slp_map_init(&l->shards, f->mem);
  }
  if (r && l->at_us) { /* the last complete listing stays */
    l->shards = before;
    l->newest = newest_before;
  } else {
    /* frees what this listing replaces: the last complete listing, or the pages of a listing that failed */
    drop_listed_shards(f, &before);
  }
  if (!r) l->at_us = slp_fleet_now(f);
  *ret_ok = !r;
  return 1;
}

uint64_t slp_listed_us(const slp_fleet *f) { return f->listing.at_us; }

int slp_listed_since(const slp_fleet *f, uint64_t from_us) {
  return !f->listing.asked && f->listing.at_us >= from_us;
}

int slp_fleet_listed_has(const slp_fleet *f, slp_str shard) { return slp_listed_get(f, shard) != NULL; }

int slp_listed_passed(const slp_fleet *f, slp_str shard) {
  uint64_t number;
  return !slp_desc_number(shard, &number) || number < f->listing.newest;
}

size_t slp_listed_n(const slp_fleet *f) { return f->listing.shards.live; }

uint64_t slp_listed_every_us(const slp_fleet *f) {
  return slp_max_u64((uint64_t)f->o.list_ms * 1000, (uint64_t)slp_listed_n(f) * A_SHARD_US);
}

int slp_listed_may_tell(slp_fleet *f, slp_listed_told what, int news) {
  uint64_t now = slp_fleet_now(f), *next = &f->listing.tells_us[what];
  if (!news && now < *next) return 0;
  *next = slp_after_us(now, TELL_US);
  return 1;
}

slp_listed *slp_listed_get(const slp_fleet *f, slp_str shard) {
  return slp_map_get(&f->listing.shards, shard);
}

slp_listed *slp_listed_each(slp_fleet *f, size_t *at) { return slp_map_each(&f->listing.shards, at); }
