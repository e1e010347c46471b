/* seen.c - what this worker remembers of each shard (seen.h). */
#include "lease/seen.h"

#include "base/map.h"
#include "base/mem.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/shard_listing.h"
#include "lease/snapshot.h"
#include "lease/strategy.h"

void slp_seen_init(slp_fleet *f) { slp_map_init(&f->seen.shards, f->mem); }

static void drop_seen_shard(slp_fleet *f, slp_seen_shard *s) {
  slp_free(f->mem, s->id);
  slp_free(f->mem, s);
}

void slp_seen_free(slp_fleet *f) {
  size_t at = 0;
  for (slp_seen_shard *s; (s = slp_map_each(&f->seen.shards, &at));) drop_seen_shard(f, s);
  slp_map_free(&f->seen.shards);
}

slp_seen_shard *slp_seen_get(const slp_fleet *f, slp_str shard) {
  return slp_map_get(&f->seen.shards, shard);
}

slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard) {
  slp_seen_shard *s = slp_seen_get(f, shard);
  if (s) return s;
  s = slp_zalloc(f->mem, sizeof *s + f->strategy->seen_bytes);
  if (!s) return NULL;
  s->guest = s + 1;
  s->id = slp_strdup(f->mem, shard);
  if (s->id && slp_map_put(&f->seen.shards, (slp_str){s->id, shard.n}, s) == 0) return s;
  drop_seen_shard(f, s);
  return NULL;
}

slp_seen_shard *slp_seen_each(slp_fleet *f, size_t *at) { return slp_map_each(&f->seen.shards, at); }

void slp_seen_rows(slp_fleet *f, uint64_t at_us) { f->seen.rows_us = at_us; }

void slp_seen_row(slp_fleet *f, slp_seen_shard *s) { s->row_us = slp_fleet_now(f); }

int slp_seen_has_row(const slp_fleet *f, slp_str shard, uint64_t since_us) {
  const slp_seen_shard *s = slp_seen_get(f, shard);
  return s && s->row_us && s->row_us >= slp_max_u64(f->seen.rows_us, since_us);
}

/* a row that was read or created is assumed to exist for this time */
#define LATELY_US UINT64_C(10000000)

uint64_t slp_seen_lately_us(slp_fleet *f) {
  return slp_fleet_now(f) - slp_min_u64(slp_fleet_now(f), LATELY_US);
}

size_t slp_seen_n(const slp_fleet *f) { return f->seen.shards.live; }

void slp_seen_forget(slp_fleet *f, const slp_snapshot *s,
                     int (*keeps)(slp_fleet *f, const slp_snapshot *s, const slp_seen_shard *seen)) {
  size_t at = 0;
  for (slp_seen_shard *seen; (seen = slp_map_each(&f->seen.shards, &at));) {
    slp_str id = slp_str_of(seen->id);
    if (slp_snapshot_lease_of(s, id) || slp_fleet_listed_has(f, id)) continue;
    if (keeps ? keeps(f, s, seen) : !slp_listed_us(f)) continue;
    slp_map_remove(&f->seen.shards, id);
    drop_seen_shard(f, seen);
  }
}
