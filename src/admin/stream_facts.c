/* stream_facts.c - what a command knows of the stream: the shards of its listing, and its service's time. */
#include "admin/command_inside.h"
#include "codec/page.h"
#include "core/svctime.h"
#include "host/host.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_admin_shard *)a)->id, ((const slp_admin_shard *)b)->id);
}

const slp_admin_shard *slp_admin_listed(const slp_admin *a, slp_str id) {
  slp_admin_shard key = {.id = id};
  return a->shards_n && id.n ? bsearch(&key, a->shards, a->shards_n, sizeof key, by_id) : NULL;
}

int slp_admin_keep_listing(slp_admin *a) {
  size_t n = a->list.shards_n;
  a->shards = slp_admin_room(a, (n ? n : 1) * sizeof *a->shards);
  if (!a->shards) return SLP_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const slp_shard_desc *from = &a->list.shards[i];
    slp_str ids[] = {from->id,         from->parent,   from->adjacent_parent,
                     from->hash_start, from->hash_end, from->seq_start};
    for (size_t k = 0; k < SLP_COUNT(ids); k++) {
      if (ids[k].n && !(ids[k] = slp_admin_keep(a, ids[k])).p) return SLP_ENOMEM;
    }
    a->shards[i] = (slp_admin_shard){.id = ids[0],
                                     .parents = {ids[1], ids[2]},
                                     .hash_start = ids[3],
                                     .hash_end = ids[4],
                                     .seq_start = ids[5],
                                     .open = from->seq_end.n == 0};
  }
  a->shards_n = n;
  if (n) qsort(a->shards, n, sizeof *a->shards, by_id);
  return 0;
}

/* Uses the clock of the stream's service, if anything is known of it. This machine's clock may be ahead. Then
 * records that arrive before the service's clock shows the same time would be left out. */
int64_t slp_admin_service_ms(const slp_admin *a) {
  int64_t ms = slp_svctime_low_ms(&a->service, slp_now_us(a->o.host));
  return ms > 0 ? ms : a->wall_ms;
}
